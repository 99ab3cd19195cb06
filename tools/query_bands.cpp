// hone query bands: which configuration serves which working sets.
#include <fmt/format.h>

#include <algorithm>

#include "db/cover.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/outdated.hpp"
#include "tools/swept_table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/working_sets.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return swept_columns({{"lo_bytes", "from", Unit::bytes},
                        {"hi_bytes", "to", Unit::bytes},
                        {"regret", "regret", Unit::ratio},
                        {"points", "points"},
                        {"extrapolated", "extrapolated"}},
                       {{"first_bytes", "", Unit::bytes},
                        {"last_bytes", "", Unit::bytes},
                        {"worst_bytes", "", Unit::bytes},
                        {"resolution", ""}});
}

Table::Row band_row(const db::Band& band, const db::Device& device) {
  Table::Row row = swept_row(band, device);
  row.insert(row.end(),
             {{"lo_bytes", band.lo},
              {"hi_bytes", band.hi == db::no_end ? Cell(Structured{"null", "no end"}) : Cell(band.hi)},
              {"regret", band.regret},
              {"points", band.points},
              {"extrapolated", std::string(band.extrapolated())},
              {"first_bytes", band.first},
              {"last_bytes", band.last},
              {"worst_bytes", band.worst},
              {"resolution", band.resolution}});
  return row;
}

/// Whether working sets of problems within any of the bounds, which grow with their dimension, lie in the
/// band.
bool serves(const db::Band& band, const std::vector<std::vector<Bound>>& shapes, WorkingSets& working_sets) {
  const auto bytes = [&](const std::vector<Bound>& bounds, std::int64_t Bound::*extent) {
    db::Problem problem{band.family, band.element_type, band.layout, {}};
    for (const Bound& bound : bounds) problem.dimensions.emplace_back(bound.dimension, bound.*extent);
    return working_sets.of(problem);
  };
  return shapes.empty() || std::any_of(shapes.begin(), shapes.end(), [&](const std::vector<Bound>& bounds) {
           const auto least = bytes(bounds, &Bound::lowest), most = bytes(bounds, &Bound::highest);
           return least && most && *least < band.hi && *most >= band.lo;
         });
}

}  // namespace

int query_bands(const Arguments& arguments) {
  Options options(
      "query bands", "[FAMILY]", "hone query bands relu --dtype f16",
      "Shows which configuration serves which working sets, for each alignment that pointers may have, and "
      "its "
      "regret: how much slower than the best it is at the worst of the points measured in the band.");
  add_filter_flags(options);
  options.list("shape", "BOUNDS",
               "only bands that serve problems within bounds: numel=1048576 or numel=1024:4096");
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters given(options, store);
  const Filters filters = given.of_any_shape();
  WorkingSets working_sets(store);
  Table table("bands", columns());
  for (const db::Band& band : store.bands(filters.filter())) {
    if (filters.match(band) && serves(band, given.shapes(), working_sets))
      table.add(band_row(band, filters.device(band.device)));
  }
  table.print(style);
  if (table.empty()) {
    write_error(
        fmt::format("{}: no band matches; `hone tune FAMILY --sweep 1MiB:1GiB` finds those of a family of "
                    "one dimension; `hone query portfolio` shows what others have",
                    store.file().string()));
  }
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
