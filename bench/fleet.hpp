// Databases as a fleet of machines fills them: made up times, but every record that the tuner writes, by the
// same way into the file and in the tuner's proportions (of an H200's sweep: 73 % first looks of 3 samples,
// 17 % races of 15, 10 % dropped from a race after 2).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"

namespace hone::bench {

struct FleetPlan {
  std::vector<std::string> families{"relu", "copy", "gelu", "gelu_tanh", "silu"};
  std::vector<std::string> element_types{"f32", "f16", "bf16"};
  std::vector<db::Regime> regimes{db::Regime::steady, db::Regime::cold};
  std::int64_t problems = 20;         ///< of each family and type
  std::int64_t configurations = 100;  ///< tried on each
};

class Fleet {
 public:
  Fleet(FleetPlan plan, std::uint64_t seed);

  /// The device of this number; all differ.
  static db::Device device(std::int64_t number);

  /// One run a family: every configuration on every problem, decisions for three alignments. Gives the number
  /// of measurements; about one in a thousand failed.
  std::int64_t tune(db::Store& store, const db::Device& on);

  std::int64_t measurements_of_device() const;

 private:
  struct Tuned {
    db::Template source;
    std::vector<db::Configuration> configurations;
  };
  std::int64_t tune(db::Store& store, const db::Device& on, const Tuned& family);
  db::Measurement measured(const Tuned& family, std::size_t configuration);

  FleetPlan plan_;
  std::mt19937_64 random_;
  std::vector<Tuned> families_;
  std::int64_t clock_us_ = 1'700'000'000'000'000;
};

}  // namespace hone::bench
