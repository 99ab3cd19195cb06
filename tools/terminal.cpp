#include "tools/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hone/error.hpp"
#include "tools/text.hpp"

namespace hone::tools {
namespace {

int descriptor(Stream stream) {
  return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool is_terminal(Stream stream) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor(stream)) == 1 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

bool wants_colour(Stream stream) {
  return is_terminal(stream) && !is_set("NO_COLOR");
}

int width_of(Stream stream) {
  constexpr int narrowest = 40;
  winsize size{};
  if (ioctl(descriptor(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(size.ws_col, narrowest);
  }
  const char* columns = std::getenv("COLUMNS");
  const int wanted = columns == nullptr ? 0 : std::atoi(columns);
  return wanted > 0 ? std::max(wanted, narrowest) : 80;
}

void write_out(std::string_view text) {
  static bool closed = false;
  while (!closed && !text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      closed = true;
    } else if (errno != EINTR) {
      throw Error(
          ErrorCode::environment,
          fmt::format("stdout: cannot write ({}); make room or redirect it elsewhere", std::strerror(errno)));
    }
  }
}

void write_error(std::string_view text) {
  write_fault(folded(text, static_cast<std::size_t>(width_of(Stream::error))));
}

void write_fault(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  // Nothing is left to tell it to when stderr itself fails.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace hone::tools
