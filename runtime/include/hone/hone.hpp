// hone's runtime library: opens tuning databases read-only, picks the best checked configuration for a call
// and launches it. It never compiles, never writes a database, and prints nothing.
//
//   hone::Runtime runtime = hone::Runtime::open();
//   hone::FamilyHandle relu = runtime.family("relu");
//   hone::Problem problem = relu.problem(hone::ElementType::f16, {numel});
//   runtime.run(problem, {x, y}, stream);          // or: pick() once, launch() many times
//
// Shapes are 64-bit element counts in the order of the family's dimensions; memory is in bytes, times are in
// nanoseconds. Arguments are in the order of the manifest's `[[argument]]` list: device pointers (any pointer
// on the host device) and scalars. The library never owns a caller's buffers and cannot see their size: a
// buffer shorter than the manifest's extent is the caller's error. What it can check it does, in constant
// time: the problem against the family, the number of arguments, null pointers, their alignment, the device's
// limits, overflow of sizes.
//
// Threads: every member of Runtime and FamilyHandle may be called from any number of threads at once, except
// the move and the destructor. pick() of a problem that was picked before, and launch() of a kernel that is
// loaded, take no lock, allocate nothing and make no system call beyond the driver's launch. Nothing
// synchronises a stream. prepare() loads code ahead, so that later launches are legal inside a stream
// capture.
//
// Devices: any number of Runtimes, on any devices, may live in one process. On GPUs the library works in the
// device's primary context, as frameworks do, and the caller's current context is restored before each call
// returns. A launch in a stream that is being captured is legal once prepare() has loaded its code, and an
// error, not an implicit load, before.
//
// Processes: a forked child can read what its parent picked; all else throws there: it opens its own Runtime.
// The library may be unloaded (dlclose) once every Runtime is gone. Databases stay open, unlocked, while
// their Runtime lives: one that is replaced meanwhile answers as it was, until refresh().
//
// Errors: functions throw hone::Error with a code and one line, or fill in a Status in the overloads that
// take one; those never throw. `Pick::rung() == Rung::none` is an answer, not an error, until it is launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hone/element_type.hpp"
#include "hone/error.hpp"

namespace hone {

using Stream = void*;  ///< CUstream or hipStream_t; null is the default stream; ignored on the host

/// How the cache was when the database's winners were measured.
enum class Regime : std::uint8_t { steady, cold };

/// Which rung of the ladder answered, best first.
enum class Rung : std::uint8_t {
  exact,       ///< a winner tuned for this problem and alignment; or a problem with nothing to do
  band,        ///< the winner of the working set's band
  portfolio,   ///< chosen among the few configurations that stay near the best everywhere
  nearest,     ///< the winner of the nearest tuned problem
  by_default,  ///< the manifest's default
  none,        ///< nothing checked is legal here; Pick::why() holds the command that would fix it
};
HONE_EXPORT const char* name(Rung rung);

/// A code and one line; for those who do not want exceptions.
struct Status {
  ErrorCode code = ErrorCode::ok;
  std::string text;
  bool ok() const noexcept { return code == ErrorCode::ok; }
};

/// What one call asks. Plain data: copy it, keep it, compare it. Made by FamilyHandle::problem() for one
/// Runtime.
struct Problem {
  static constexpr std::size_t kMaximumDimensions = 12;

  std::uint32_t family = 0;  ///< a number that the Runtime gave it
  ElementType element_type = ElementType::f32;
  std::uint8_t layout = 0;  ///< position in the family's list
  std::uint8_t rank = 0;
  std::uint8_t reserved = 0;
  std::array<std::int64_t, kMaximumDimensions> dimensions{};  ///< strides last; zero above `rank`

  bool operator==(const Problem&) const = default;
};
static_assert(std::is_trivially_copyable_v<Problem> && sizeof(Problem) == 104);

/// One argument's value: a pointer, or a scalar whose C++ type is the one that the manifest states (an
/// integer may be narrower: it is sign-extended; f16 and bf16 are passed as their bits in a std::uint16_t).
/// Kernel parameters point straight at it.
class CallArgument {
 public:
  CallArgument(const void* pointer) : bits_(reinterpret_cast<std::uintptr_t>(pointer)) {}  // NOLINT: converts
  template <typename T>
  requires std::is_arithmetic_v<T> CallArgument(T scalar) {  // NOLINT: converts
    if constexpr (std::is_integral_v<T>)
      bits_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(scalar));
    else
      std::memcpy(&bits_, &scalar, sizeof scalar);
  }
  std::uint64_t bits() const noexcept { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(CallArgument) == 8);

struct Answer;
struct KnownFamily;
struct RuntimeState;

/// The statistics of the measurement behind a pick, nanoseconds a launch; n = 0 where there is none.
struct PickStatistics {
  std::int64_t n = 0;
  double minimum = 0, q1 = 0, median = 0, q3 = 0;
  double spread() const noexcept { return q3 - q1; }
};

/// The answer to one call. Copying costs nothing. It and the texts it returns stay valid while its Runtime
/// lives, refresh() included.
class HONE_EXPORT Pick {
 public:
  Pick() noexcept = default;

  Rung rung() const noexcept;
  explicit operator bool() const noexcept { return rung() != Rung::none; }
  bool checked() const noexcept;               ///< false only with OpenOptions::allow_unchecked
  bool empty() const noexcept;                 ///< the problem has nothing to do: launch() does nothing
  const char* variant() const noexcept;        ///< `simt`; empty where there is no configuration
  const char* configuration() const noexcept;  ///< `simt block=256 vector=16`
  const char* build_key() const noexcept;      ///< of the code object, hexadecimal
  const char* measurement() const noexcept;    ///< the measurement behind it, hexadecimal
  const char* database() const noexcept;       ///< the file that answered
  const char* why() const noexcept;            ///< Rung::none: what to do; else empty
  /// Of that measurement: for `nearest` on the problem that was tuned, for `band` on the one where it is the
  /// furthest from the best.
  PickStatistics statistics() const noexcept;
  std::size_t alignment() const noexcept;  ///< bytes that every pointer must be aligned to
  std::array<std::uint32_t, 3> grid() const noexcept;
  std::array<std::uint32_t, 3> block() const noexcept;
  std::uint32_t dynamic_shared_bytes() const noexcept;
  /// Blocks of a cluster, along each axis of the grid.
  std::array<std::uint32_t, 3> cluster() const noexcept;
  /// Device memory that a launch is lent: pass it to launch() as one argument more. 0: none is needed.
  std::size_t workspace_bytes() const noexcept;
  /// Whether a launch may start while the stream's kernel before it ends; it then waits for it by itself.
  bool overlaps() const noexcept;

 private:
  friend struct RuntimeState;
  const Answer* answer_ = nullptr;
  /// Set only where the runtime remembers no more answers, see OpenOptions::maximum_answers.
  std::shared_ptr<const Answer> own_;
};

struct OpenOptions {
  /// Files, in order: the best rung wins, then the order. Empty: HONE_DB's list, else the user's own
  /// database.
  std::vector<std::string> databases;
  /// Index, backend, architecture or part of a name, as `hone --device` takes it; empty: the best there is.
  std::string device;
  Regime regime = Regime::steady;
  /// Serve the manifest's default though it was not checked on this device, where the database has its code
  /// object from another device of this architecture.
  bool allow_unchecked = false;
  /// Folders of templates: a winner whose source there has changed is stale and does not answer. Empty: the
  /// sources in the database are the truth.
  std::vector<std::string> template_folders;
  /// Problems that were not answered exactly are noted for `hone tune --misses`, in this folder (empty:
  /// `misses` in the user's data folder). They wait in memory, at most 1 MiB of them, for flush_misses().
  bool record_misses = true;
  std::string misses_folder;
  /// Answers remembered (about 250 bytes each). Beyond them a problem never seen is answered each time anew.
  std::size_t maximum_answers = std::size_t{1} << 18;
  /// Code objects that this process's Runtimes may have loaded together: drivers' tables are finite. Beyond
  /// them loading is refused; what is loaded stays, since a captured graph may replay it.
  std::size_t maximum_modules = 2048;
};

/// One family of one Runtime, which must outlive it. Small: copy it.
class HONE_EXPORT FamilyHandle {
 public:
  /// `dimensions` in the manifest's order; strides at the end may be left out and take their defaults.
  Problem problem(ElementType element_type, std::span<const std::int64_t> dimensions,
                  std::size_t layout = 0) const;
  Problem problem(ElementType element_type, std::initializer_list<std::int64_t> dimensions,
                  std::size_t layout = 0) const {
    return problem(element_type, std::span(dimensions.begin(), dimensions.size()), layout);
  }
  Problem problem(const std::string& element_type, std::initializer_list<std::int64_t> dimensions,
                  const std::string& layout = "") const;
  Problem problem(const std::string& element_type, std::span<const std::int64_t> dimensions,
                  const std::string& layout = "") const;
  /// By name, in any order.
  Problem problem(const std::string& element_type,
                  const std::vector<std::pair<std::string, std::int64_t>>& dimensions,
                  const std::string& layout = "") const;
  /// As the first, without an exception: nothing where `status` is not ok.
  std::optional<Problem> problem(ElementType element_type, std::span<const std::int64_t> dimensions,
                                 std::size_t layout, Status& status) const noexcept;
  const std::string& name() const noexcept;

 private:
  friend struct RuntimeState;
  FamilyHandle(RuntimeState* state, const KnownFamily* family) : state_(state), family_(family) {}
  RuntimeState* state_;
  const KnownFamily* family_;
};

/// Memory of the runtime's device. A convenience for tools, examples and tests; applications have their own.
class HONE_EXPORT Memory {
 public:
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();
  void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  /// Both wait for the device first, return when the copy is done, and throw where it would pass the end.
  void write(const void* from, std::size_t bytes, std::size_t offset = 0);
  void read(void* to, std::size_t bytes, std::size_t offset = 0) const;

 private:
  friend class Runtime;
  Memory(RuntimeState* state, void* data, std::size_t bytes) : state_(state), data_(data), bytes_(bytes) {}
  RuntimeState* state_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One device with the winners for it. Any number may live in one process.
class HONE_EXPORT Runtime {
 public:
  /// Throws Error{environment} where there is no such device or a database cannot be read.
  static Runtime open(const OpenOptions& options = {});
  static std::optional<Runtime> open(const OpenOptions& options, Status& status) noexcept;
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;
  ~Runtime();  ///< Picks, handles and Memory must not be used after; kernels in flight must have ended

  /// Throws Error{invalid} where no database (and no template folder given) knows the family.
  FamilyHandle family(const std::string& name);
  std::optional<FamilyHandle> family(const std::string& name, Status& status) noexcept;

  /// `alignment`: bytes that every pointer of the call is aligned to, a power of two. The first pick of a
  /// problem climbs the ladder and reads the code object; it is remembered. Throws Error{invalid} for a
  /// problem or an alignment that is not valid; the overload then returns an empty Pick.
  Pick pick(const Problem& problem, std::size_t alignment);
  Pick pick(const Problem& problem, std::size_t alignment, Status& status) noexcept;

  /// pick() with the code loaded onto the device. A code object that the device refuses is left aside for the
  /// next rung. What was loaded stays loaded while the Runtime lives.
  Pick prepare(const Problem& problem, std::size_t alignment);
  Pick prepare(const Problem& problem, std::size_t alignment, Status& status) noexcept;

  /// Enqueues and returns. Loads the code where prepare() has not. A pick with workspace_bytes() above 0
  /// takes one argument more: a pointer to so many bytes on the device, aligned to 256, of which the first
  /// 16384 are zero before the first launch (kernels leave them zero) and the rest hold anything. Launches
  /// that follow each other may share one, whatever their picks; launches that run at the same time may not.
  /// Other picks ignore it. Throws Error{no_answer} for Rung::none, Error{invalid} for arguments that do not
  /// fit the pick, Error{device} where the driver refuses.
  void launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream = nullptr);
  void launch(const Pick& pick, std::initializer_list<CallArgument> arguments, Stream stream = nullptr) {
    launch(pick, std::span(arguments.begin(), arguments.size()), stream);
  }
  bool launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream,
              Status& status) noexcept;

  /// pick() by the pointers' own alignment, then launch().
  Pick run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream = nullptr);
  Pick run(const Problem& problem, std::initializer_list<CallArgument> arguments, Stream stream = nullptr) {
    return run(problem, std::span(arguments.begin(), arguments.size()), stream);
  }
  Pick run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream,
           Status& status) noexcept;

  /// Reads the databases again where a file has changed since; returns whether one had. Picks made before
  /// stay valid; other threads go on picking meanwhile. Throws as open() does, and then nothing has changed.
  bool refresh();
  bool refresh(Status& status) noexcept;

  /// Writes out the misses noted so far, by one append to this process's file; so do refresh() and the
  /// destructor, where failing is no error. A process that is killed loses what waits. Throws
  /// Error{environment} where the folder cannot be written.
  void flush_misses();
  bool flush_misses(Status& status) noexcept;

  std::string device() const;  ///< `cuda sm_90a NVIDIA H200`
  std::vector<std::string> families() const;

  Memory allocate(std::size_t bytes);
  void synchronize();  ///< waits for all streams of the device; for tools, examples and tests

 private:
  friend struct RuntimeState;
  explicit Runtime(std::unique_ptr<RuntimeState> state);
  std::unique_ptr<RuntimeState> state_;
};

}  // namespace hone
