#include "tuner/compile_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "hone/error.hpp"
#include "runtime/plan.hpp"

namespace hone::tuner {

namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

CompileJob compile_job(const Family& family, const DeviceInfo& device, const db::Configuration& configuration,
                       const std::string& element_type, const std::string& layout) {
  const Variant& variant = *family.variant(configuration.variant);
  return {device.backend, device.architecture,
          translation_unit(variant, configuration.parameters, element_type, layout, device.backend),
          variant.entry};
}

struct CompilePool::Worker {
  explicit Worker(const std::filesystem::path& executable) : child(std::make_unique<Child>(executable)) {}
  std::unique_ptr<Child> child;
  bool busy = false;
  Job job;
  Clock::time_point deadline;
};

CompilePool::CompilePool(const Limits& limits)
    : limits_(limits),
      jobs_(limits.jobs > 0 ? static_cast<std::size_t>(limits.jobs)
                            : std::max<std::size_t>(1, std::thread::hardware_concurrency())) {}

CompilePool::~CompilePool() = default;

void CompilePool::submit(std::uint64_t tag, CompileJob job) {
  queue_.push_back({tag, std::move(job)});
  give_work();
}

void CompilePool::forget_queued() {
  queue_.clear();
}

void CompilePool::give_work() {
  while (!queue_.empty() && busy_ < jobs_) {
    auto free = std::find_if(workers_.begin(), workers_.end(), [](const auto& w) { return !w->busy; });
    if (free == workers_.end()) {
      workers_.push_back(std::make_unique<Worker>(limits_.worker));
      free = std::prev(workers_.end());
    }
    Worker& worker = **free;
    worker.job = std::move(queue_.front());
    CompileRequest request{worker.job.job};
    queue_.pop_front();
    worker.busy = true;
    ++busy_;
    worker.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(limits_.compile_seconds));
    try {
      worker.child->channel().send(Kind::compile, request);
    } catch (const std::system_error&) {
      // It ended while idle or at once; pump() finds the closed channel and reports the job.
    }
  }
}

void CompilePool::add_descriptors(std::vector<pollfd>& to) const {
  for (const auto& worker : workers_)
    if (worker->busy) to.push_back({worker->child->channel().socket(), POLLIN, 0});
}

void CompilePool::pump() {
  for (auto& worker : workers_) {
    if (!worker->busy) continue;
    pollfd ready{worker->child->channel().socket(), POLLIN, 0};
    const bool readable = ::poll(&ready, 1, 0) > 0;
    const bool late = !readable && Clock::now() > worker->deadline;
    if (!readable && !late) continue;

    Compiled result;
    result.tag = worker->job.tag;
    worker->busy = false;
    --busy_;
    std::optional<Channel::Frame> frame;
    if (readable) frame = worker->child->channel().receive();
    if (!frame) {
      const WorkerLost lost = worker->child->end(late);
      if (lost.killed && !worker->job.again) {
        worker->job.again = true;
        queue_.push_front(std::move(worker->job));
        worker.reset();
        continue;
      }
      result.outcome = lost.outcome;
      result.reason = late ? fmt::format("the compiler took more than {} s", limits_.compile_seconds)
                           : "the compiler ended its process: " + lost.why;
      worker.reset();
    } else {
      auto reply = decode<CompileReply>(frame->payload);
      if (!reply.compiler_usable) throw Error(ErrorCode::environment, reply.log);
      result.outcome = reply.ok ? db::Outcome::ok : db::Outcome::compile_failed;
      if (!reply.ok) result.reason = first_line(reply.log);
      result.object = std::move(reply.object);
      result.resources = reply.resources;
      result.compiler = std::move(reply.compiler);
      result.build_key = reply.build_key;
    }
    done_.push_back(std::move(result));
  }
  std::erase(workers_, nullptr);
  give_work();
}

std::vector<Compiled> CompilePool::take() {
  pump();
  return std::exchange(done_, {});
}

std::vector<Compiled> CompilePool::wait(double seconds) {
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    pump();
    if (!done_.empty() || idle() || Clock::now() >= until) return std::exchange(done_, {});
    std::vector<pollfd> descriptors;
    add_descriptors(descriptors);
    ::poll(descriptors.data(), descriptors.size(), 100);
  }
}

}  // namespace hone::tuner
