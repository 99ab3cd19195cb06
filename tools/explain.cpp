// hone explain: which rung answers a call, and why.
#include "runtime/explain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "db/store.hpp"
#include "runtime/plan.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/measured.hpp"
#include "tools/parse.hpp"
#include "tools/rivals.hpp"
#include "tools/staleness.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
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

std::string extent_text(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("{}x{}x{}", extent[0], extent[1], extent[2]);
}

/// The best of the race behind an answer that the call could have, the nearest behind it, and what is faster
/// but cannot serve the call.
constexpr std::size_t shown_rivals = 3;

std::string rivals_text(const std::vector<Rival>& rivals) {
  std::string text;
  std::size_t runners_up = 0, barred = 0;
  for (const Rival& rival : rivals) {
    if (!rival.barrier.empty()) {
      // Slower ones would not be missed.
      if (rival.behind < 0 && !rival.tied && barred++ < shown_rivals)
        text += fmt::format("excluded:       {}, {:.1f} % faster: {}\n", rival.configuration.text(),
                            -100 * rival.behind, rival.barrier);
    } else if (runners_up++ < shown_rivals) {
      text += fmt::format("runner-up:      {}, {:.1f} % {}{}\n", rival.configuration.text(),
                          100 * std::abs(rival.behind), rival.behind < 0 ? "faster" : "slower",
                          rival.tied ? ": it ties" : "");
    }
  }
  return text;
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
std::string staleness_text(db::Store& store, const db::Run& run, const Options& options) {
  std::string text;
  Staleness staleness(store, template_folders(options.all("templates")));
  for (const Changed& changed : staleness.of_environment(run.device, run.environment))
    text += fmt::format("changed since:  {}, from {} to {}\n", changed.what,
                        changed.before.empty() ? "unknown" : changed.before, changed.now);
  return text;
}

/// The record behind a pick, as lines for people; nothing where there is none.
std::string record_text(const Pick& pick, std::optional<Record>& record, const Options& options) {
  std::string text;
  if (const PickStatistics times = pick.statistics(); times.n > 0) {
    // A band's measurement is the one at which it is the furthest from the best.
    const char* what = pick.rung() == Rung::band ? "at worst:" : "measured:";
    text += fmt::format("{:<15} {} (quartiles {} to {}, n {})\n", what, nanoseconds_text(times.median),
                        nanoseconds_text(times.q1), nanoseconds_text(times.q3), times.n);
  }
  if (!record) return text;
  text += fmt::format("measurement:    {}\n", record->measurement.id.hex());
  if (const auto& run = record->run)
    text += fmt::format("run:            {}, {}: {}\n{}", run->id.hex(), date_text(run->started_us),
                        run->command, staleness_text(record->store, *run, options));
  return text;
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
                          {"dynamic_shared_bytes", "", Unit::bytes},
                          {"overlaps", ""},
                          {"build_key", ""},
                          {"measurement", ""},
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
      row.emplace_back("dynamic_shared_bytes", std::int64_t{pick.dynamic_shared_bytes()});
      row.emplace_back("overlaps", Structured{pick.overlaps() ? "true" : "false", ""});
      row.emplace_back("build_key", std::string(pick.build_key()));
      row.emplace_back("measurement", std::string(pick.measurement()));
      row.emplace_back("rivals", rivals_cell(rivals));
    }
    table.add(row);
  }
  table.print(style);
  if (style.format == TableStyle::Format::table) {
    std::string text = fmt::format("\nanswer:         {}", name(pick.rung()));
    if (pick.empty()) {
      text += ": nothing to do, nothing is launched\n";
    } else if (!pick) {
      text += fmt::format(": {}\n", pick.why());
    } else {
      text += fmt::format("\ndevice:         {}\nconfiguration:  {}\ngrid, block:    {}, {}\n{}",
                          runtime.device(), pick.configuration(), extent_text(pick.grid()),
                          extent_text(pick.block()), record_text(pick, record, options));
      text += rivals_text(rivals);
    }
    if (pick.rung() != Rung::exact)
      text += fmt::format("to be exact:    {}\n", remedy(options, type, layout));
    write_out(text);
  }
  return pick ? exit_done : exit_failed;
}

}  // namespace hone::tools
