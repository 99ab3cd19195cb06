// hone report: everything measured, as one HTML file.
#include <fmt/format.h>

#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/output_file.hpp"
#include "tools/report_page.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {

int report(const Arguments& arguments) {
  Options options(
      "report", "[FAMILY]", "hone report relu -o report.html",
      "Writes one HTML file that needs no network: per family and device every candidate over the working "
      "set "
      "with the winners and bands, the roofline, ladders, heat maps of two parameters chosen in the page, "
      "failures by kind, and the runs that all of it comes from. Measurements of sources that have changed "
      "since are counted and left out. A file of that name is replaced once the new one is whole.");
  options.value("output,o", "FILE", "the file to write; without it report.html");
  add_filter_flags(options);
  add_bounds_flag(options);
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const std::filesystem::path file = options.get("output", "report.html");

  PageFile output(file);  // before the work, which takes a while
  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Report gathered = gather_report(store, filters);
  for (const std::string& line : gathered.unreadable) write_error(fmt::format("left out: {}", line));
  if (gathered.measurements == 0) {
    write_error(
        fmt::format("{}: no measurement matches; `hone tune FAMILY` takes them, and {} was not written",
                    store.file().string(), file.string()));
    return exit_failed;
  }
  const std::string page = report_page(gathered);
  output.publish(page);
  write_out(fmt::format("{}: {:.2f} MB, measurements: {}, of runs: {}\n", file.string(),
                        static_cast<double>(page.size()) / 1e6, gathered.measurements, gathered.runs.size()));
  return exit_done;
}

}  // namespace hone::tools
