// hone explain: which rung answers a call, and why.
#include "runtime/explain.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "db/store.hpp"
#include "runtime/plan.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/parse.hpp"
#include "tools/rivals.hpp"
#include "tools/staleness.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/text.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

/// The command that makes the answer exact.
std::string remedy(const Options& options, const std::string& type, const std::string& layout) {
  Arguments words{options.positional()[0], "--dtype", type, "--shape", options.get("shape", "")};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {std::string("--") + flag, value});
  };
  add("layout", layout);
  for (const char* flag : {"device", "regime", "db"}) add(flag, options.get(flag, ""));
  for (const std::string& folder : options.all("templates")) add("templates", folder);
  return command_line("tune", words);
}

constexpr std::array<std::uint32_t, 3> one_block{1, 1, 1};

std::string extent_text(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("{}x{}x{}", extent[0], extent[1], extent[2]);
}

/// Lines of a label and a text, which fit the terminal.
class Lines {
 public:
  explicit Lines(std::size_t width) : width_(width) {}
  void add(const std::string& label, const std::string& text) { text_ += labelled(label, text, width_); }
  /// A command goes on behind a backslash, as a shell takes it.
  void add_command(const std::string& label, const std::string& command) {
    text_ += labelled(label, command, width_, " \\");
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::size_t width_;
  std::string text_;
};

/// The best of the race behind an answer that the call could have, the nearest behind it, and what is faster
/// but cannot serve the call.
constexpr std::size_t shown_rivals = 3;

void add_rivals(Lines& lines, const std::vector<Rival>& rivals) {
  std::size_t runners_up = 0, barred = 0;
  for (const Rival& rival : rivals) {
    if (!rival.barrier.empty()) {
      // Slower ones would not be missed.
      if (rival.behind < 0 && !rival.tied && barred++ < shown_rivals)
        lines.add("excluded:", fmt::format("{}, {:.1f} % faster: {}", rival.configuration.text(),
                                           -100 * rival.behind, rival.barrier));
    } else if (runners_up++ < shown_rivals) {
      lines.add("runner-up:",
                fmt::format("{}, {:.1f} % {}{}", rival.configuration.text(), 100 * std::abs(rival.behind),
                            rival.behind < 0 ? "faster" : "slower", rival.tied ? ": it ties" : ""));
    }
  }
}

Structured rivals_cell(const std::vector<Rival>& rivals) {
  std::string json;
  for (const Rival& rival : rivals)
    json += fmt::format("{}{{\"configuration\": {}, \"behind\": {}, \"tied\": {}, \"barrier\": {}}}",
                        json.empty() ? "" : ", ", json_string(rival.configuration.text()),
                        json_number(rival.behind), rival.tied,
                        rival.barrier.empty() ? "null" : json_string(rival.barrier));
  return {"[" + json + "]", fmt::format("{} others", rivals.size())};
}

/// The measurement behind a pick, where it was taken from, and its run.
struct Record {
  db::Store store;
  db::Measurement measurement;
  std::optional<db::Run> run;
};

std::optional<Record> record_of(const Pick& pick) {
  const auto id = db::Id::parse(pick.measurement());
  if (!id) return std::nullopt;
  db::Store store = db::Store::open(pick.database(), db::Access::read_only);
  auto measurement = store.measurement(*id);
  if (!measurement) return std::nullopt;
  auto run = store.run(measurement->run);
  return Record{std::move(store), std::move(*measurement), std::move(run)};
}

std::vector<Rival> rivals_in(Record& record, const DeviceInfo& device, const Options& options,
                             const tuner::Shape& shape, std::int64_t alignment) {
  const Family family = tuned_family(record.store, options.positional()[0]);
  db::Evaluator evaluator;
  return rivals_of(
      record.store, record.measurement,
      {family, device,
       make_problem(evaluator, family, options.get("dtype", ""), options.get("layout", ""), shape),
       alignment});
}

/// What has changed since the run, a line each.
void add_staleness(Lines& lines, db::Store& store, const db::Run& run, const Options& options) {
  Staleness staleness(store, template_folders(options.all("templates")));
  for (const Changed& changed : staleness.of_environment(run.device, run.environment))
    lines.add("changed since:",
              fmt::format("{}, from {} to {}", changed.what,
                          changed.before.empty() ? "unknown" : changed.before, changed.now));
}

/// The record behind a pick; nothing where there is none.
void add_record(Lines& lines, const Pick& pick, std::optional<Record>& record, const Options& options) {
  if (const PickStatistics times = pick.statistics(); times.n > 0) {
    // A band's measurement is the one at which it is the furthest from the best.
    const char* what = pick.rung() == Rung::band ? "at worst:" : "measured:";
    lines.add(what, fmt::format("{} (quartiles {} to {}, n {})", nanoseconds_text(times.median),
                                nanoseconds_text(times.q1), nanoseconds_text(times.q3), times.n));
  }
  if (!record) return;
  lines.add("measurement:", record->measurement.id.hex());
  if (const auto& run = record->run) {
    lines.add("run:", fmt::format("{}, {}: {}", run->id.hex(), date_text(run->started_us), run->command));
    add_staleness(lines, record->store, *run, options);
  }
}

/// The databases that were asked.
std::set<std::string> files_of(const Explanation& explanation) {
  std::set<std::string> files;
  for (const LadderStep& step : explanation.steps)
    if (!step.database.empty()) files.insert(step.database);
  return files;
}

/// What they hold of the family that another source has put out of service.
void tell_outdated_in(const std::set<std::string>& files, const Options& options) {
  for (const std::string& file : files) {
    db::Store store = db::Store::open(file, db::Access::read_only);
    if (store.templates(options.positional()[0]).empty()) continue;
    tell_outdated(store, Filters(store, options.positional()[0], {options.get("dtype", "")}),
                  template_folders(options.all("templates")));
  }
}

/// Why nothing answers, without the command, which has a line of its own.
std::string why_nothing(const Pick& pick, const std::set<std::string>& files, const Options& options,
                        db::Regime regime) {
  const db::Id device = choose_devices(options.get("device", "")).front().record().id();
  const db::Filter filter{options.positional()[0], options.get("dtype", ""), regime, device, {}};
  bool tuned = false, any = false;
  for (const std::string& file : files) {
    db::Store store = db::Store::open(file, db::Access::read_only);
    tuned = tuned || !store.measurements(filter).empty();
    any = any || !store.winners(filter).empty();
    for (const db::CheckedDefault& checked : store.defaults(device))
      any = any || (checked.family == filter.family && checked.element_type == filter.element_type);
  }
  const std::string what = filter.family + " " + filter.element_type;
  if (!tuned && !any)
    return fmt::format("{} was never tuned on this device in the {} regime", what, db::name(regime));
  if (!any) return fmt::format("no winner of {} is of the newest sources", what);
  const std::string why(pick.why());
  return why.substr(0, why.find("; run `"));
}

}  // namespace

int explain(const Arguments& arguments) {
  Options options(
      "explain", "FAMILY", "hone explain relu --dtype f16 --shape numel=1000000",
      "Says which rung of the ladder answers a call, why the better ones did not, which record is behind "
      "the answer, what has changed since, who came next in its race and what faster ones this call "
      "excludes, and which command makes it exact. Exit code 1 when there is no answer.");
  add_device_flag(options);
  options.value("dtype", "T", "the call's element type")
      .value("shape", "M=1024,N=64", "the call's dimensions")
      .value("layout", "L", "the call's layout, where the family has several")
      .value("alignment", "N",
             "bytes that every pointer of the call is aligned to (256, what allocators give)")
      .value("regime", "R", "steady or cold: which winners are asked");
  add_database_flag(options);
  options.list("templates", "DIR", "winners whose source in DIR has changed are stale");
  add_format_flag(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = format_style(options);
  if (!options.has("dtype") || !options.has("shape")) {
    throw Error(ErrorCode::invalid,
                "explain: a call has a type and a shape; give `--dtype f16 --shape numel=1000000`");
  }
  const std::string type = options.get("dtype", "");
  const std::string layout = options.get("layout", "");
  const tuner::Shape shape = parse_shape("--shape", options.get("shape", ""));
  const std::int64_t alignment = parse_integer("--alignment", options.get("alignment", "256"), 1, 4096);
  if ((alignment & (alignment - 1)) != 0) {
    throw Error(ErrorCode::invalid, fmt::format("--alignment: {} is not a power of two", alignment));
  }

  OpenOptions open;
  if (options.has("db")) open.databases = {options.get("db", "")};
  open.device = options.get("device", "");
  const db::Regime regime = parse_regime("--regime", options.get("regime", "steady"));
  open.regime = regime == db::Regime::cold ? Regime::cold : Regime::steady;
  open.template_folders = options.all("templates");
  open.record_misses = false;
  Runtime runtime = Runtime::open(open);
  const Problem problem = runtime.family(options.positional()[0]).problem(type, shape, layout);
  const Explanation explanation = hone::explain(runtime, problem, static_cast<std::size_t>(alignment));
  const Pick& pick = explanation.pick;

  Table table("explain", {{"rung", "rung"},
                          {"answered", "answers"},
                          {"database", "database", Unit::none, true, true},
                          {"why", "why", Unit::none, false, true},
                          {"configuration", ""},
                          {"median_ns", "", Unit::nanoseconds},
                          {"needs_alignment", ""},
                          {"grid", ""},
                          {"block", ""},
                          {"cluster", ""},
                          {"dynamic_shared_bytes", "", Unit::bytes},
                          {"workspace_bytes", "", Unit::bytes},
                          {"overlaps", ""},
                          {"build_key", "", Unit::id},
                          {"measurement", "", Unit::id},
                          {"rivals", ""}});
  std::optional<Record> record = record_of(pick);
  std::vector<Rival> rivals;
  if (record)
    rivals = rivals_in(*record, choose_devices(options.get("device", "")).front(), options, shape, alignment);
  for (const LadderStep& step : explanation.steps) {
    Table::Row row{{"rung", std::string(name(step.rung))},
                   {"answered", yes_no(step.answered)},
                   {"database", step.database},
                   {"why", step.why}};
    if (step.answered) {
      row.emplace_back("configuration", std::string(pick.configuration()));
      if (pick.statistics().n > 0) row.emplace_back("median_ns", pick.statistics().median);
      row.emplace_back("needs_alignment", static_cast<std::int64_t>(pick.alignment()));
      row.emplace_back("grid", extent_text(pick.grid()));
      row.emplace_back("block", extent_text(pick.block()));
      row.emplace_back("cluster", extent_text(pick.cluster()));
      row.emplace_back("dynamic_shared_bytes", std::int64_t{pick.dynamic_shared_bytes()});
      row.emplace_back("workspace_bytes", static_cast<std::int64_t>(pick.workspace_bytes()));
      row.emplace_back("overlaps", yes_no(pick.overlaps()));
      row.emplace_back("build_key", std::string(pick.build_key()));
      row.emplace_back("measurement", std::string(pick.measurement()));
      row.emplace_back("rivals", rivals_cell(rivals));
    }
    table.add(row);
  }
  table.print(style);
  const std::set<std::string> files = files_of(explanation);
  if (style.format == TableStyle::Format::table) {
    Lines lines(width_for_people(style));
    if (pick.empty()) {
      lines.add("answer:", fmt::format("{}: nothing to do, nothing is launched", name(pick.rung())));
    } else if (!pick) {
      lines.add("answer:",
                fmt::format("{}: {}", name(pick.rung()), why_nothing(pick, files, options, regime)));
    } else {
      lines.add("answer:", name(pick.rung()));
      lines.add("device:", std::string(runtime.device()));
      lines.add("configuration:", std::string(pick.configuration()));
      lines.add("grid, block:", extent_text(pick.grid()) + ", " + extent_text(pick.block()));
      if (pick.cluster() != one_block) lines.add("cluster:", extent_text(pick.cluster()));
      if (pick.workspace_bytes() > 0)
        lines.add("workspace:", fmt::format("{} bytes, lent by the caller", pick.workspace_bytes()));
      add_record(lines, pick, record, options);
      add_rivals(lines, rivals);
    }
    if (pick.rung() != Rung::exact) lines.add_command("to be exact:", remedy(options, type, layout));
    write_out('\n' + lines.text());
  }
  tell_outdated_in(files, options);
  return pick ? exit_done : exit_failed;
}

}  // namespace hone::tools
