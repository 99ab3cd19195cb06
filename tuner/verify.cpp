#include "tuner/verify.hpp"

#include <fmt/format.h>

#include "runtime/plan.hpp"
#include "tuner/check_kernels.hpp"
#include "tuner/clock.hpp"
#include "tuner/measure_client.hpp"
#include "tuner/measuring.hpp"
#include "tuner/problems.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

namespace {

class Verification {
 public:
  Verification(const VerifySettings& settings, const Family& family, const DeviceInfo& device,
               Observer& observer, const std::atomic<bool>& stop)
      : settings_(settings),
        family_(family),
        device_(device),
        observer_(observer),
        stop_(stop),
        pool_(settings.limits),
        queue_(pool_) {}

  VerifySummary run() {
    const auto start = Clock::now();
    summary_.device = device_.record();
    client_ = std::make_unique<MeasureClient>(settings_.limits,
                                              open_request(family_, device_, queue_, nullptr), stop_);
    try {
      client_->open();
      std::vector<std::string> layouts = family_.layouts;
      if (layouts.empty()) layouts.emplace_back();
      for (const std::string& type : element_types_of(family_, settings_.element_types))
        for (const std::string& layout : layouts)
          if (!stop_) verify_type(type, layout);
    } catch (const Interrupted&) {
      // what was checked so far stands
    }
    summary_.interrupted = stop_;
    summary_.seconds = since(start);
    return std::move(summary_);
  }

 private:
  void verify_type(const std::string& type, const std::string& layout) {
    std::vector<Shape> shapes = settings_.shapes;
    // Without a shape the last of the manifest's extents stands for the tuned problem.
    if (shapes.empty() && !family_.check.extents.empty()) shapes.push_back(family_.check.extents.back());
    if (shapes.empty())
      throw Error(ErrorCode::invalid, fmt::format("{}: [check] has no extents; add some, or give a shape",
                                                  family_.file.string()));
    bool first = true;
    for (const Shape& shape : shapes) {
      if (stop_) return;
      const db::Problem problem = make_problem(evaluator_, family_, type, layout, shape);
      verify_problem(problem, first);
      first = false;
    }
  }

  void verify_problem(const db::Problem& problem, bool extents) {
    std::vector<db::Configuration> all;
    for (Point& point : space(evaluator_, family_, problem, device_))
      if (point.excess.empty()) all.push_back(std::move(point.configuration));
    if (settings_.limit > 0) {
      std::vector<db::Configuration> covering;
      for (const std::size_t i : covering_set(all, settings_.limit).indices) covering.push_back(all[i]);
      all = std::move(covering);
    }
    summary_.space += static_cast<std::int64_t>(all.size());
    const double gigabytes = static_cast<double>(working_set(evaluator_, family_, problem)) / 1e9;
    const ProblemReply set = client_->set_problem({problem, db::Regime::steady}, 5 + gigabytes * 30);
    if (!set.ok) throw Error(ErrorCode::device, set.why);

    std::size_t submitted = 0, done = 0;
    while (done < all.size() && !stop_) {
      while (submitted < all.size() && queue_.queued() < 2 * queue_.workers()) {
        queue_.submit(submitted,
                      compile_job(family_, device_, all[submitted], problem.element_type, problem.layout));
        ++submitted;
      }
      for (const FinishedJob& result : queue_.wait(0.5)) {
        ++done;
        const db::Configuration& configuration = all[result.tag];
        LookReply reply;
        reply.outcome = result.compiled->outcome;
        reply.reason = result.compiled->reason;
        if (result.compiled->outcome == db::Outcome::ok) {
          LookRequest request;
          request.slot = static_cast<std::uint32_t>(result.tag);
          request.configuration = configuration;
          request.object = result.compiled->object;
          request.extents = extents;
          request.large = settings_.large;
          request.timed = false;
          reply = client_->look(request);
          if (!reply.not_checked.empty()) observer_.note(reply.not_checked);
          if (reply.outcome == db::Outcome::ok) client_->drop({request.slot});
        }
        if (reply.outcome == db::Outcome::ok)
          ++summary_.right;
        else
          summary_.failures.push_back({configuration, problem.element_type, reply.outcome, reply.reason});
        observer_.progress({problem.text(), "verify",
                            summary_.right + static_cast<std::int64_t>(summary_.failures.size()),
                            summary_.space, static_cast<std::int64_t>(summary_.failures.size()), ""});
        if (stop_) break;
      }
    }
    queue_.forget_queued();
    while (!queue_.idle()) queue_.wait(1);
  }

  const VerifySettings& settings_;
  const Family& family_;
  const DeviceInfo& device_;
  Observer& observer_;
  const std::atomic<bool>& stop_;
  db::Evaluator evaluator_;
  CompilePool pool_;
  CompileQueue queue_;
  std::unique_ptr<MeasureClient> client_;
  VerifySummary summary_;
};

}  // namespace

std::vector<VerifySummary> verify(const VerifySettings& settings, Observer& observer,
                                  const std::atomic<bool>& stop) {
  const Family family = find_family(settings.family, settings.folders);
  require_trust(family, settings.trust);
  element_types_of(family, settings.element_types);
  std::vector<VerifySummary> result;
  for (const DeviceInfo& device : choose_devices(settings.device)) {
    if (stop) break;
    default_configuration(family, device);  // throws where the family cannot run
    result.push_back(Verification(settings, family, device, observer, stop).run());
  }
  return result;
}

}  // namespace hone::tuner
