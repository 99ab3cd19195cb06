// hone query portfolio: among which configurations those for problems never tuned are chosen.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "db/ties.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/portfolio_fit.hpp"
#include "tools/swept_table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return swept_columns({{"problems", "problems"},
                        {"fastest", "fastest"},
                        {"ties", "ties"},
                        {"regret", "regret", Unit::ratio},
                        {"fit_error", "fit error", Unit::ratio}});
}

/// The members of one portfolio, and what takes them together.
class Portfolio {
 public:
  Portfolio(db::Store& store, const db::Device& device, std::span<const db::PortfolioMember> members)
      : device_(device),
        members_(members),
        errors_(fit_errors(store, tuned_family(store, members.front().family), device, members)) {
    for (const db::PortfolioMember& member : members)
      for (const auto& cost : member.costs) {
        const auto [best, is_new] = best_.try_emplace(cost.problem, cost.median);
        best->second = std::min(best->second, cost.median);
      }
  }

  void add_to(Table& table) const {
    for (std::size_t i = 0; i < members_.size(); ++i) table.add(row(members_[i], errors_[i]));
  }

 private:
  /// At how many problems a member ties with the fastest, which it is not.
  std::int64_t ties(const db::PortfolioMember& member) const {
    return std::count_if(member.costs.begin(), member.costs.end(), [&](const auto& cost) {
      const double best = best_.at(cost.problem);
      return cost.median > best && cost.median <= best * (1 + db::least_tie_bound);
    });
  }

  Table::Row row(const db::PortfolioMember& member, const std::optional<double>& error) const {
    Table::Row row = swept_row(member, device_);
    row.insert(row.end(), {{"problems", static_cast<std::int64_t>(member.costs.size())},
                           {"fastest", member.points},
                           {"ties", ties(member)},
                           {"regret", member.regret}});
    if (error) row.emplace_back("fit_error", *error);
    return row;
  }

  const db::Device& device_;
  std::span<const db::PortfolioMember> members_;
  std::vector<std::optional<double>> errors_;
  std::map<db::Id, double> best_;  ///< medians, by problem
};

auto identity(const db::PortfolioMember& member) {
  return std::tie(member.device, member.regime, member.family, member.element_type, member.layout,
                  member.alignment);
}

}  // namespace

int query_portfolio(const Arguments& arguments) {
  Options options(
      "query portfolio", "[FAMILY]", "hone query portfolio addmm_glu --dtype f16",
      "Shows among which configurations the one for a problem never tuned is chosen, for each alignment that "
      "pointers may have: at how many problems each was measured, at how many of those it is the fastest of "
      "all and at how many more within 2 % of that, and its regret: how much slower than the best it is at "
      "the worst of the problems where it is the fastest. The fit error is the median by which its time at a "
      "problem differs from what is predicted from the other problems alone (cross-validation, leaving one "
      "out).");
  add_filter_flags(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  std::vector<db::PortfolioMember> members = store.portfolio(filters.filter());
  std::erase_if(members, [&](const db::PortfolioMember& member) { return !filters.match(member); });
  Table table("portfolio", columns());
  for (auto first = members.begin(); first != members.end();) {
    const auto last = std::find_if(first, members.end(),
                                   [&](const auto& each) { return identity(each) != identity(*first); });
    Portfolio(store, filters.device(first->device), {first, last}).add_to(table);
    first = last;
  }
  table.print(style);
  if (table.empty())
    write_error(fmt::format("{}: no portfolio matches; `hone tune FAMILY --portfolio` races one",
                            store.file().string()));
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
