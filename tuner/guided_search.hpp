// A search guided by a model: a Gaussian process of the logarithm of time (gaussian_process.hpp) says what to
// expect of each point and how far off that may be; the point with the most expected improvement comes next
// (Jones, Schonlau and Welch 1998). Improvement is over the best of each alignment class that the point would
// serve, summed. What is on its way counts as what the model expects of it, until it is told (Ginsbourger, Le
// Riche and Carraro 2010). What was measured elsewhere says where to look first.
#pragma once

#include <map>
#include <set>

#include "tuner/class_best.hpp"
#include "tuner/gaussian_process.hpp"
#include "tuner/search.hpp"
#include "tuner/unasked.hpp"

namespace hone::tuner {

class GuidedSearch final : public Search {
 public:
  GuidedSearch(SearchSpace& space, SearchSettings settings);
  std::optional<std::size_t> ask() override;
  void tell(std::size_t point, std::optional<double> nanoseconds) override;
  std::string ended() const override { return ended_; }

 private:
  enum class State { asked, passed, failed };
  struct Row {
    std::size_t point = 0;
    State state = State::asked;
    double log_time = 0;  ///< what is expected, until it is told
  };
  /// What logarithms of time are to the model: about zero, of about one's size.
  struct Unit {
    double zero = 0, one = 1, failed = 0;
  };
  struct Scored {
    std::size_t point = 0;
    double gain = 0, expected = 0;  ///< both of logarithms of time
  };

  std::optional<std::size_t> spread_out();
  Unit unit() const;
  std::vector<std::size_t> rows_for_model(std::size_t most);
  std::vector<std::size_t> points_for_model();
  void know_elsewhere(std::vector<std::size_t> points);
  double faster_elsewhere(std::size_t point) const;
  Observed observed(const Row& row, const Unit& unit) const;
  void rebuild();
  std::vector<Scored> score() const;
  bool worth_going_on(std::vector<Scored> scored);
  std::size_t take(std::size_t point, double expected);

  SearchSpace& space_;
  SearchSettings settings_;
  Unasked unasked_;
  std::vector<Row> rows_;
  std::vector<std::size_t> row_of_;  ///< by point
  std::size_t passed_ = 0, told_ = 0;
  std::set<std::int64_t> classes_;
  ClassBest best_;  ///< logarithms of time
  std::size_t improved_at_ =
      0;  ///< how many were told when the best of a class last became better by the tie bound

  /// What was measured in one place elsewhere.
  struct Place {
    std::vector<Observed> rows;      ///< some of them, with times in units of their deviation
    std::map<Levels, double> times;  ///< in the same units; infinite: it failed
    std::vector<double> sorted;      ///< of those that passed
    GaussianProcess model;           ///< of the rows, for points that were not measured there
    bool fitted = false;
    double share_faster(double time) const;
  };
  std::vector<Place> elsewhere_;
  std::vector<std::vector<double>>
      faster_elsewhere_;  ///< by point and place: the share of what was faster there; empty: not asked yet

  GaussianProcess model_;
  std::vector<std::size_t> model_rows_;  ///< places in rows_
  std::vector<std::size_t> model_points_;
  std::size_t spread_out_until_ = 0;  ///< rows
  std::size_t rebuild_at_ = 0;        ///< rows
  bool stale_ = true;
  std::string ended_;
};

}  // namespace hone::tuner
