#include "tuner/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "hone/error.hpp"

extern char** environ;

namespace hone::tuner {

namespace {

std::string last_line(int file) {
  std::string text(4096, '\0');
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t from = size > 4096 ? size - 4096 : 0;
  const ssize_t n = ::pread(file, text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace

Child::Child(const std::filesystem::path& executable) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw Error(ErrorCode::environment,
                fmt::format("cannot start a worker: socketpair: {}", std::strerror(errno)));
  channel_ = Channel(pair[0]);
  Channel theirs(pair[1]);
  errors_ = ::memfd_create("hone-worker-stderr", MFD_CLOEXEC);
  if (errors_ < 0)
    throw Error(ErrorCode::environment,
                fmt::format("cannot start a worker: memfd_create: {}", std::strerror(errno)));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // A descriptor that is already 3 would keep its close-on-exec flag through dup2, so it goes by way of
  // another.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  int socket = theirs.socket();
  if (socket == 3) {
    socket = ::fcntl(socket, F_DUPFD_CLOEXEC, 4);
    theirs = Channel(socket);
  }
  posix_spawn_file_actions_adddup2(&actions, socket, 3);
  const std::string path = executable.string();
  std::string verb = "worker", descriptor = "3";
  char* arguments[] = {const_cast<char*>(path.c_str()), verb.data(), descriptor.data(), nullptr};
  // In a process group of its own, where a terminal's Ctrl-C and hang-up do not reach it: the coordinator decides
  // when a worker ends.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int failed = ::posix_spawn(&pid_, path.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    pid_ = -1;
    ::close(errors_);
    throw Error(ErrorCode::environment,
                fmt::format("cannot start a worker: {}: {}", path, std::strerror(failed)));
  }
}

Child::~Child() {
  channel_ = Channel();  // an idle worker ends by itself when its channel closes
  if (pid_ > 0) end(false, 200);
  if (errors_ >= 0) ::close(errors_);
}

WorkerLost Child::end(bool timed_out, int patience_ms) {
  if (pid_ <= 0) return {db::Outcome::crashed, "the worker had ended"};
  // One that closed its socket is ending by itself and its status says why; give it a moment.
  int status = 0;
  pid_t reaped = 0;
  if (!timed_out) {
    for (int i = 0; i < patience_ms && reaped == 0; ++i) {
      reaped = ::waitpid(pid_, &status, WNOHANG);
      if (reaped == 0) ::usleep(1000);
    }
  }
  const bool killed = reaped == 0;
  if (killed) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  if (timed_out) return {db::Outcome::timed_out, "ended for taking longer than its time limit"};
  std::string why = WIFSIGNALED(status) ? fmt::format("the worker died of signal {} ({})", WTERMSIG(status),
                                                      ::strsignal(WTERMSIG(status)))
                                        : fmt::format("the worker ended with status {}", WEXITSTATUS(status));
  if (const std::string line = last_line(errors_); !line.empty()) why += ": " + line;
  return {db::Outcome::crashed, why, !killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL};
}

}  // namespace hone::tuner
