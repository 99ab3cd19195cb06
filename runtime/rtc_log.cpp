// Reading the run-time compilers' logs.
#include <algorithm>
#include <charconv>

#include "runtime/rtc_compiler.hpp"

namespace hone {
namespace {

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// The number in front of `unit`: 12 for ` registers` in `Used 12 registers, ...`.
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return -1;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = -1;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

}  // namespace

std::string log_with_reason_first(std::string_view log, const std::string& status) {
  std::string_view reason;
  for_each_line(log, [&](std::string_view line) {
    if (reason.empty() && line.find("error") != std::string_view::npos) reason = line;
  });
  std::string result(reason.empty() ? std::string_view(status) : reason);
  for_each_line(log, [&](std::string_view line) {
    if (line.data() != reason.data() && !line.empty()) result.append("\n").append(line);
  });
  return result;
}

Resources parse_ptxas_report(std::string_view log, const std::string& entry) {
  Resources resources;
  bool ours = false;
  for_each_line(log, [&](std::string_view line) {
    if (line.find("Compiling entry function '") != std::string_view::npos) {
      ours = line.find("'" + entry + "'") != std::string_view::npos;
      return;
    }
    if (!ours) return;
    if (const int stores = number_before(line, " bytes spill stores"); stores >= 0)
      resources.spill_bytes = stores;
    if (const int registers = number_before(line, " registers"); registers >= 0) {
      resources.registers = registers;
      // The line names shared memory only where the kernel has some of its own.
      resources.shared_bytes = std::max(number_before(line, " bytes smem"), 0);
    }
  });
  return resources;
}

}  // namespace hone
