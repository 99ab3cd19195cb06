// The GPU vendors' run-time compilers, opened with dlopen. Their interfaces are one to one: one compiler over
// a table, and two tables.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compiler.hpp"

namespace hone {

struct RtcApi {
  using Status = int;  ///< 0: done
  using Program = void*;
  Status (*create)(Program* program, const char* source, const char* name, int header_count,
                   const char* const* headers, const char* const* header_names) = nullptr;
  Status (*destroy)(Program* program) = nullptr;
  Status (*compile)(Program program, int option_count, const char* const* options) = nullptr;
  Status (*log_size)(Program program, std::size_t* bytes) = nullptr;
  Status (*log)(Program program, char* text) = nullptr;
  Status (*code_size)(Program program, std::size_t* bytes) = nullptr;
  Status (*code)(Program program, char* bytes) = nullptr;
  const char* (*error)(Status status) = nullptr;
};

class RtcCompiler : public Compiler {
 public:
  const std::string& version() const noexcept override { return version_; }
  CompileResult compile(const CompileJob& job) override;

 protected:
  RtcCompiler(const RtcApi& api, std::string version) : api_(api), version_(std::move(version)) {}

 private:
  /// What the kernel uses; none when the object does not hold it.
  virtual std::optional<Resources> inspect(const CompileJob& job, const CompileResult& result) const = 0;

  RtcApi api_;
  std::string version_;
};

/// Throw Error{environment} with one line when the library is not there or lacks a function.
std::unique_ptr<Compiler> open_nvrtc_compiler(const std::vector<std::string>& names);
std::unique_ptr<Compiler> open_hiprtc_compiler(const std::vector<std::string>& names);
std::vector<std::string> nvrtc_library_names();
std::vector<std::string> hiprtc_library_names();

/// A failed compilation's log with the line that says why first: the first that contains `error`, else
/// `status`.
std::string log_with_reason_first(std::string_view log, const std::string& status);

/// What ptxas -v prints of the kernel `entry`; -1 for what it does not.
Resources parse_ptxas_report(std::string_view log, const std::string& entry);

/// What the kernel descriptor of `entry` in an AMD code object says; none when there is no such kernel.
std::optional<Resources> read_kernel_descriptor(std::span<const std::byte> object, const std::string& entry,
                                                const std::string& architecture);

}  // namespace hone
