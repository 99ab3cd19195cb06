// Which of a portfolio's configurations is the fastest on a problem never measured. A configuration's time is
// taken for a sum of terms of which none is negative: for a launch, for the bytes moved, for the waves of
// blocks that the compute units take one after another, for the work of the last unit to end, for the work of
// all, whatever blocks do beyond the problem's edges counted in, and for waves of as many blocks as the units
// can have at once, which wait for memory together. It is fitted to the times measured
// (least squares of relative errors); what the sum misses is interpolated between the problems measured by
// inverse distances in log-shape (Shepard, "A two-dimensional interpolation function for irregularly-spaced
// data", 1968). Waves matter most: a block more than the device has units costs as much as twice as many.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/expression.hpp"
#include "runtime/device.hpp"
#include "runtime/family.hpp"

namespace hone {

/// Immutable: any number of threads may ask, each with its own evaluator.
class Predictor {
 public:
  struct Member {
    const Variant* variant = nullptr;
    const db::Values* parameters = nullptr;
    std::vector<std::pair<std::size_t, double>> measured;  ///< problems, with nanoseconds
  };

  Predictor() = default;
  /// `problems` are the family's, complete. Throws Error{invalid} where an expression of the manifest fails.
  Predictor(db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
            std::span<const db::Problem> problems, std::span<const Member> members);

  /// Nanoseconds that each member is expected to take on a problem, in their order.
  std::vector<double> nanoseconds(db::Evaluator& evaluator, const Family& family,
                                  const db::Problem& problem) const;

 private:
  static constexpr std::size_t terms = 7;
  using Terms = std::array<double, terms>;

  /// Of large problems: the logarithm of a configuration's blocks is a constant and so many times those of
  /// the extents.
  struct Blocks {
    double constant = 0;
    std::vector<double> powers;
  };
  /// What of a problem all members' times follow from.
  struct Size {
    double work = 0, bytes = 0;
    std::vector<double> blocks;  ///< as Predictor::blocks_
    std::vector<double> filled;  ///< so many would do if none went beyond the problem's edges
  };
  /// A time that a member took, or is taken to take, with its weight.
  struct Sample {
    Terms terms;
    double nanoseconds = 0, weight = 1;
  };
  struct Fitted {
    std::size_t blocks = 0;  ///< which expression counts its blocks
    double resident = 1;     ///< that a compute unit has at once
    Terms weights{};
  };

  std::size_t find_or_add(db::Evaluator& evaluator, const db::Problem& like, std::string expression);
  Size size_of(db::Evaluator& evaluator, const Family& family, const db::Problem& problem,
               const std::vector<double>& place) const;
  Terms terms_of(const Size& size, const Fitted& member) const;
  void fit_all(const std::vector<Size>& sizes, std::span<const Member> members);
  static double sum(const Terms& weights, const Terms& of);
  static Terms fit(const std::vector<Sample>& samples);

  double units_ = 1;
  std::size_t extents_ = 0;                  ///< of a problem's dimensions, those that are no strides
  std::vector<std::string> expressions_;     ///< that count blocks
  std::vector<Blocks> blocks_;               ///< by expression
  std::vector<std::vector<double>> places_;  ///< of the problems measured, in log-shape
  std::vector<Fitted> members_;
  /// By problem, then by member: the logarithm of the time over the sum; and 1, or twice 0 where the member
  /// was not measured. Members of one problem are next to each other, so that they are summed side by side.
  std::vector<double> misses_, measured_;
};

}  // namespace hone
