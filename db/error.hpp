// The exception that db throws: one line that names the file or field and says what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace hone::db {

class Error : public std::runtime_error {
 public:
  enum class Kind {
    unusable,    ///< the file cannot serve: missing, damaged, newer schema, no permission
    busy,        ///< another process held the write lock for longer than the limit
    full,        ///< the disk or the memory is full
    expression,  ///< an expression is not valid, is not an integer, or ran past its step limit
    internal,    ///< a statement of ours failed
  };
  Error(Kind kind, const std::string& line) : std::runtime_error(line), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

}  // namespace hone::db
