// The public interface: what it checks itself, and its two ways of failing.
#include <fmt/format.h>

#include <new>

#include "db/error.hpp"
#include "hone/hone.hpp"
#include "runtime/plan.hpp"
#include "runtime/runtime_state.hpp"

namespace hone {
namespace {

/// Calls `body`; what it throws becomes the status, and `otherwise` the result.
template <typename Body, typename Result>
Result guarded(Status& status, Result otherwise, const Body& body) noexcept {
  const auto fail = [&](ErrorCode code, const char* text) {
    status.code = code;
    try {
      status.text = text;
    } catch (...) {
      status.text.clear();
    }
  };
  status.code = ErrorCode::ok;
  status.text.clear();
  try {
    return body();
  } catch (const Error& error) {
    fail(error.code(), error.what());
  } catch (const db::Error& error) {
    fail(ErrorCode::environment, error.what());
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::environment, "memory is short");
  } catch (const std::exception& error) {
    fail(ErrorCode::failed, error.what());
  }
  return otherwise;
}

[[noreturn]] void invalid(const std::string& line) {
  throw Error(ErrorCode::invalid, line);
}

}  // namespace

const char* name(Rung rung) {
  switch (rung) {
    case Rung::exact:
      return "exact";
    case Rung::band:
      return "band";
    case Rung::portfolio:
      return "portfolio";
    case Rung::nearest:
      return "nearest";
    case Rung::by_default:
      return "default";
    case Rung::none:
      return "none";
  }
  return "?";
}

// Pick

namespace {
const Served* served_of(const Answer* answer) {
  return answer == nullptr ? nullptr : answer->served;
}
}  // namespace

Rung Pick::rung() const noexcept {
  return answer_ == nullptr ? Rung::none : answer_->rung;
}
bool Pick::checked() const noexcept {
  return served_of(answer_) == nullptr || answer_->served->checked;
}
bool Pick::empty() const noexcept {
  return answer_ != nullptr && answer_->empty;
}
const char* Pick::variant() const noexcept {
  return served_of(answer_) == nullptr ? "" : answer_->served->variant.c_str();
}
const char* Pick::configuration() const noexcept {
  return served_of(answer_) == nullptr ? "" : answer_->served->configuration.c_str();
}
const char* Pick::build_key() const noexcept {
  return served_of(answer_) == nullptr ? "" : answer_->served->build_key.c_str();
}
const char* Pick::database() const noexcept {
  return served_of(answer_) == nullptr ? "" : answer_->served->database.c_str();
}
const char* Pick::measurement() const noexcept {
  return answer_ == nullptr ? "" : answer_->measurement.data();
}
const char* Pick::why() const noexcept {
  return answer_ == nullptr ? "" : answer_->why.c_str();
}
PickStatistics Pick::statistics() const noexcept {
  return answer_ == nullptr ? PickStatistics() : answer_->statistics;
}
std::size_t Pick::alignment() const noexcept {
  return answer_ == nullptr ? 1 : answer_->alignment;
}
std::array<std::uint32_t, 3> Pick::grid() const noexcept {
  return answer_ == nullptr ? Geometry().grid : answer_->geometry.grid;
}
std::array<std::uint32_t, 3> Pick::block() const noexcept {
  return answer_ == nullptr ? Geometry().block : answer_->geometry.block;
}
std::uint32_t Pick::dynamic_shared_bytes() const noexcept {
  return answer_ == nullptr ? 0 : answer_->geometry.dynamic_shared_bytes;
}
std::array<std::uint32_t, 3> Pick::cluster() const noexcept {
  return answer_ == nullptr ? Geometry().cluster : answer_->geometry.cluster;
}
std::size_t Pick::workspace_bytes() const noexcept {
  return answer_ == nullptr ? 0 : answer_->workspace;
}
bool Pick::overlaps() const noexcept {
  return answer_ != nullptr && answer_->geometry.overlap;
}

// FamilyHandle

const std::string& FamilyHandle::name() const noexcept {
  return family_->family->name;
}

Problem FamilyHandle::problem(ElementType element_type, std::span<const std::int64_t> dimensions,
                              std::size_t layout) const {
  const Family& family = *family_->family;
  bool known = false;
  for (const ElementType each : family.element_types) known = known || each == element_type;
  if (!known) invalid(fmt::format("{} has no element type {}", family.name, hone::name(element_type)));
  if (layout >= std::max<std::size_t>(1, family.layouts.size()))
    invalid(fmt::format("{} has no layout {}", family.name, layout));
  const std::size_t rank = family.dimensions.size();
  if (dimensions.size() < family_->required || dimensions.size() > rank)
    invalid(fmt::format("{} takes {} dimensions, {} were given", family.name,
                        family_->required == rank ? fmt::format("{}", rank)
                                                  : fmt::format("{} to {}", family_->required, rank),
                        dimensions.size()));
  Problem problem;
  problem.family = family_->number;
  problem.element_type = element_type;
  problem.layout = static_cast<std::uint8_t>(layout);
  problem.rank = static_cast<std::uint8_t>(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dimension& dimension = family.dimensions[i];
    const std::int64_t extent = i < dimensions.size() ? dimensions[i] : state_->stride(*family_, problem, i);
    if (extent < dimension.minimum || extent > dimension.maximum)
      invalid(fmt::format("{}: {} = {} must be {} to {}", family.name, dimension.name, extent,
                          dimension.minimum, dimension.maximum));
    problem.dimensions[i] = extent;
  }
  return problem;
}

namespace {

ElementType element_type_of(const std::string& text) {
  const auto type = parse_element_type(text);
  if (!type) invalid(fmt::format("`{}` is not an element type", text));
  return *type;
}

std::size_t layout_of(const Family& family, const std::string& layout) {
  if (const std::string fault = layout_fault(family, layout); !fault.empty()) invalid(fault);
  for (std::size_t i = 0; i < family.layouts.size(); ++i)
    if (family.layouts[i] == layout) return i;
  return 0;
}

}  // namespace

std::optional<Problem> FamilyHandle::problem(ElementType element_type,
                                             std::span<const std::int64_t> dimensions, std::size_t layout,
                                             Status& status) const noexcept {
  return guarded(status, std::optional<Problem>(),
                 [&] { return std::optional(problem(element_type, dimensions, layout)); });
}

Problem FamilyHandle::problem(const std::string& element_type, std::span<const std::int64_t> dimensions,
                              const std::string& layout) const {
  return problem(element_type_of(element_type), dimensions, layout_of(*family_->family, layout));
}

Problem FamilyHandle::problem(const std::string& element_type, std::initializer_list<std::int64_t> dimensions,
                              const std::string& layout) const {
  return problem(element_type, std::span(dimensions.begin(), dimensions.size()), layout);
}

Problem FamilyHandle::problem(const std::string& element_type,
                              const std::vector<std::pair<std::string, std::int64_t>>& dimensions,
                              const std::string& layout) const {
  return state_->problem_by_name(*family_, element_type, layout, dimensions);
}

// Memory

Memory::Memory(Memory&& other) noexcept
    : state_(other.state_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr && !state_->process().forked()) state_->device->release(data_);
}

void Memory::write(const void* from, std::size_t bytes, std::size_t offset) {
  if (offset > bytes_ || bytes > bytes_ - offset)
    invalid(fmt::format("write of {} bytes at {} passes the end of {}", bytes, offset, bytes_));
  if (bytes == 0) return;
  state_->device->synchronize_all();  // a launch in any stream may still use it
  state_->device->write(static_cast<std::byte*>(data_) + offset, from, bytes);
}

void Memory::read(void* to, std::size_t bytes, std::size_t offset) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    invalid(fmt::format("read of {} bytes at {} passes the end of {}", bytes, offset, bytes_));
  if (bytes == 0) return;
  state_->device->synchronize_all();
  state_->device->read(to, static_cast<const std::byte*>(data_) + offset, bytes);
}

// Runtime

Runtime::Runtime(std::unique_ptr<RuntimeState> state) : state_(std::move(state)) {}
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&& other) noexcept {
  Runtime former(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}
Runtime::~Runtime() {
  // A forked child has no threads to end and no driver to give anything back to: its memory ends with it.
  if (state_ != nullptr && state_->process().forked()) static_cast<void>(state_.release());
}

Runtime Runtime::open(const OpenOptions& options) {
  return Runtime(std::make_unique<RuntimeState>(options));
}
std::optional<Runtime> Runtime::open(const OpenOptions& options, Status& status) noexcept {
  return guarded(status, std::optional<Runtime>(), [&] { return std::optional(open(options)); });
}

FamilyHandle Runtime::family(const std::string& name) {
  return state_->family(name);
}
std::optional<FamilyHandle> Runtime::family(const std::string& name, Status& status) noexcept {
  return guarded(status, std::optional<FamilyHandle>(), [&] { return std::optional(state_->family(name)); });
}

Pick Runtime::pick(const Problem& problem, std::size_t alignment) {
  return state_->pick(problem, alignment);
}
Pick Runtime::pick(const Problem& problem, std::size_t alignment, Status& status) noexcept {
  return guarded(status, Pick(), [&] { return state_->pick(problem, alignment); });
}

Pick Runtime::prepare(const Problem& problem, std::size_t alignment) {
  return state_->prepare(problem, alignment);
}
Pick Runtime::prepare(const Problem& problem, std::size_t alignment, Status& status) noexcept {
  return guarded(status, Pick(), [&] { return state_->prepare(problem, alignment); });
}

void Runtime::launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream) {
  state_->launch(pick, arguments, stream);
}
bool Runtime::launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream,
                     Status& status) noexcept {
  return guarded(status, false, [&] {
    state_->launch(pick, arguments, stream);
    return true;
  });
}

Pick Runtime::run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream) {
  return state_->run(problem, arguments, stream);
}
Pick Runtime::run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream,
                  Status& status) noexcept {
  return guarded(status, Pick(), [&] { return state_->run(problem, arguments, stream); });
}

bool Runtime::refresh() {
  return state_->refresh();
}
bool Runtime::refresh(Status& status) noexcept {
  return guarded(status, false, [&] { return state_->refresh(); });
}
void Runtime::flush_misses() {
  state_->flush_misses();
}
bool Runtime::flush_misses(Status& status) noexcept {
  return guarded(status, false, [&] {
    state_->flush_misses();
    return true;
  });
}

std::string Runtime::device() const {
  const DeviceInfo& info = state_->device->info();
  return fmt::format("{} {} {}", hone::name(info.backend), info.architecture, info.name);
}

std::vector<std::string> Runtime::families() const {
  return state_->families();
}

Memory Runtime::allocate(std::size_t bytes) {
  state_->process().require_same();
  return {state_.get(), bytes == 0 ? nullptr : state_->device->allocate(bytes), bytes};
}

void Runtime::synchronize() {
  state_->process().require_same();
  state_->device->synchronize_all();
}

Explanation explain(Runtime& runtime, const Problem& problem, std::size_t alignment) {
  return RuntimeState::of(runtime).explain(problem, alignment);
}

}  // namespace hone
