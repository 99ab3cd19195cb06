#include "tuner/measure_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tuner/clock.hpp"

namespace hone::tuner {

namespace {

constexpr double look_nanoseconds = 200e3;  ///< of launches in a first look's sample
constexpr std::uint32_t most_look_launches = 20;
constexpr std::uint32_t look_samples = 3;
/// Where buffers lie decides which parts of a cache they meet: near the cache's size the same launch differs
/// by several per cent between two allocations. So there samples are taken on several, in turn.
constexpr std::int64_t placements = 15;    ///< a round of the final each
constexpr std::int64_t placed_caches = 4;  ///< up to so many times the last-level cache
constexpr int recheck_rounds = 8;          ///< of all extents, for a finalist
constexpr double recheck_seconds = 0.02;   ///< of launches on the problem itself, for a finalist
constexpr double cooling_seconds = 0.25;   ///< before a throttled sample is taken again
constexpr double cooling_patience = 30;    ///< seconds of that for a problem; then samples are kept, marked

/// The outcome of an error that the driver reported for a launch or a load.
db::Outcome outcome_of(const DeviceError& error) {
  if (error.sticky()) return db::Outcome::crashed;
  const std::string text = error.what();
  return text.find("OUT_OF_RESOURCES") != std::string::npos ||
                 text.find("OutOfResources") != std::string::npos
             ? db::Outcome::resources_exceeded
             : db::Outcome::launch_failed;
}

const DeviceInfo& find_device(const DeviceList& list, const OpenRequest& request) {
  for (const DeviceInfo& info : list.devices)
    if (static_cast<int>(info.backend) == request.backend && info.index == request.index &&
        info.architecture == request.architecture)
      return info;
  throw Error(ErrorCode::environment, "the device is gone: " + request.architecture);
}

}  // namespace

MeasureSession::MeasureSession(const OpenRequest& request)
    : device_(open_device(find_device(list_devices(), request))),
      family_(parse_family(request.manifest)),
      seed_(request.seed),
      cache_bytes_(request.cache_bytes) {
  for (const auto& [variant, hash] : request.sources) {
    const Variant* now = family_.variant(variant);
    if (now == nullptr || now->source_hash != hash)
      throw Error(ErrorCode::invalid,
                  fmt::format("{}: variant {} changed while it was tuned; run the command again",
                              request.manifest, variant));
  }
  kernels_ = std::make_unique<CheckKernels>(*device_, request.check_object);
  reference_ = std::make_unique<Reference>(request.reference_object);
  workspace_ = std::make_unique<Workspace>(*device_, *kernels_);
}

MeasureSession::~MeasureSession() = default;

ProblemReply MeasureSession::set_problem(const ProblemRequest& request) {
  ProblemReply reply;
  loaded_.clear();
  problem_.reset();
  const std::string types = request.problem.element_type + " " + request.problem.layout;
  if (types != extents_of_) {
    extents_.clear();
    large_.clear();
    large_made_ = false;
    extents_of_ = types;
  }
  regime_ = request.regime;
  patience_ = cooling_patience;
  try {
    std::int64_t copies = 0;
    const std::int64_t bytes = std::max<std::int64_t>(1, working_set(evaluator_, family_, request.problem));
    if (regime_ == db::Regime::cold) {
      // Between two uses of one set at least twice the cache has passed through it.
      copies = (2 * cache_bytes_ + bytes - 1) / bytes;
      reply.rotated_bytes = copies * bytes;
      flush_bytes_ = static_cast<std::size_t>(2 * cache_bytes_);
      if (!flush_) flush_.emplace(*device_, flush_bytes_);
    } else {
      flush_.reset();
    }
    problem_ = std::make_unique<ProblemBuffers>(*device_, *kernels_, evaluator_, family_, request.problem,
                                                *reference_, 0, copies, seed_);
    if (regime_ == db::Regime::steady && device_->info().backend != Backend::host &&
        bytes < placed_caches * cache_bytes_)
      problem_->spread(placements - 1);
  } catch (const DeviceError& error) {
    if (error.sticky()) throw;
    reply.ok = false;
    reply.why = error.what();
  } catch (const std::bad_alloc&) {
    reply.ok = false;
    reply.why = "not enough host memory for the reference of " + request.problem.text();
  }
  return reply;
}

MeasureSession::Loaded MeasureSession::make(const db::Configuration& configuration, const Bytes& object) {
  Loaded loaded;
  loaded.variant = family_.variant(configuration.variant);
  if (loaded.variant == nullptr)
    throw Error(ErrorCode::invalid, "family " + family_.name + " has no variant " + configuration.variant);
  loaded.parameters = configuration.parameters;
  loaded.plan = plan_for(loaded, problem_->problem());
  loaded.kernel = device_->load(object, loaded.variant->entry);
  if (!loaded.plan.empty) loaded.excess = device_->excess(*loaded.kernel, loaded.plan.geometry);
  return loaded;
}

Plan MeasureSession::plan_for(const Loaded& loaded, const db::Problem& problem) {
  auto plan = make_plan(evaluator_, family_, *loaded.variant, loaded.parameters, problem, device_->info());
  if (const auto* illegal = std::get_if<Illegal>(&plan)) throw Error(ErrorCode::invalid, illegal->why);
  return std::get<Plan>(std::move(plan));
}

std::optional<Fault> MeasureSession::launch_shape(const Plan& plan, const db::Problem& problem) const {
  if (plan.empty) return std::nullopt;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t needed = plan.needed_blocks[axis];
    if (needed > 0 && plan.geometry.grid[axis] > needed)
      return Fault{db::Outcome::over_launched,
                   fmt::format("{}: {} blocks launched along {} where {} cover the extent", problem.text(),
                               plan.geometry.grid[axis], "xyz"[axis], needed)};
  }
  return std::nullopt;
}

std::vector<std::unique_ptr<ProblemBuffers>>& MeasureSession::extent_buffers() {
  if (!extents_.empty()) return extents_;
  const db::Problem& like = problem_->problem();
  std::vector<std::int64_t> offsets{0};
  offsets.insert(offsets.end(), family_.check.misalignments.begin(), family_.check.misalignments.end());
  for (const auto& extent : family_.check.extents) {
    const db::Problem problem = make_problem(evaluator_, family_, like.element_type, like.layout, extent);
    for (const std::int64_t offset : offsets)
      extents_.push_back(std::make_unique<ProblemBuffers>(*device_, *kernels_, evaluator_, family_, problem,
                                                          *reference_, offset, 0, seed_));
  }
  return extents_;
}

std::optional<Fault> MeasureSession::check_on(const Loaded& loaded, ProblemBuffers& buffers,
                                              const Plan& plan) {
  if (auto fault = launch_shape(plan, buffers.problem())) return fault;
  kernels_->clear_tallies();
  void* const workspace = workspace_->guarded(plan.workspace);
  buffers.reset();
  const LaunchParameters parameters = buffers.parameters(plan, 0, workspace);
  if (!plan.empty)
    device_->launch({loaded.kernel.get(), plan.geometry, parameters.data()}, device_->stream());
  buffers.compare(0);
  workspace_->compare(plan.workspace, CheckKernels::workspace_slots);
  const std::vector<Tally> tallies = kernels_->read_tallies();
  auto fault = buffers.judge(tallies, 0);
  if (fault) buffers.restore();
  if (auto found = workspace_->judge(tallies, CheckKernels::workspace_slots)) {
    workspace_->restore();
    if (!fault) fault = Fault{found->outcome, fmt::format("{}: {}", buffers.problem().text(), found->reason)};
  }
  return fault;
}

std::optional<Fault> MeasureSession::check_extents(const Loaded& loaded, bool large) {
  // All extents go to the device before any is read back: a check of each on its own would wait dozens of
  // times.
  struct Pending {
    ProblemBuffers* buffers;
    TallySlot first;
  };
  std::vector<Pending> pending;
  std::vector<LaunchParameters> parameters;
  TallySlot used = 0;
  std::optional<Fault> fault;
  const auto settle = [&] {
    const std::vector<Tally> tallies = kernels_->read_tallies();
    for (const Pending& p : pending) {
      auto found = p.buffers->judge(tallies, p.first);
      if (!found) continue;
      p.buffers->restore();
      if (!fault) fault = std::move(found);
    }
    if (auto found = workspace_->judge(tallies, CheckKernels::workspace_slots)) {
      workspace_->restore();
      if (!fault) fault = std::move(found);
    }
    pending.clear();
    parameters.clear();
    used = 0;
    kernels_->clear_tallies();
  };

  kernels_->clear_tallies();
  for (const auto& buffers : extent_buffers()) {
    auto made = make_plan(evaluator_, family_, *loaded.variant, loaded.parameters, buffers->problem(),
                          device_->info());
    const auto* plan = std::get_if<Plan>(&made);
    if (plan == nullptr || plan->alignment > buffers->alignment()) continue;
    if (auto over = launch_shape(*plan, buffers->problem())) return over;
    if (used + buffers->tallies() > CheckKernels::slots) settle();
    void* const workspace = workspace_->guarded(plan->workspace);
    buffers->reset();
    parameters.push_back(buffers->parameters(*plan, 0, workspace));
    if (!plan->empty)
      device_->launch({loaded.kernel.get(), plan->geometry, parameters.back().data()}, device_->stream());
    workspace_->compare(plan->workspace, CheckKernels::workspace_slots);
    pending.push_back({buffers.get(), used});
    used += buffers->compare(used);
  }
  settle();
  if (fault || !large) return fault;

  for (const auto& buffers : large_buffers()) {
    auto made = make_plan(evaluator_, family_, *loaded.variant, loaded.parameters, buffers->problem(),
                          device_->info());
    const auto* plan = std::get_if<Plan>(&made);
    if (plan == nullptr) continue;
    if (auto found = check_on(loaded, *buffers, *plan)) return found;
  }
  return std::nullopt;
}

std::vector<std::unique_ptr<ProblemBuffers>>& MeasureSession::large_buffers() {
  if (large_made_) return large_;
  large_made_ = true;
  const db::Problem& like = problem_->problem();
  for (std::size_t i = 0; i < family_.check.large_extents.size(); ++i) {
    if (!family_.check.large_extent_serves(i, *parse_element_type(like.element_type))) continue;
    const db::Problem problem =
        make_problem(evaluator_, family_, like.element_type, like.layout, family_.check.large_extents[i]);
    try {
      large_.push_back(std::make_unique<ProblemBuffers>(*device_, *kernels_, evaluator_, family_, problem,
                                                        *reference_, 0, 0, seed_));
    } catch (const DeviceError& error) {
      if (error.sticky()) throw;
      not_checked_ = fmt::format("{} was not tried: {}", problem.text(), error.what());
    } catch (const std::bad_alloc&) {
      not_checked_ =
          fmt::format("{} was not tried: the host has not enough memory for its reference", problem.text());
    }
  }
  return large_;
}

LookReply MeasureSession::look(const LookRequest& request) {
  LookReply reply;
  try {
    Loaded loaded = make(request.configuration, request.object);
    reply.alignment = loaded.plan.alignment;
    if (!loaded.excess.empty()) {
      reply.outcome = db::Outcome::resources_exceeded;
      reply.reason = loaded.excess;
      return reply;
    }
    std::optional<Fault> fault = launch_shape(loaded.plan, problem_->problem());
    if (!fault && request.extents) fault = check_extents(loaded, request.large);
    if (!fault) fault = check_on(loaded, *problem_, loaded.plan);
    reply.not_checked = std::exchange(not_checked_, {});
    if (fault) {
      reply.outcome = fault->outcome;
      reply.reason = fault->reason;
      return reply;
    }
    Loaded& kept = loaded_[request.slot] = std::move(loaded);
    if (!request.timed) return reply;
    // A launch to see how long it takes, which also warms up; then the samples, each after one that warms up.
    const double once = run(kept, 1, 0);
    const auto launches = static_cast<std::uint32_t>(
        std::clamp(look_nanoseconds / std::max(once, 1.0), 1.0, static_cast<double>(most_look_launches)));
    reply.launches = launches;
    reply.samples.push_back(run(kept, launches, 0));
    for (std::uint32_t i = 1; i < look_samples; ++i)
      reply.samples.push_back(sample(kept, launches, 1, set_at(i), reply.condition));
  } catch (const DeviceError& error) {
    reply.outcome = outcome_of(error);
    reply.reason = error.what();
  }
  return reply;
}

void MeasureSession::load(const LoadRequest& request) {
  loaded_[request.slot] = make(request.configuration, request.object);
}

double MeasureSession::run(Loaded& loaded, std::uint32_t launches, std::uint32_t set) {
  Recorded& recorded = loaded.batches[{launches, set}];
  if (recorded.batch == nullptr) {
    const auto sets = flush_ ? std::min(static_cast<std::uint32_t>(problem_->sets()), launches) : 1U;
    for (std::uint32_t i = 0; i < sets; ++i)
      recorded.parameters.push_back(
          problem_->parameters(loaded.plan, set + i, workspace_->get(loaded.plan.workspace)));
    std::vector<Launch> all;
    if (!loaded.plan.empty)
      for (std::uint32_t i = 0; i < launches; ++i)
        all.push_back({loaded.kernel.get(), loaded.plan.geometry, recorded.parameters[i % sets].data()});
    recorded.batch = device_->record(all);
  }
  // Launches of one batch rotate among the sets, but each batch starts with the first one.
  if (flush_) device_->set(flush_->get(), 0, flush_bytes_);
  return recorded.batch->run() / launches;
}

std::uint32_t MeasureSession::set_at(std::uint32_t placement) const {
  return flush_ ? 0 : placement % static_cast<std::uint32_t>(problem_->sets());
}

Sample MeasureSession::sample(std::uint32_t slot, std::uint32_t launches, std::uint32_t warm_ups,
                              std::uint32_t placement) {
  Sample result;
  result.slot = slot;
  result.nanoseconds = sample(loaded_.at(slot), launches, warm_ups, set_at(placement), result.condition);
  return result;
}

double MeasureSession::sample(Loaded& loaded, std::uint32_t launches, std::uint32_t warm_ups,
                              std::uint32_t set, db::Condition& condition) {
  std::int64_t discarded = 0;
  while (true) {
    if (warm_ups > 0) run(loaded, warm_ups, set);
    const double nanoseconds = run(loaded, launches, set);
    condition = device_->condition();
    condition.discarded = discarded;
    if (!condition.throttled || patience_ <= 0) return nanoseconds;
    ++discarded;
    patience_ -= cooling_seconds;
    std::this_thread::sleep_for(std::chrono::duration<double>(cooling_seconds));
  }
}

LookReply MeasureSession::recheck(const RecheckRequest& request) {
  LookReply reply;
  try {
    const Loaded& loaded = loaded_.at(request.slot);
    // A race that is wrong in one launch of twenty passes the checks before it was timed once in seven times,
    // and these once in a million.
    std::optional<Fault> fault;
    const auto until = Clock::now() + duration_of(recheck_seconds);
    do {
      fault = check_on(loaded, *problem_, loaded.plan);
    } while (!fault && !request.brief && Clock::now() < until);
    for (int i = 0; i < recheck_rounds && !fault && !request.brief; ++i)
      fault = check_extents(loaded, request.large && i == 0);
    reply.not_checked = std::exchange(not_checked_, {});
    if (fault) {
      reply.outcome = fault->outcome;
      reply.reason = fault->reason;
    }
  } catch (const DeviceError& error) {
    reply.outcome = outcome_of(error);
    reply.reason = error.what();
  }
  return reply;
}

void MeasureSession::drop(const std::vector<std::uint32_t>& slots) {
  for (const std::uint32_t slot : slots) loaded_.erase(slot);
}

}  // namespace hone::tuner
