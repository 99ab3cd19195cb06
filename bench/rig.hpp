// What the benchmarks share: one device and family, configurations looked at and raced as the tuner does it.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "tools/options.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/measure_client.hpp"
#include "tuner/race.hpp"

namespace hone::bench {

/// A configuration after its first look.
struct Tried {
  db::Configuration configuration;
  std::int64_t alignment = 1;
  db::Outcome outcome = db::Outcome::ok;
  std::string reason;
  db::Statistics look;
  std::int64_t launches = 0;  ///< timed, all samples together
};

/// The worst and best conditions of the samples taken.
struct Conditions {
  std::int64_t lowest_mhz = 0, highest_mhz = 0, hottest_c = 0, throttled = 0, discarded = 0;
  void add(const db::Condition& condition);
  std::string text() const;
};

/// --device, --family, --templates, --trust.
void add_rig_flags(tools::Options& options);

class Rig {
 public:
  /// Throws Error when the device or its compiler cannot be used.
  explicit Rig(const tools::Options& options);
  ~Rig();

  const Family& family() const noexcept { return family_; }
  const DeviceInfo& device() const noexcept { return device_; }
  db::Evaluator& evaluator() noexcept { return evaluator_; }

  void set_problem(const db::Problem& problem);
  /// Compiles, checks and times each a little; a configuration's index is its slot.
  std::vector<Tried> look(const std::vector<db::Configuration>& configurations);
  /// Full protocol on these slots, in one interleaved race; results in their order.
  std::vector<db::Statistics> measure_fully(const std::vector<Tried>& tried,
                                            const std::vector<std::uint32_t>& slots, std::uint64_t seed,
                                            std::int64_t& launches);
  tuner::Take take();
  /// Of all races so far.
  Conditions conditions() const;

 private:
  Family family_;
  DeviceInfo device_;
  db::Evaluator evaluator_;
  std::atomic<bool> stop_ = false;
  tuner::CompilePool pool_;
  tuner::CompileQueue queue_;
  std::unique_ptr<tuner::MeasureClient> client_;
  db::Problem problem_;
  Conditions before_;  ///< of the problems before this one
};

/// The program's flags, parsed; exits on --help. Then `body`, with errors told as the hone command does.
int run(int argc, char** argv, tools::Options& options, int (*body)(const tools::Options& options));

/// `values`' geometric mean.
double geometric_mean(const std::vector<double>& values);

}  // namespace hone::bench
