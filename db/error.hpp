// The exception that db throws: one line that names the file or field and says what to do.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace hone::db {

class Error : public std::runtime_error {
 public:
  enum class Kind {
    unusable,    ///< the file cannot serve: missing, damaged, newer schema, no permission
    busy,        ///< another process held the write lock for longer than the limit
    full,        ///< the disk or the memory is full
    invalid,     ///< a text that was to be imported is not valid
    expression,  ///< an expression is not valid, is not an integer, or ran past its step limit
    internal,    ///< a statement of ours failed
  };
  Error(Kind kind, const std::string& line, std::string damage = {})
      : std::runtime_error(line), kind_(kind), damage_(std::move(damage)) {}
  Kind kind() const noexcept { return kind_; }
  /// Whether the file is unusable since its pages or rows are not what was written.
  bool is_damage() const noexcept { return !damage_.empty(); }
  /// What is wrong with them, in a few words.
  const std::string& damage() const noexcept { return damage_; }

 private:
  Kind kind_;
  std::string damage_;
};

}  // namespace hone::db
