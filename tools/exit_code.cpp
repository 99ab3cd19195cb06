#include "tools/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>

#include "db/error.hpp"
#include "hone/error.hpp"
#include "tools/terminal.hpp"

namespace hone::tools {
namespace {

int code_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    switch (ours->code()) {
      case ErrorCode::invalid:
        return exit_usage;
      case ErrorCode::environment:
      case ErrorCode::device:
        return exit_environment;
      case ErrorCode::ok:
      case ErrorCode::no_answer:
      case ErrorCode::failed:
        return exit_failed;
    }
  }
  if (const auto* database = dynamic_cast<const db::Error*>(&error)) {
    const auto kind = database->kind();
    return kind == db::Error::Kind::expression || kind == db::Error::Kind::invalid ? exit_usage
                                                                                   : exit_environment;
  }
  return exit_failed;
}

}  // namespace

int report(const std::exception& error) {
  std::string line = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_fault(fmt::format("hone: {}", line));
  return code_of(error);
}

}  // namespace hone::tools
