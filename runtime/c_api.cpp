#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "hone/hone.h"
#include "hone/hone.hpp"
#include "runtime/runtime_state.hpp"

struct hone_runtime {
  hone::Runtime runtime;
};

namespace {

static_assert(sizeof(hone_problem) == sizeof(hone::Problem));
static_assert(sizeof(hone_argument) == sizeof(hone::CallArgument));
static_assert(HONE_RUNG_NONE == static_cast<int>(hone::Rung::none) &&
              HONE_RUNG_DEFAULT == static_cast<int>(hone::Rung::by_default) &&
              HONE_FAILED == static_cast<int>(hone::ErrorCode::failed));

using OwnAnswer = std::shared_ptr<const hone::Answer>;

int fail(hone::ErrorCode code, const char* text, char** error) noexcept {
  if (error != nullptr) {
    const std::size_t bytes = std::strlen(text) + 1;
    *error = static_cast<char*>(std::malloc(bytes));
    if (*error != nullptr) std::memcpy(*error, text, bytes);
  }
  return static_cast<int>(code);
}

/// Calls `body`; what it throws becomes the code and the text.
template <typename Body>
int guarded(char** error, const Body& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    body();
    return HONE_OK;
  } catch (const hone::Error& caught) {
    return fail(caught.code(), caught.what(), error);
  } catch (const std::bad_alloc&) {
    return fail(hone::ErrorCode::environment, "memory is short", error);
  } catch (const std::exception& caught) {
    return fail(hone::ErrorCode::failed, caught.what(), error);
  }
}

template <typename T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw hone::Error(hone::ErrorCode::invalid, std::string(what) + " is null");
  return *pointer;
}

hone::RuntimeState& state(hone_runtime* runtime) {
  return hone::RuntimeState::of(given(runtime, "the runtime").runtime);
}

hone::Problem problem_of(const hone_problem* problem) {
  hone::Problem result;
  std::memcpy(static_cast<void*>(&result), &given(problem, "the problem"), sizeof result);
  return result;
}

/// A pick for reading; it shares no ownership, which stays with the caller's.
hone::Pick pick_of(const hone_pick* pick) noexcept {
  return hone::RuntimeState::pick_of(pick == nullptr ? nullptr
                                                     : static_cast<const hone::Answer*>(pick->answer));
}

void give(const hone::Pick& pick, hone_pick* out) {
  hone_pick& result = given(out, "the pick");
  result.answer = hone::RuntimeState::answer_of(pick);
  const OwnAnswer& own = hone::RuntimeState::own_of(pick);
  result.own = own == nullptr ? nullptr : new OwnAnswer(own);
}

std::span<const hone::CallArgument> arguments_of(const hone_argument* arguments, std::size_t count) {
  if (count > 0) given(arguments, "the list of arguments");
  // Both are the eight bytes that a kernel's parameter is read from.
  return {reinterpret_cast<const hone::CallArgument*>(arguments), count};
}

/// A caller's options, who may know fewer or more of them.
hone_options known_part(const hone_options& given) {
  hone_options known = HONE_OPTIONS_INIT;
  if (given.size < offsetof(hone_options, maximum_answers))
    throw hone::Error(hone::ErrorCode::invalid, "hone_options has no size: start from HONE_OPTIONS_INIT");
  std::memcpy(&known, &given, std::min(given.size, sizeof known));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t at = sizeof known; at < given.size; ++at)
    if (bytes[at] != 0)
      throw hone::Error(
          hone::ErrorCode::invalid,
          "hone_options asks for what this version of the library does not know; use a newer one");
  return known;
}

hone::OpenOptions options_of(const hone_options& given_options) {
  const hone_options options = known_part(given_options);
  hone::OpenOptions result;
  if (options.database_count > 0) given(options.databases, "the list of databases");
  for (std::size_t i = 0; i < options.database_count; ++i)
    result.databases.emplace_back(&given(options.databases[i], "a database's name"));
  if (options.device != nullptr) result.device = options.device;
  if (options.regime != HONE_STEADY && options.regime != HONE_COLD)
    throw hone::Error(hone::ErrorCode::invalid, "hone_options has no such regime");
  result.regime = options.regime == HONE_COLD ? hone::Regime::cold : hone::Regime::steady;
  result.allow_unchecked = options.allow_unchecked != 0;
  result.record_misses = options.record_misses != 0;
  if (options.misses_folder != nullptr) result.misses_folder = options.misses_folder;
  if (options.maximum_answers != 0) result.maximum_answers = options.maximum_answers;
  if (options.maximum_modules != 0) result.maximum_modules = options.maximum_modules;
  return result;
}

}  // namespace

int hone_abi_version(void) {
  return HONE_ABI_VERSION;
}
const char* hone_version(void) {
  return HONE_VERSION;
}

int hone_open(const hone_options* options, hone_runtime** runtime, char** error) {
  return guarded(error, [&] {
    given(runtime, "the runtime's place") = nullptr;
    *runtime = new hone_runtime{
        hone::Runtime::open(options == nullptr ? hone::OpenOptions() : options_of(*options))};
  });
}

void hone_close(hone_runtime* runtime) {
  delete runtime;
}

int hone_find_family(hone_runtime* runtime, const char* name, hone_family* family, char** error) {
  return guarded(error, [&] {
    const hone::FamilyHandle found = state(runtime).family(&given(name, "the family's name"));
    given(family, "the family") = {&state(runtime), &hone::RuntimeState::known_of(found)};
  });
}

int hone_make_problem(const hone_family* family, const char* element_type, const char* layout,
                      const int64_t* dimensions, size_t dimension_count, hone_problem* problem,
                      char** error) {
  return guarded(error, [&] {
    if (dimension_count > 0) given(dimensions, "the list of dimensions");
    const auto& [runtime, known] = given(family, "the family");
    const auto handle = hone::RuntimeState::handle_of(static_cast<hone::RuntimeState*>(runtime),
                                                      static_cast<const hone::KnownFamily*>(known));
    const hone::Problem made = handle.problem(std::string(&given(element_type, "the element type")),
                                              std::span<const std::int64_t>(dimensions, dimension_count),
                                              layout == nullptr ? "" : layout);
    std::memcpy(&given(problem, "the problem"), &made, sizeof made);
  });
}

int hone_pick_problem(hone_runtime* runtime, const hone_problem* problem, size_t alignment, hone_pick* pick,
                      char** error) {
  return guarded(error, [&] { give(state(runtime).pick(problem_of(problem), alignment), pick); });
}

int hone_prepare(hone_runtime* runtime, const hone_problem* problem, size_t alignment, hone_pick* pick,
                 char** error) {
  return guarded(error, [&] { give(state(runtime).prepare(problem_of(problem), alignment), pick); });
}

void hone_pick_release(hone_pick* pick) {
  if (pick == nullptr) return;
  delete static_cast<OwnAnswer*>(pick->own);
  *pick = {nullptr, nullptr};
}

int hone_launch(hone_runtime* runtime, const hone_pick* pick, const hone_argument* arguments,
                size_t argument_count, void* stream, char** error) {
  return guarded(
      error, [&] { state(runtime).launch(pick_of(pick), arguments_of(arguments, argument_count), stream); });
}

int hone_run(hone_runtime* runtime, const hone_problem* problem, const hone_argument* arguments,
             size_t argument_count, void* stream, char** error) {
  return guarded(error, [&] {
    state(runtime).run(problem_of(problem), arguments_of(arguments, argument_count), stream);
  });
}

int hone_refresh(hone_runtime* runtime, int* changed, char** error) {
  return guarded(error, [&] {
    const bool any = state(runtime).refresh();
    if (changed != nullptr) *changed = any ? 1 : 0;
  });
}

int hone_flush_misses(hone_runtime* runtime, char** error) {
  return guarded(error, [&] { state(runtime).flush_misses(); });
}

int hone_pick_rung(const hone_pick* pick) {
  return static_cast<int>(pick_of(pick).rung());
}
const char* hone_rung_name(int rung) {
  return rung < HONE_RUNG_EXACT || rung > HONE_RUNG_NONE ? "?" : hone::name(static_cast<hone::Rung>(rung));
}
const char* hone_pick_configuration(const hone_pick* pick) {
  return pick_of(pick).configuration();
}
const char* hone_pick_build_key(const hone_pick* pick) {
  return pick_of(pick).build_key();
}
const char* hone_pick_why(const hone_pick* pick) {
  return pick_of(pick).why();
}
size_t hone_pick_workspace_bytes(const hone_pick* pick) {
  return pick_of(pick).workspace_bytes();
}

double hone_pick_median_ns(const hone_pick* pick) {
  return pick_of(pick).statistics().median;
}

void hone_free(void* text) {
  std::free(text);
}
