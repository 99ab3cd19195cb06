// Compilers that turn a kernel's source into a code object: NVRTC, hipRTC, the host's C++ compiler.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "db/id.hpp"
#include "runtime/device.hpp"

namespace hone {

/// What the compiler says a kernel uses; -1 where it does not tell.
struct Resources {
  int registers = -1;
  int spill_bytes = -1;
  int shared_bytes = -1;
};

struct CompileJob {
  Backend backend = Backend::host;
  std::string architecture;  ///< as DeviceInfo's
  std::string source;        ///< one translation unit, includes already expanded
  std::string entry;         ///< the kernel's extern "C" name
};

struct CompileResult {
  bool ok = false;
  std::vector<std::byte> object;  ///< cubin, AMD code object or shared object
  std::string log;                ///< the compiler's diagnostics; first line says why when not ok
  Resources resources;
};

/// Thread-safe as far as the library below it is; hipRTC 5 aborts the process on an architecture it does not
/// know, so call it from a worker process.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// `nvrtc 13.0`, `hiprtc 5.2.21153`, `g++ 12.2.0`.
  virtual const std::string& version() const noexcept = 0;
  virtual CompileResult compile(const CompileJob& job) = 0;
  /// The options given to the compiler for an architecture, in order: part of the build key.
  virtual std::vector<std::string> options(const std::string& architecture) const = 0;
};

/// Opens the backend's compiler. Throws Error{environment} with one line when there is none.
std::unique_ptr<Compiler> open_compiler(Backend backend);

/// The address of a code object: what went into it.
db::Id build_key(const CompileJob& job, const std::vector<std::string>& options, const std::string& compiler_version);

/// The backend an architecture's name belongs to. Throws Error{invalid} for a name that is none's.
Backend backend_of(const std::string& architecture);

/// A device's limits as its architecture's documentation states them, for compiling without one.
DeviceInfo nominal_device(const std::string& architecture);

/// For the host device: builds `source` as a shared object whose functions are called directly (references of
/// checks). Throws Error{invalid} with the compiler's first line.
std::vector<std::byte> compile_host_library(const std::string& source);

}  // namespace hone
