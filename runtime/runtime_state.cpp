#include "runtime/runtime_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>

#include "db/error.hpp"
#include "db/store.hpp"
#include "runtime/manifest.hpp"
#include "runtime/spelling.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

/// The databases to open, absolute, since the working folder may change before a code object is read.
std::vector<std::string> database_files(const OpenOptions& options) {
  std::vector<std::string> files;
  const auto add = [&](const fs::path& file) {
    files.push_back(fs::absolute(file).lexically_normal().string());
  };
  for (const auto& file : options.databases) add(file);
  if (!files.empty()) return files;
  const char* variable = std::getenv("HONE_DB");
  std::string_view list = variable == nullptr ? "" : variable;
  while (!list.empty()) {
    const auto colon = list.find(':');
    if (colon != 0) add(fs::path(list.substr(0, colon)));
    list = colon == std::string_view::npos ? std::string_view() : list.substr(colon + 1);
  }
  // A list may name files that are not made yet; one of them has to be there.
  std::vector<std::string> existing;
  std::error_code error;
  std::copy_if(files.begin(), files.end(), std::back_inserter(existing),
               [&](const std::string& file) { return fs::exists(file, error); });
  if (!existing.empty()) return existing;
  if (!files.empty()) return {files.front()};
  try {
    add(db::default_file());
  } catch (const db::Error& error_line) {
    throw Error(ErrorCode::environment, error_line.what());
  }
  return files;
}

std::unique_ptr<Device> open_chosen(const std::string& choice) {
  const auto devices = choose_devices(choice);
  if (devices.empty()) throw Error(ErrorCode::environment, fmt::format("no device matches `{}`", choice));
  return open_device(devices.front());
}

fs::path misses_folder(const OpenOptions& options) {
  if (!options.record_misses) return {};
  return options.misses_folder.empty() ? default_misses_folder() : fs::path(options.misses_folder);
}

db::Regime regime_of(const OpenOptions& options) {
  return options.regime == Regime::cold ? db::Regime::cold : db::Regime::steady;
}

}  // namespace

RuntimeState::RuntimeState(const OpenOptions& options)
    : device(open_chosen(options.device)),
      options_(options),
      files_(database_files(options)),
      indexes_(read_indexes()),
      misses_(misses_folder(options)) {
  codes_.emplace(*device, options.maximum_modules);
}

RuntimeState::Indexes RuntimeState::read_indexes() const {
  Indexes indexes;
  for (const auto& file : files_)
    indexes.push_back(WinnerIndex::read(file, device->info(), regime_of(options_), options_.allow_unchecked));
  return indexes;
}

// The hot path: no lock, no heap.

Pick RuntimeState::pick(const Problem& problem, std::size_t alignment) {
  if (!std::has_single_bit(alignment))
    throw Error(ErrorCode::invalid, fmt::format("an alignment of {} bytes is no power of two", alignment));
  const unsigned log = std::min(static_cast<unsigned>(std::countr_zero(alignment)), kLargestAlignmentLog);
  if (const Answer* answer = answers_.find(problem, log)) return pick_of(answer);
  return resolve(problem, log);
}

void RuntimeState::launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream) {
  const Answer* answer = pick.answer_;
  if (answer == nullptr) throw Error(ErrorCode::invalid, "launch: the pick is empty: make it with pick()");
  if (answer->owner != this) throw Error(ErrorCode::invalid, "launch: the pick is another runtime's");
  if (answer->rung == Rung::none) throw Error(ErrorCode::no_answer, answer->why);
  if (arguments.size() != answer->arguments)
    throw Error(ErrorCode::invalid, fmt::format("launch: {} arguments were given, the family has {}",
                                                arguments.size(), answer->arguments));
  if (answer->empty) return;
  for (std::uint32_t left = answer->pointers; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t address = arguments[index].bits();
    if (address == 0)
      throw Error(ErrorCode::invalid, fmt::format("launch: argument {} is a null pointer", index));
    if ((address & (answer->alignment - 1)) != 0)
      throw Error(ErrorCode::invalid,
                  fmt::format("launch: argument {} is not aligned to the {} bytes that {} needs", index,
                              answer->alignment, answer->served->configuration));
  }
  const Served& served = *answer->served;
  const Kernel* kernel = served.code->kernel.load(std::memory_order_acquire);
  if (kernel == nullptr) {
    load(*answer);
    kernel = served.code->kernel.load(std::memory_order_acquire);
  }
  std::array<void*, kMaximumLaunchArguments> parameters;
  const std::size_t count = served.launch_arguments.size();
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchArgument& from = served.launch_arguments[i];
    const void* value = from.from == LaunchArgument::From::argument
                            ? static_cast<const void*>(&arguments[from.index])
                            : static_cast<const void*>(&answer->problem.dimensions[from.index]);
    // The driver's interface takes pointers to what it only reads.
    parameters[i] = const_cast<void*>(value);
  }
  device->launch({kernel, answer->geometry, parameters.data()}, stream);
}

Pick RuntimeState::run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream) {
  const std::uint32_t pointers = known_family(problem.family).pointers;
  std::uint64_t bits = std::uint64_t{1} << kLargestAlignmentLog;
  for (std::size_t i = 0; i < arguments.size() && i < kMaximumArguments; ++i)
    if ((pointers >> i & 1U) != 0) bits |= arguments[i].bits();
  const std::size_t alignment = std::size_t{1} << std::countr_zero(bits);
  Pick found = pick(problem, alignment);
  const Served* served = found.answer_->served;
  if (served != nullptr && served->code->kernel.load(std::memory_order_acquire) == nullptr)
    found = prepare(problem, alignment);
  launch(found, arguments, stream);
  return found;
}

const KnownFamily& RuntimeState::known_family(std::uint32_t number) const {
  const KnownFamily* known =
      number < kMostFamilies ? known_by_number_[number].load(std::memory_order_acquire) : nullptr;
  if (known == nullptr)
    throw Error(ErrorCode::invalid,
                "the problem is of no family of this runtime: make it with FamilyHandle::problem()");
  return *known;
}

// A problem never seen, or not since the databases changed.

Pick RuntimeState::resolve(const Problem& problem, unsigned alignment_log) {
  const std::lock_guard lock(mutex_);
  if (const Answer* answer = answers_.find(problem, alignment_log)) return pick_of(answer);
  return resolve_locked(problem, alignment_log);
}

Pick RuntimeState::resolve_locked(const Problem& problem, unsigned alignment_log) {
  Answer answer = climb(problem, alignment_log, nullptr);
  if (answer.rung != Rung::exact) note_miss(answer);
  return publish(std::move(answer));
}

/// The problem by name, checked against its family.
db::Problem RuntimeState::complete(const KnownFamily& known, const Problem& problem) {
  const Family& family = *known.family;
  if (problem.rank != family.dimensions.size())
    throw Error(ErrorCode::invalid, fmt::format("{}: the problem has {} dimensions, the family {}",
                                                family.name, problem.rank, family.dimensions.size()));
  if (problem.layout >= std::max<std::size_t>(1, family.layouts.size()))
    throw Error(ErrorCode::invalid, fmt::format("{}: there is no layout {}", family.name, problem.layout));
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  for (std::size_t i = 0; i < problem.rank; ++i)
    dimensions.emplace_back(family.dimensions[i].name, problem.dimensions[i]);
  return make_problem(evaluator_, family, name(problem.element_type),
                      family.layouts.empty() ? "" : family.layouts[problem.layout], dimensions);
}

Answer RuntimeState::climb(const Problem& problem, unsigned alignment_log, std::vector<LadderStep>* steps) {
  const KnownFamily& known = known_family(problem.family);
  const Family& family = *known.family;
  const db::Problem complete_problem = complete(known, problem);

  Answer answer;
  answer.problem = problem;
  answer.alignment_log = alignment_log;
  answer.hash = hash_of(problem, alignment_log);
  answer.owner = this;
  answer.arguments = family.arguments.size();
  if (is_empty(evaluator_, family, complete_problem)) {
    answer.rung = Rung::exact;
    answer.empty = true;
    if (steps != nullptr)
      steps->push_back({Rung::exact, true, "", "the problem has nothing to do: nothing is launched"});
    return answer;
  }

  Ladder ladder(
      device->info(), evaluator_, *codes_, indexes_,
      [&](const Variant& variant, const db::Id& hash) { return stale(variant, family.name, hash); });
  const Climbed climbed = ladder.climb(family, complete_problem, std::int64_t{1} << alignment_log, steps);
  answer.rung = climbed.rung;
  if (climbed.rung == Rung::none) {
    answer.why = fmt::format(
        "no checked configuration is legal for {} at {}-byte alignment on {}; run `hone tune {}"
        " --device {} --dtype {} --shape ",
        complete_problem.text(), std::int64_t{1} << alignment_log, device->info().name, family.name,
        device->info().architecture, complete_problem.element_type);
    for (std::size_t i = 0; i < problem.rank; ++i)
      answer.why +=
          fmt::format("{}{}={}", i == 0 ? "" : ",", family.dimensions[i].name, problem.dimensions[i]);
    if (!complete_problem.layout.empty()) answer.why += " --layout " + complete_problem.layout;
    answer.why += "`";
    return answer;
  }
  const auto shapes = argument_shapes(evaluator_, family, complete_problem);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i].elements > 0) answer.pointers |= 1U << i;
  answer.alignment = static_cast<std::uint64_t>(climbed.plan.alignment);
  answer.geometry = climbed.plan.geometry;
  answer.served = serve(climbed);
  const Candidate& candidate = *climbed.candidate;
  const auto& statistics = candidate.statistics;
  answer.statistics = {statistics.n, statistics.minimum, statistics.q1, statistics.median, statistics.q3};
  if (candidate.measurement != db::Id{}) {
    const std::string hex = candidate.measurement.hex();
    std::copy(hex.begin(), hex.end(), answer.measurement.begin());
  }
  return answer;
}

const Served* RuntimeState::serve(const Climbed& climbed) {
  const auto& configuration = climbed.index->configuration(*climbed.candidate);
  auto& served = served_[{climbed.index->file().string(), configuration.text(), climbed.candidate->build_key,
                          climbed.candidate->checked}];
  if (served == nullptr) {
    auto made = std::make_unique<Served>();
    made->variant = configuration.variant;
    made->configuration = configuration.text();
    made->build_key = climbed.candidate->build_key.hex();
    made->database = climbed.index->file().string();
    made->checked = climbed.candidate->checked;
    made->code = climbed.code;
    made->launch_arguments = climbed.plan.arguments;
    served = std::move(made);
  }
  return served.get();
}

Pick RuntimeState::publish(Answer answer) {
  // Picks point to answers, so that those stay; one that says the same as before takes no more room.
  const Answer* former = answers_.find_stale(answer);
  if (former != nullptr && former->same_as(answer)) {
    answers_.put(former);
    return pick_of(former);
  }
  if (owned_.size() >= options_.maximum_answers)
    return pick_of(std::make_shared<const Answer>(std::move(answer)));
  owned_.push_back(std::make_unique<const Answer>(std::move(answer)));
  answers_.put(owned_.back().get());
  return pick_of(owned_.back().get());
}

void RuntimeState::note_miss(const Answer& answer) {
  if (!options_.record_misses) return;
  const Family& family = *known_family(answer.problem.family).family;
  Miss miss;
  miss.problem.family = family.name;
  miss.problem.element_type = name(answer.problem.element_type);
  if (!family.layouts.empty()) miss.problem.layout = family.layouts[answer.problem.layout];
  for (std::size_t i = 0; i < answer.problem.rank; ++i)
    miss.problem.dimensions.emplace_back(family.dimensions[i].name, answer.problem.dimensions[i]);
  miss.alignment = std::int64_t{1} << answer.alignment_log;
  miss.rung = answer.rung;
  miss.regime = regime_of(options_);
  miss.device = device->info().record().id();
  miss.newest_s = std::time(nullptr);
  misses_.note(miss);
}

// Code.

void RuntimeState::load(const Answer& answer) {
  const std::lock_guard lock(mutex_);
  Code& code = *answer.served->code;
  try {
    codes_->load(code);
  } catch (const Error&) {
    // The next pick of this problem takes the next rung.
    if (!code.refused.empty()) resolve_locked(answer.problem, answer.alignment_log);
    throw;
  }
}

Pick RuntimeState::prepare(const Problem& problem, std::size_t alignment) {
  Pick found = pick(problem, alignment);
  while (true) {
    const Served* served = found.answer_->served;
    if (served == nullptr || served->code->kernel.load(std::memory_order_acquire) != nullptr) return found;
    const std::lock_guard lock(mutex_);
    try {
      codes_->load(*served->code);
    } catch (const Error&) {
      if (served->code->refused.empty()) throw;
      found = resolve_locked(problem, found.answer_->alignment_log);
    }
  }
}

// Families.

FamilyHandle RuntimeState::family(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::string fault;
  std::set<std::string> known;
  for (const auto& index : indexes_) {
    for (const auto& [each, stored] : index->families()) known.insert(each);
    const auto found = index->families().find(name);
    if (found == index->families().end()) continue;
    if (found->second.family != nullptr) return {this, &know(found->second.family)};
    fault = fmt::format("{}: {}", index->file().string(), found->second.fault);
  }
  if (const auto given = given_template(name)) return {this, &know(given)};
  // It was tuned for other devices alone: its problems can be made, and their picks say what to do.
  if (fault.empty())
    if (const auto stored = stored_template(name)) return {this, &know(stored)};
  if (!fault.empty()) throw Error(ErrorCode::invalid, fault);
  throw Error(ErrorCode::invalid,
              fmt::format("{} has no family `{}`{}; tune it: `hone tune {}`", fmt::join(files_, ", "), name,
                          known.empty() ? "" : suggestion(name, {known.begin(), known.end()}), name));
}

const KnownFamily& RuntimeState::know(const std::shared_ptr<const Family>& family) {
  const auto same_range = [](const Dimension& a, const Dimension& b) {
    return a.minimum == b.minimum && a.maximum == b.maximum;
  };
  for (const auto& known : known_) {
    const Family& each = *known.family;
    if (each.name == family->name && same_signature(each, *family) &&
        each.element_types == family->element_types &&
        std::equal(each.dimensions.begin(), each.dimensions.end(), family->dimensions.begin(), same_range))
      return known;
  }
  if (known_.size() == kMostFamilies)
    throw Error(ErrorCode::invalid, fmt::format("more than {} families in one runtime", kMostFamilies));
  KnownFamily& known = known_.emplace_back();
  known.number = static_cast<std::uint32_t>(known_.size() - 1);
  known.family = family;
  for (std::size_t i = 0; i < family->arguments.size(); ++i)
    if (family->arguments[i].kind == ArgumentKind::pointer) known.pointers |= 1U << i;
  for (std::size_t i = 0; i < family->dimensions.size(); ++i) {
    const std::string& by_default = family->dimensions[i].by_default;
    if (by_default.empty()) known.required = i + 1;
    std::optional<std::size_t> same;
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (family->dimensions[earlier].name == by_default) same = earlier;
    known.default_is.push_back(same);
  }
  known_by_number_.at(known.number).store(&known, std::memory_order_release);
  return known;
}

std::int64_t RuntimeState::stride(const KnownFamily& known, const Problem& problem, std::size_t index) {
  if (const auto& same = known.default_is[index]) return problem.dimensions.at(*same);
  db::Problem partial{known.family->name, name(problem.element_type), "", {}};
  if (!known.family->layouts.empty()) partial.layout = known.family->layouts[problem.layout];
  for (std::size_t i = 0; i < index; ++i)
    partial.dimensions.emplace_back(known.family->dimensions[i].name, problem.dimensions.at(i));
  const std::lock_guard lock(mutex_);
  try {
    return evaluator_.evaluate(known.family->dimensions[index].by_default, problem_names(partial));
  } catch (const db::Error& error) {
    throw Error(ErrorCode::invalid, fmt::format("{}: default of {}: {}", partial.text(),
                                                known.family->dimensions[index].name, error.what()));
  }
}

Problem RuntimeState::problem_by_name(const KnownFamily& known, const std::string& element_type,
                                      const std::string& layout,
                                      const std::vector<std::pair<std::string, std::int64_t>>& dimensions) {
  const Family& family = *known.family;
  db::Problem complete;
  {
    const std::lock_guard lock(mutex_);
    complete = make_problem(evaluator_, family, element_type, layout, dimensions);
  }
  Problem problem;
  problem.family = known.number;
  problem.element_type = *parse_element_type(element_type);
  const auto at = std::find(family.layouts.begin(), family.layouts.end(), layout);
  problem.layout = at == family.layouts.end() ? 0 : static_cast<std::uint8_t>(at - family.layouts.begin());
  for (const auto& [name, extent] : complete.dimensions) problem.dimensions.at(problem.rank++) = extent;
  return problem;
}

std::vector<std::string> RuntimeState::families() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& index : indexes_)
    for (const auto& [name, stored] : index->families()) names.insert(name);
  for (const auto& known : known_) names.insert(known.family->name);
  return {names.begin(), names.end()};
}

std::shared_ptr<const Family> RuntimeState::given_template(const std::string& name) {
  if (options_.template_folders.empty()) return nullptr;
  const auto found = templates_.find(name);
  if (found != templates_.end()) return found->second;
  std::vector<TemplateFolder> folders;
  for (const auto& path : options_.template_folders) folders.push_back({path, false});
  std::shared_ptr<const Family> family;
  const auto names = list_families(folders);
  if (std::find(names.begin(), names.end(), name) != names.end())
    family = std::make_shared<const Family>(find_family(name, folders));
  templates_[name] = family;
  return family;
}

std::shared_ptr<const Family> RuntimeState::stored_template(const std::string& name) const {
  for (const auto& file : files_) {
    std::vector<db::Template> records;
    try {
      records = db::Store::open(file, db::Access::read_only).templates(name);
    } catch (const db::Error& error) {
      throw Error(ErrorCode::environment, error.what());
    }
    if (!records.empty()) return std::make_shared<const Family>(family_from_records(records));
  }
  return nullptr;
}

std::string RuntimeState::stale(const Variant& variant, const std::string& family,
                                const db::Id& source_hash) {
  const auto given = given_template(family);
  if (given == nullptr) return {};
  const Variant* now = given->variant(variant.name);
  if (now == nullptr) return fmt::format("stale: {} has no variant {}", given->file.string(), variant.name);
  if (now->source_hash != source_hash)
    return fmt::format("stale: {} has changed since", given->file.string());
  return {};
}

// Databases that change.

bool RuntimeState::refresh() {
  const std::lock_guard one_at_a_time(refreshing_);
  flush_misses();
  bool changed = false;
  for (const auto& index : indexes_) changed = changed || FileStamp::of(index->file()) != index->stamp();
  // Read before the lock is taken: other threads pick meanwhile, from what there was.
  Indexes fresh = changed ? read_indexes() : Indexes();
  const std::lock_guard lock(mutex_);
  Templates before = std::move(templates_);
  templates_.clear();
  try {
    for (const auto& [name, family] : before) {
      const auto now = given_template(name);
      const bool same =
          (now == nullptr) == (family == nullptr) &&
          (now == nullptr || std::equal(now->variants.begin(), now->variants.end(), family->variants.begin(),
                                        family->variants.end(), [](const Variant& a, const Variant& b) {
                                          return a.name == b.name && a.source_hash == b.source_hash;
                                        }));
      changed = changed || !same;
    }
  } catch (...) {
    templates_ = std::move(before);
    throw;
  }
  if (!changed) return false;
  if (!fresh.empty()) indexes_ = std::move(fresh);
  codes_->forgive();
  answers_.mark_stale();
  return true;
}

void RuntimeState::flush_misses() {
  const std::lock_guard lock(mutex_);
  misses_.flush();
}

Explanation RuntimeState::explain(const Problem& problem, std::size_t alignment) {
  if (!std::has_single_bit(alignment))
    throw Error(ErrorCode::invalid, fmt::format("an alignment of {} bytes is no power of two", alignment));
  const unsigned log = std::min(static_cast<unsigned>(std::countr_zero(alignment)), kLargestAlignmentLog);
  const std::lock_guard lock(mutex_);
  Explanation explanation;
  explanation.pick = publish(climb(problem, log, &explanation.steps));
  return explanation;
}

}  // namespace hone
