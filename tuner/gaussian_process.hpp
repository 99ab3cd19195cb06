// A Gaussian process over the points of a search space: what has been measured says what to expect elsewhere,
// and how far off that may be.
//
// Each dimension has a Matern 5/2 kernel of its own, over the value's place between the smallest and the
// largest (in logarithms where all are positive) and, where values are no powers of two, over how often two
// divides them; texts are alike or not. The process is a sum of those kernels (main effects), of their
// products by pairs, and of the product of all (Duvenaud, Nickisch and Rasmussen 2011, of order 1, 2 and
// all), and of white noise, which is no error of measuring here but what neighbouring points do not share.
// Lengths and weights are those most likely after what was observed, under broad priors (Rasmussen and
// Williams 2006, chapter 5).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tuner/search_space.hpp"

namespace hone::tuner {

/// One row that a process is told.
struct Observed {
  Levels levels;
  double value = 0;  ///< about zero, and of about one's size
  double doubt = 0;  ///< variance of `value` beyond the process's noise
};

struct Predicted {
  double mean = 0, variance = 0;  ///< of what would be measured: with the noise
};

/// Not thread-safe. Rows are kept in the order given; their values may change afterwards.
class GaussianProcess {
 public:
  explicit GaussianProcess(const std::vector<Dimension>& dimensions);
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// How far apart two points are, each dimension counting the same.
  double distance(const Levels& a, const Levels& b) const;

  /// Chooses lengths and weights, from where they are, for these rows: time in the cube of their number, some
  /// dozens of times.
  void fit(std::span<const Observed> rows);

  /// Takes these rows and points in place of all before: time in the square of the rows' number times the
  /// points'.
  void condition(std::span<const Observed> rows, std::vector<Levels> points);
  /// One row more; its value comes with the next predict(): time in the rows' number times the points'.
  void add(const Observed& row);
  /// The rows' values, and with them what is to be expected of each of the points.
  std::vector<Predicted> predict(std::span<const double> values) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::tuner
