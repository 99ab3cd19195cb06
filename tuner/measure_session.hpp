// The measuring worker's side: one device, one family, one problem at a time; configurations are loaded,
// checked and timed. Errors that cost the device's context say so, and the worker must end.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "tuner/problem_buffers.hpp"
#include "tuner/protocol.hpp"
#include "tuner/workspace.hpp"

namespace hone::tuner {

class MeasureSession {
 public:
  explicit MeasureSession(const OpenRequest& request);
  ~MeasureSession();

  ProblemReply set_problem(const ProblemRequest& request);
  LookReply look(const LookRequest& request);
  void load(const LoadRequest& request);
  Sample sample(std::uint32_t slot, std::uint32_t launches, std::uint32_t warm_ups, std::uint32_t placement);
  LookReply recheck(const RecheckRequest& request);
  void drop(const std::vector<std::uint32_t>& slots);

 private:
  struct Recorded {
    std::vector<LaunchParameters> parameters;  ///< of the sets of buffers it runs on
    std::unique_ptr<Batch> batch;
  };
  struct Loaded {
    const Variant* variant = nullptr;
    db::Values parameters;
    std::unique_ptr<Kernel> kernel;
    Plan plan;           ///< on the current problem
    std::string excess;  ///< what it asks for beyond the device; empty: nothing
    std::map<std::pair<std::uint32_t, std::uint32_t>, Recorded> batches;  ///< by launches and set of buffers
  };

  Loaded make(const db::Configuration& configuration, const Bytes& object);
  Plan plan_for(const Loaded& loaded, const db::Problem& problem);
  std::optional<Fault> launch_shape(const Plan& plan, const db::Problem& problem) const;
  std::optional<Fault> check_extents(const Loaded& loaded, bool large);
  std::optional<Fault> check_on(const Loaded& loaded, ProblemBuffers& buffers, const Plan& plan);
  /// The set of buffers of a placement; the cold regime's batches rotate among all.
  std::uint32_t set_at(std::uint32_t placement) const;
  /// Nanoseconds a launch over a batch of so many, on one set of buffers; in the cold regime on all in turn.
  double run(Loaded& loaded, std::uint32_t launches, std::uint32_t set);
  /// The same as a sample: taken again while the device says that it is throttled, as long as patience lasts.
  double sample(Loaded& loaded, std::uint32_t launches, std::uint32_t warm_ups, std::uint32_t set,
                db::Condition& condition);
  /// The buffers of the manifest's extents for the current problem's element type, made when first needed.
  std::vector<std::unique_ptr<ProblemBuffers>>& extent_buffers();

  /// The same of its large ones, as far as memory allows.
  std::vector<std::unique_ptr<ProblemBuffers>>& large_buffers();

  std::unique_ptr<Device> device_;
  db::Evaluator evaluator_;
  Family family_;
  std::uint64_t seed_;
  std::int64_t cache_bytes_;
  std::unique_ptr<CheckKernels> kernels_;
  std::unique_ptr<Reference> reference_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<ProblemBuffers> problem_;
  db::Regime regime_ = db::Regime::steady;
  std::optional<DeviceMemory> flush_;  ///< cold: written before each batch
  std::size_t flush_bytes_ = 0;
  std::string extents_of_;  ///< element type and layout that extents_ were made for
  std::vector<std::unique_ptr<ProblemBuffers>> extents_, large_;
  bool large_made_ = false;
  double patience_ = 0;      ///< seconds left to wait for a throttled device, for this problem
  std::string not_checked_;  ///< what memory did not allow to check; told once
  std::unordered_map<std::uint32_t, Loaded> loaded_;
};

}  // namespace hone::tuner
