#include "tools/signals.hpp"

#include <unistd.h>

#include <array>
#include <csignal>

#include "tools/exit_code.hpp"

namespace hone::tools {
namespace {

std::atomic<bool> stop{false};
std::atomic<int> first_signal{SIGINT};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may touch them");

extern "C" void on_signal(int signal) {
  if (stop.exchange(true)) _exit(exit_of_signal + signal);
  first_signal = signal;
}

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : std::array{SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // One that is ignored stays so: nohup, and background jobs of a shell.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  return stop;
}

int exit_interrupted() {
  return exit_of_signal + first_signal;
}

}  // namespace hone::tools
