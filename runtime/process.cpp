#include "runtime/process.hpp"

#include <pthread.h>

#include "hone/error.hpp"

namespace hone {

std::atomic<unsigned> Process::forks_{0};

Process::Process() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { forks_.fetch_add(1, std::memory_order_relaxed); });
  if (registered != 0) throw Error(ErrorCode::environment, "memory is short");
  born_ = forks_.load(std::memory_order_relaxed);
}

void Process::refuse() {
  throw Error(ErrorCode::environment,
              "this Runtime was opened before the process forked: open one in the child, which can only read "
              "what was picked before");
}

}  // namespace hone
