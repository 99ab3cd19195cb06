#include "tuner/compile_pool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "hone/error.hpp"
#include "runtime/plan.hpp"
#include "tuner/child.hpp"
#include "tuner/clock.hpp"

namespace hone::tuner {

namespace {

using CompiledPointer = std::shared_ptr<const Compiled>;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

db::Id identity(const CompileJob& job) {
  return db::KeyBuilder()
      .add(static_cast<std::int64_t>(job.backend))
      .add(job.architecture)
      .add(job.source)
      .add(job.entry)
      .id();
}

struct WaitingJob {
  std::uint64_t tag = 0;
  db::Id identity;
  CompileJob job;
};

}  // namespace

CompileJob compile_job(const Family& family, const DeviceInfo& device, const db::Configuration& configuration,
                       const std::string& element_type, const std::string& layout) {
  const Variant& variant = *family.variant(configuration.variant);
  return {device.backend, device.architecture,
          translation_unit(variant, configuration.parameters, element_type, layout, device.backend),
          variant.entry};
}

/// Guarded by the pool's mutex.
struct JobsOfQueue {
  std::deque<WaitingJob> waiting;
  std::size_t unfinished = 0;  ///< submitted, neither done nor forgotten
  std::vector<FinishedJob> done;
  std::exception_ptr error;
};

struct CompilePool::State {
  using Jobs = std::shared_ptr<JobsOfQueue>;

  explicit State(const Limits& its_limits)
      : limits(its_limits),
        size(limits.jobs > 0 ? static_cast<std::size_t>(limits.jobs)
                             : std::max<std::size_t>(1, std::thread::hardware_concurrency())),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake < 0)
      throw Error(ErrorCode::environment, "cannot start compile workers: no file descriptor is left");
    thread = std::thread([this] { serve(); });
  }

  ~State() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    wake_up();
    thread.join();
    ::close(wake);
  }

  void wake_up() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake, &one, sizeof one);
  }

  const Limits limits;
  const std::size_t size;
  const int wake;  ///< readable when the thread should look at the queues

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Jobs> queues;

 private:
  struct Worker {
    std::unique_ptr<Child> child;
    bool busy = false;
    int killed = 0;  ///< workers of its job that were killed from outside
    db::Id identity;
    CompileJob job;
    Clock::time_point deadline;
  };
  /// Who waits for a job under way.
  using Takers = std::vector<std::pair<Jobs, std::uint64_t>>;

  // The workers are the thread's own, so that waiting for one holds up nobody.
  void serve() {
    while (give_work()) {
      std::vector<pollfd> ready{{wake, POLLIN, 0}};
      for (const Worker& worker : workers)
        if (worker.busy) ready.push_back({worker.child->channel().socket(), POLLIN, 0});
      ::poll(ready.data(), ready.size(), ready.size() > 1 ? 100 : -1);
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(wake, &count, sizeof count);
      collect();
    }
    for (Worker& worker : workers)
      if (worker.busy) worker.child->end(true);
    workers.clear();
  }

  /// False when the pool ends.
  bool give_work() {
    const std::unique_lock lock(mutex);
    if (ending) return false;
    while (std::optional<WaitingJob> next = take_waiting()) {
      auto free = std::find_if(workers.begin(), workers.end(), [](const Worker& w) { return !w.busy; });
      if (free == workers.end()) free = workers.insert(workers.end(), Worker{});
      free->busy = true;
      free->killed = 0;
      free->identity = next->identity;
      free->job = std::move(next->job);
      try {
        send(*free);
      } catch (const Error&) {
        finish(free->identity, nullptr, std::current_exception());
        workers.erase(free);
      }
    }
    return true;
  }

  /// The next job that has to be compiled, the users taking turns; none when all workers are busy.
  std::optional<WaitingJob> take_waiting() {
    const auto busy = static_cast<std::size_t>(
        std::count_if(workers.begin(), workers.end(), [](const Worker& w) { return w.busy; }));
    if (busy >= size) return std::nullopt;
    for (std::size_t passed = 0; passed < queues.size();) {
      const Jobs& jobs = queues[turn++ % queues.size()];
      if (jobs->waiting.empty()) {
        ++passed;
        continue;
      }
      passed = 0;
      WaitingJob next = std::move(jobs->waiting.front());
      jobs->waiting.pop_front();
      if (const auto held = results.find(next.identity); held != results.end()) {
        if (CompiledPointer compiled = held->second.lock()) {
          deliver(jobs, next.tag, std::move(compiled));
          continue;
        }
      }
      const auto [takers, is_new] = under_way.try_emplace(next.identity);
      takers->second.emplace_back(jobs, next.tag);
      if (is_new) return next;
    }
    return std::nullopt;
  }

  void send(Worker& worker) {
    if (worker.child == nullptr) worker.child = std::make_unique<Child>(limits.worker);
    worker.deadline = Clock::now() + duration_of(limits.compile_seconds);
    CompileRequest request{worker.job};
    try {
      worker.child->channel().send(Kind::compile, request);
    } catch (const std::system_error&) {
      // It ended while idle or at once; collect() finds the closed channel and reports the job.
    }
  }

  void collect() {
    for (Worker& worker : workers) {
      if (!worker.busy) continue;
      pollfd ready{worker.child->channel().socket(), POLLIN, 0};
      const bool readable = ::poll(&ready, 1, 0) > 0;
      const bool late = !readable && Clock::now() > worker.deadline;
      if (!readable && !late) continue;

      std::exception_ptr error;
      CompiledPointer compiled;
      try {
        compiled = readable ? receive(worker) : lose(worker, true);
        if (compiled == nullptr) continue;  // under way again
      } catch (const Error&) {
        error = std::current_exception();
      }
      worker.busy = false;
      const std::lock_guard lock(mutex);
      finish(worker.identity, std::move(compiled), error);
    }
  }

  /// A worker's answer, which may be its end.
  CompiledPointer receive(Worker& worker) {
    const auto frame = worker.child->channel().receive();
    if (!frame) return lose(worker, false);
    auto reply = decode<CompileReply>(frame->payload);
    if (!reply.compiler_usable) throw Error(ErrorCode::environment, reply.log);
    auto result = std::make_shared<Compiled>();
    result->outcome = reply.ok ? db::Outcome::ok : db::Outcome::compile_failed;
    if (!reply.ok) result->reason = first_line(reply.log);
    result->object = std::move(reply.object);
    result->resources = reply.resources;
    result->compiler = std::move(reply.compiler);
    result->build_key = reply.build_key;
    return result;
  }

  /// What its job's loss comes to; null when the job is tried once more.
  CompiledPointer lose(Worker& worker, bool late) {
    const WorkerLost lost = worker.child->end(late);
    worker.child.reset();
    if (lost.killed && worker.killed++ < second_chances) {
      send(worker);
      return nullptr;
    }
    auto result = std::make_shared<Compiled>();
    result->outcome = lost.outcome;
    result->reason = late ? fmt::format("the compiler took more than {} s", limits.compile_seconds)
                          : "the compiler ended its process: " + lost.why;
    return result;
  }

  /// To all who wait for it.
  void finish(const db::Id& identity, CompiledPointer compiled, const std::exception_ptr& error) {
    forget_results_let_go();
    if (compiled != nullptr) results[identity] = compiled;
    for (const auto& [jobs, tag] : under_way[identity]) {
      if (error) jobs->error = error;
      deliver(jobs, tag, compiled);
    }
    under_way.erase(identity);
  }

  void deliver(const Jobs& jobs, std::uint64_t tag, CompiledPointer compiled) {
    --jobs->unfinished;
    if (compiled != nullptr) jobs->done.push_back({tag, std::move(compiled)});
    changed.notify_all();
  }

  void forget_results_let_go() {
    if (results.size() < forget_at) return;
    std::erase_if(results, [](const auto& held) { return held.second.expired(); });
    forget_at = std::max<std::size_t>(1024, 2 * results.size());
  }

  bool ending = false;
  std::size_t turn = 0;
  std::map<db::Id, Takers> under_way;
  std::map<db::Id, std::weak_ptr<const Compiled>> results;
  std::size_t forget_at = 1024;
  std::deque<Worker> workers;
  std::thread thread;
};

CompilePool::CompilePool(const Limits& limits) : state_(std::make_unique<State>(limits)) {}

CompilePool::~CompilePool() = default;

std::size_t CompilePool::workers() const noexcept {
  return state_->size;
}

CompileQueue::CompileQueue(CompilePool& pool) : pool_(pool), jobs_(std::make_shared<JobsOfQueue>()) {
  const std::lock_guard lock(pool_.state_->mutex);
  pool_.state_->queues.push_back(jobs_);
}

CompileQueue::~CompileQueue() {
  const std::lock_guard lock(pool_.state_->mutex);
  std::erase(pool_.state_->queues, jobs_);
}

void CompileQueue::submit(std::uint64_t tag, CompileJob job) {
  const db::Id id = identity(job);
  {
    const std::lock_guard lock(pool_.state_->mutex);
    jobs_->waiting.push_back({tag, id, std::move(job)});
    ++jobs_->unfinished;
  }
  pool_.state_->wake_up();
}

std::vector<std::uint64_t> CompileQueue::forget_queued() {
  const std::lock_guard lock(pool_.state_->mutex);
  std::vector<std::uint64_t> tags;
  for (const WaitingJob& waiting : jobs_->waiting) tags.push_back(waiting.tag);
  jobs_->unfinished -= jobs_->waiting.size();
  jobs_->waiting.clear();
  return tags;
}

std::size_t CompileQueue::queued() const {
  const std::lock_guard lock(pool_.state_->mutex);
  return jobs_->waiting.size();
}

bool CompileQueue::idle() const {
  const std::lock_guard lock(pool_.state_->mutex);
  return jobs_->unfinished == 0;
}

std::vector<FinishedJob> CompileQueue::take() {
  return wait(0);
}

std::vector<FinishedJob> CompileQueue::wait(double seconds) {
  std::unique_lock lock(pool_.state_->mutex);
  pool_.state_->changed.wait_for(lock, duration_of(seconds), [&] {
    return !jobs_->done.empty() || jobs_->error != nullptr || jobs_->unfinished == 0;
  });
  if (jobs_->error) std::rethrow_exception(std::exchange(jobs_->error, nullptr));
  return std::exchange(jobs_->done, {});
}

}  // namespace hone::tuner
