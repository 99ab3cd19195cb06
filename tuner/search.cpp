#include "tuner/search.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "hone/error.hpp"

namespace hone::tuner {

namespace {

/// A fixed order, whatever it is told.
class Ordered final : public Search {
 public:
  explicit Ordered(std::vector<std::size_t> order) : order_(std::move(order)) {}
  std::optional<std::size_t> ask() override {
    return next_ < order_.size() ? std::optional(order_[next_++]) : std::nullopt;
  }
  void tell(std::size_t, std::optional<double>) override {}

 private:
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_search(const std::string& name, std::size_t space,
                                    const std::vector<std::size_t>& first, bool cut_by_budget,
                                    std::uint64_t seed) {
  if (name != "auto" && name != "exhaustive" && name != "random")
    throw Error(ErrorCode::invalid,
                "no search is called " + name + "; there are auto, exhaustive and random");
  std::vector<bool> taken(space, false);
  std::vector<std::size_t> order;
  for (const std::size_t index : first) {
    if (!taken[index]) order.push_back(index);
    taken[index] = true;
  }
  const auto rest = static_cast<std::ptrdiff_t>(order.size());
  for (std::size_t i = 0; i < space; ++i)
    if (!taken[i]) order.push_back(i);
  if (name == "random" || (name == "auto" && cut_by_budget))
    std::shuffle(order.begin() + rest, order.end(), std::mt19937_64(seed));
  return std::make_unique<Ordered>(std::move(order));
}

}  // namespace hone::tuner
