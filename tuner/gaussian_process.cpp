#include "tuner/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace hone::tuner {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int evaluations_of_a_fit = 60;
// Priors of the logarithms: where they lie and how wide.
constexpr double usual_length = 0.7, length_spread = 1;
constexpr double usual_weight = 0.3, weight_spread = 1.5;
constexpr double usual_noise = 0.01, noise_spread = 2;
constexpr double least_noise = 1e-6;

/// One of the ways to measure how far apart a dimension's levels are: a place for each.
using Scale = std::vector<double>;

int twos_in(std::int64_t value) {
  int twos = 0;
  for (; value != 0 && value % 2 == 0; value /= 2) ++twos;
  return twos;
}

Scale between_0_and_1(Scale scale) {
  const auto [least, most] = std::minmax_element(scale.begin(), scale.end());
  const double from = *least, width = *most - *least;
  for (double& place : scale) place = width > 0 ? (place - from) / width : 0;
  return scale;
}

/// None for texts, for which levels are the same or not.
std::vector<Scale> scales_of(const Dimension& dimension) {
  if (!dimension.numeric() || dimension.may_be_absent) return {};
  std::vector<std::int64_t> values;
  for (const db::Value& value : dimension.values) values.push_back(std::get<std::int64_t>(value));
  const bool positive = values.front() > 0;
  Scale size, twos;
  bool powers = true;
  for (const std::int64_t value : values) {
    size.push_back(positive ? std::log(static_cast<double>(value)) : static_cast<double>(value));
    twos.push_back(twos_in(value));
    powers = powers && positive && value == std::int64_t{1} << twos_in(value);
  }
  std::vector<Scale> scales{between_0_and_1(std::move(size))};
  twos = between_0_and_1(std::move(twos));
  // With few values a length for each scale says the same twice.
  if (values.size() > 4 && !powers && *std::max_element(twos.begin(), twos.end()) > 0)
    scales.push_back(std::move(twos));
  return scales;
}

struct Kernel {
  std::vector<std::vector<double>> lengths;  ///< logarithms, by dimension and scale; texts have one
  double main = std::log(usual_weight), pairs = std::log(usual_weight), all = std::log(usual_weight);
  double noise = std::log(usual_noise);

  /// Calls `visit` with each parameter, and what is usual and the spread of its logarithm by its prior.
  template <typename Visit>
  void each(const Visit& visit) {
    for (auto& of_dimension : lengths)
      for (double& length : of_dimension) visit(length, usual_length, length_spread);
    for (double* weight : {&main, &pairs, &all}) visit(*weight, usual_weight, weight_spread);
    visit(noise, usual_noise, noise_spread);
  }
};

/// A kernel, ready to be evaluated: for each dimension a table over pairs of levels.
class Tables {
 public:
  Tables(const std::vector<Dimension>& dimensions, const std::vector<std::vector<Scale>>& scales,
         const std::vector<std::size_t>& used, const Kernel& kernel)
      : used_(used),
        main_(std::exp(kernel.main)),
        pairs_(std::exp(kernel.pairs)),
        all_(std::exp(kernel.all)),
        noise_(std::exp(kernel.noise) + least_noise) {
    for (std::size_t u = 0; u < used.size(); ++u) {
      const std::size_t levels = dimensions[used[u]].levels();
      MatrixXd table(levels, levels);
      for (std::size_t a = 0; a < levels; ++a)
        for (std::size_t b = 0; b < levels; ++b) {
          double squared = 0;
          if (scales[u].empty()) {
            squared = a == b ? 0 : std::exp(-2 * kernel.lengths[u][0]);
          } else {
            for (std::size_t s = 0; s < scales[u].size(); ++s) {
              const double distance = (scales[u][s][a] - scales[u][s][b]) / std::exp(kernel.lengths[u][s]);
              squared += distance * distance;
            }
          }
          const double r = std::sqrt(5 * squared);
          table(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
              (1 + r + 5 * squared / 3) * std::exp(-r);
        }
      tables_.push_back(std::move(table));
    }
  }

  double operator()(const Levels& a, const Levels& b) const {
    double sum = 0, squares = 0, product = 1;
    for (std::size_t u = 0; u < used_.size(); ++u) {
      const double k = tables_[u](a[used_[u]], b[used_[u]]);
      sum += k;
      squares += k * k;
      product *= k;
    }
    const auto n = static_cast<double>(used_.size());
    double result = all_ * product;
    if (n > 0) result += main_ * sum / n;
    if (n > 1) result += pairs_ * (sum * sum - squares) / (n * (n - 1));
    return result;
  }
  double noise() const { return noise_; }

 private:
  const std::vector<std::size_t>& used_;
  std::vector<MatrixXd> tables_;
  double main_, pairs_, all_, noise_;
};

MatrixXd covariance(const Tables& kernel, std::span<const Observed> rows) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  MatrixXd result(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j)
      result(i, j) =
          kernel(rows[static_cast<std::size_t>(i)].levels, rows[static_cast<std::size_t>(j)].levels);
    result(i, i) += kernel.noise() + rows[static_cast<std::size_t>(i)].doubt;
  }
  return result;
}

}  // namespace

struct GaussianProcess::State {
  std::vector<Dimension> dimensions;
  std::vector<std::size_t> used;  ///< dimensions of several levels
  std::vector<std::vector<Scale>> scales;
  Kernel kernel;

  std::vector<Observed> rows;
  std::vector<Levels> points;
  std::unique_ptr<Tables> tables;
  // With room for more rows: the factor L of the rows' covariance, its inverse times the covariance of rows
  // and points, and what is left of the points' variance.
  MatrixXd factor, solved;
  VectorXd variance;

  Tables tables_of(const Kernel& of) const { return {dimensions, scales, used, of}; }

  double log_likelihood(std::span<const Observed> observed) const {
    const Eigen::LLT<MatrixXd> llt(covariance(tables_of(kernel), observed));
    if (llt.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    VectorXd values(static_cast<Eigen::Index>(observed.size()));
    for (std::size_t i = 0; i < observed.size(); ++i)
      values[static_cast<Eigen::Index>(i)] = observed[i].value;
    llt.matrixL().solveInPlace(values);
    double result = -values.squaredNorm() / 2;
    for (Eigen::Index i = 0; i < values.size(); ++i) result -= std::log(llt.matrixLLT()(i, i));
    return result;
  }

  void make_room(Eigen::Index n) {
    if (n <= factor.rows()) return;
    const Eigen::Index room = std::max<Eigen::Index>(64, n + n / 2);
    factor.conservativeResize(room, room);
    solved.conservativeResize(room, static_cast<Eigen::Index>(points.size()));
  }
};

GaussianProcess::GaussianProcess(const std::vector<Dimension>& dimensions)
    : state_(std::make_unique<State>()) {
  state_->dimensions = dimensions;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d].levels() < 2) continue;
    state_->used.push_back(d);
    state_->scales.push_back(scales_of(dimensions[d]));
    state_->kernel.lengths.emplace_back(std::max<std::size_t>(1, state_->scales.back().size()),
                                        std::log(usual_length));
  }
}
GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

double GaussianProcess::distance(const Levels& a, const Levels& b) const {
  double sum = 0;
  for (std::size_t u = 0; u < state_->used.size(); ++u) {
    const std::size_t d = state_->used[u];
    const std::vector<Scale>& scales = state_->scales[u];
    if (scales.empty())
      sum += a[d] == b[d] ? 0 : 1;
    else
      sum += std::abs(scales[0][a[d]] - scales[0][b[d]]);
  }
  return sum;
}

void GaussianProcess::fit(std::span<const Observed> rows) {
  struct Parameter {
    double& value;
    double usual, spread, step;
  };
  std::vector<Parameter> parameters;
  state_->kernel.each([&](double& value, double usual, double spread) {
    parameters.push_back({value, std::log(usual), spread, 0.7});
  });
  const auto log_posterior = [&] {
    double result = state_->log_likelihood(rows);
    for (const Parameter& p : parameters) result -= std::pow((p.value - p.usual) / p.spread, 2) / 2;
    return result;
  };

  // Coordinate search with a step of its own for each parameter: few evaluations, no derivatives.
  double best = log_posterior();
  int evaluations = 0;
  while (evaluations < evaluations_of_a_fit)
    for (std::size_t i = 0; i < parameters.size() && evaluations < evaluations_of_a_fit; ++i) {
      Parameter& parameter = parameters[i];
      const double before = parameter.value;
      bool better = false;
      for (const int side : {1, -1}) {
        parameter.value = before + side * parameter.step;
        const double here = log_posterior();
        ++evaluations;
        if (here <= best) continue;
        best = here;
        better = true;
        parameter.step *= 1.5 * side;
        break;
      }
      if (better) continue;
      parameter.value = before;
      parameter.step /= 2;
    }
}

void GaussianProcess::condition(std::span<const Observed> rows, std::vector<Levels> points) {
  State& s = *state_;
  s.rows.assign(rows.begin(), rows.end());
  s.points = std::move(points);
  s.tables = std::make_unique<Tables>(s.tables_of(s.kernel));
  const auto n = static_cast<Eigen::Index>(s.rows.size());
  const auto m = static_cast<Eigen::Index>(s.points.size());
  s.factor.resize(0, 0);
  s.solved.resize(0, m);
  s.make_room(n);
  const Eigen::LLT<MatrixXd> llt(covariance(*s.tables, s.rows));
  s.factor.topLeftCorner(n, n) = llt.matrixL();
  auto solved = s.solved.topRows(n);
  s.variance.resize(m);
  for (Eigen::Index j = 0; j < m; ++j) {
    const Levels& point = s.points[static_cast<std::size_t>(j)];
    for (Eigen::Index i = 0; i < n; ++i)
      solved(i, j) = (*s.tables)(s.rows[static_cast<std::size_t>(i)].levels, point);
    s.variance[j] = (*s.tables)(point, point);
  }
  s.factor.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(solved);
  s.variance -= solved.colwise().squaredNorm().transpose();
}

void GaussianProcess::add(const Observed& row) {
  State& s = *state_;
  const auto n = static_cast<Eigen::Index>(s.rows.size());
  s.make_room(n + 1);
  VectorXd of_row(n);
  for (Eigen::Index i = 0; i < n; ++i)
    of_row[i] = (*s.tables)(s.rows[static_cast<std::size_t>(i)].levels, row.levels);
  s.factor.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(of_row);
  const double left =
      (*s.tables)(row.levels, row.levels) + s.tables->noise() + row.doubt - of_row.squaredNorm();
  const double diagonal = std::sqrt(std::max(left, least_noise));
  s.factor.row(n).head(n) = of_row.transpose();
  s.factor(n, n) = diagonal;
  for (Eigen::Index j = 0; j < s.variance.size(); ++j) {
    const double rest =
        (*s.tables)(row.levels, s.points[static_cast<std::size_t>(j)]) - of_row.dot(s.solved.col(j).head(n));
    s.solved(n, j) = rest / diagonal;
    s.variance[j] -= s.solved(n, j) * s.solved(n, j);
  }
  s.rows.push_back(row);
}

std::vector<Predicted> GaussianProcess::predict(std::span<const double> values) const {
  const State& s = *state_;
  const auto n = static_cast<Eigen::Index>(s.rows.size());
  VectorXd weights = Eigen::Map<const VectorXd>(values.data(), n);
  s.factor.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(weights);
  std::vector<Predicted> result(s.points.size());
  for (std::size_t j = 0; j < result.size(); ++j) {
    const auto column = static_cast<Eigen::Index>(j);
    result[j].mean = s.solved.col(column).head(n).dot(weights);
    result[j].variance = std::max(s.variance[column], 0.0) + s.tables->noise();
  }
  return result;
}

}  // namespace hone::tuner
