// The exception of hone's C++ interface, and of everything above db: one line that says what, which file, field
// or device, and what to do.
#pragma once

#include <stdexcept>
#include <string>

#if defined(__GNUC__)
#define HONE_EXPORT __attribute__((visibility("default")))
#else
#define HONE_EXPORT
#endif

namespace hone {

enum class ErrorCode {
  ok = 0,
  invalid = 1,      ///< bad input: a flag, a manifest, a shape, an argument
  environment = 2,  ///< no device, no compiler, the database cannot be used
  no_answer = 3,    ///< no checked configuration is legal for this call
  device = 4,       ///< the device or its driver reported an error
  failed = 5,       ///< ran, but nothing valid was found or a check failed
};

class HONE_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& line) : std::runtime_error(line), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace hone
