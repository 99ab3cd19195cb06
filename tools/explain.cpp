// hone explain: which rung answers a call, and why.
#include "runtime/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <set>

#include "db/store.hpp"
#include "runtime/plural.hpp"
#include "tools/answer_record.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/least_alignment.hpp"
#include "tools/no_answer.hpp"
#include "tools/outdated.hpp"
#include "tools/parse.hpp"
#include "tools/recorded_devices.hpp"
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
    json += fmt::format(
        "{}{{\"configuration\": {}, \"median_ns\": {}, \"behind\": {}, \"tied\": {}, \"barrier\": {}, "
        "\"measurement\": {}}}",
        json.empty() ? "" : ", ", json_string(rival.configuration.text()),
        json_number(rival.measurement.statistics.median), json_number(rival.behind), rival.tied,
        rival.barrier.empty() ? "null" : json_string(rival.barrier), json_string(rival.measurement.id.hex()));
  return {"[" + json + "]", plural(rivals.size(), "other")};
}

Structured stale_cell(const std::vector<Changed>& changes) {
  std::string json, text;
  for (const Changed& changed : changes) {
    json += fmt::format("{}{{\"changed\": {}, \"before\": {}, \"now\": {}, \"serves\": {}}}",
                        json.empty() ? "" : ", ", json_string(changed.what), json_string(changed.before),
                        json_string(changed.now), changed.serves);
    text += (text.empty() ? "" : " ") + changed.what;
  }
  return {"[" + json + "]", text};
}

/// What has changed since the run, a line each.
void add_staleness(Lines& lines, const std::vector<Changed>& changes) {
  const auto shown = [](const std::string& text) { return db::Id::parse(text) ? id_text(text) : text; };
  for (const Changed& changed : changes)
    lines.add("changed since:",
              fmt::format("{}, from {} to {}", changed.what,
                          changed.before.empty() ? "unknown" : shown(changed.before), shown(changed.now)));
}

/// The record behind a pick; nothing where there is none.
void add_record(Lines& lines, const Pick& pick, const std::optional<AnswerRecord>& record) {
  if (const PickStatistics times = pick.statistics(); times.n > 0) {
    // A band's measurement is the one at which it is the furthest from the best.
    const char* what = pick.rung() == Rung::band ? "at worst:" : "measured:";
    std::string line = fmt::format("{} (quartiles {} to {}, n {})", nanoseconds_text(times.median),
                                   nanoseconds_text(times.q1), nanoseconds_text(times.q3), times.n);
    if (pick.rung() != Rung::exact && record && record->problem) line += " on " + record->problem->text();
    lines.add(what, line);
  }
  if (!record) return;
  lines.add("measurement:", record->measurement.id.hex());
  if (const auto& run = record->run)
    lines.add("run:", fmt::format("{}, {}: {}", run->id.hex(), date_text(run->started_us), run->command));
  add_staleness(lines, record->changed);
  add_rivals(lines, record->rivals);
}

std::vector<Column> columns() {
  return {{"rung", "rung"},
          {"answered", "answers"},
          {"database", "database", Unit::none, true, true},
          {"why", "why", Unit::none, false, true, true},
          {"configuration", ""},
          {"median_ns", "", Unit::nanoseconds},
          {"spread", "", Unit::ratio},
          {"n", ""},
          {"minimum_ns", "", Unit::nanoseconds},
          {"q1_ns", "", Unit::nanoseconds},
          {"q3_ns", "", Unit::nanoseconds},
          {"needs_alignment", ""},
          {"grid", ""},
          {"block", ""},
          {"cluster", ""},
          {"dynamic_shared_bytes", "", Unit::bytes},
          {"workspace_bytes", "", Unit::bytes},
          {"overlaps", ""},
          {"build_key", "", Unit::id},
          {"measurement", "", Unit::id},
          {"taken_us", "", Unit::date},
          {"run", "", Unit::id},
          {"command", ""},
          {"stale", ""},
          {"to_be_exact", ""},
          {"rivals", ""}};
}

/// What only the rung that answers has.
void add_answer(Table::Row& row, const Pick& pick, const std::optional<AnswerRecord>& record) {
  const auto put = [&](std::string_view key, Cell cell) { row.emplace_back(key, std::move(cell)); };
  put("configuration", std::string(pick.configuration()));
  if (const PickStatistics times = pick.statistics(); times.n > 0) {
    put("median_ns", times.median);
    put("spread", (times.q3 - times.q1) / times.median);
    put("n", static_cast<std::int64_t>(times.n));
    put("minimum_ns", times.minimum);
    put("q1_ns", times.q1);
    put("q3_ns", times.q3);
  }
  put("needs_alignment", static_cast<std::int64_t>(pick.alignment()));
  put("grid", extent_text(pick.grid()));
  put("block", extent_text(pick.block()));
  put("cluster", extent_text(pick.cluster()));
  put("dynamic_shared_bytes", std::int64_t{pick.dynamic_shared_bytes()});
  put("workspace_bytes", static_cast<std::int64_t>(pick.workspace_bytes()));
  put("overlaps", yes_no(pick.overlaps()));
  put("build_key", std::string(pick.build_key()));
  if (!record) return;
  put("measurement", record->measurement.id.hex());
  put("taken_us", record->measurement.taken_us);
  if (record->run) {
    put("run", record->run->id.hex());
    put("command", record->run->command);
  }
  put("stale", stale_cell(record->changed));
  put("rivals", rivals_cell(record->rivals));
}

/// The devices that are meant. Where none of this machine is, the error says which of the database's would
/// be, and how to ask for those.
std::vector<DeviceInfo> devices_of(const Options& options, const std::string& type) {
  const std::string choice = options.get("device", "");
  try {
    return choose_devices(choice);
  } catch (const Error& error) {
    std::vector<std::string> held;
    std::string file;
    try {
      db::Store store = db::Store::open(database_of(options), db::Access::read_only);
      file = store.file().string();
      for (const auto& [id, device] : find_devices(store, choice))
        held.push_back(fmt::format("{} ({} {})", device.name, device.backend, device.architecture));
    } catch (const std::exception&) {
      // No database, or no index of a device here: there is nothing to add.
    }
    if (held.empty()) throw;
    Arguments words{options.positional()[0], "--device", choice, "--dtype", type, "--shape",
                    options.get("shape", "")};
    throw Error(ErrorCode::environment,
                fmt::format("{}; {} holds {}, which {} not in this machine; `{}` shows what {} tuned for",
                            error.what(), file, fmt::join(held, ", "), held.size() == 1 ? "is" : "are",
                            command_line_on(file, "query winners", words),
                            held.size() == 1 ? "it was" : "they were"));
  }
}

/// The databases that were asked.
std::set<std::string> files_of(const Explanation& explanation) {
  std::set<std::string> files;
  for (const LadderStep& step : explanation.steps)
    if (!step.database.empty()) files.insert(step.database);
  return files;
}

/// What they hold of the call's kind that another source has put out of service.
void tell_outdated_in(const std::set<std::string>& files, const NamedCall& call, const db::Id& device,
                      const std::vector<std::string>& templates) {
  for (const std::string& file : files) {
    db::Store store = db::Store::open(file, db::Access::read_only);
    if (store.templates(call.family).empty()) continue;
    tell_outdated(store, Filters(store, call.family, {call.element_type}, device),
                  template_folders(templates));
  }
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
  options.list("templates", "DIR",
               "winners whose source in DIR, or in HONE_TEMPLATES, has changed are stale and do not answer");
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
  const std::vector<std::string> templates = options.all("templates");
  open.template_folders = named_folders(templates);
  open.record_misses = false;
  const DeviceInfo device = devices_of(options, type).front();
  Runtime runtime = Runtime::open(open);
  const Problem problem = runtime.family(options.positional()[0]).problem(type, shape, layout);
  const Explanation explanation = hone::explain(runtime, problem, static_cast<std::size_t>(alignment));
  const Pick& pick = explanation.pick;

  const NamedCall call{options.positional()[0], type, layout, shape, alignment};
  const std::optional<AnswerRecord> record = record_of(pick, call, device, templates);
  const std::set<std::string> files = files_of(explanation);
  const std::optional<std::int64_t> least =
      pick ? std::nullopt : least_alignment(call, device, template_folders(templates));
  const bool misaligned = least && alignment < *least;
  const bool is_exact = pick.rung() == Rung::exact;
  // No tuning helps a call that no configuration can serve.
  const std::string exactly = is_exact || misaligned ? "" : remedy(options, type, layout);
  Table table("explain", columns());
  const auto add_step = [&](const LadderStep& step) {
    Table::Row row{{"rung", std::string(name(step.rung))},
                   {"answered", yes_no(step.answered)},
                   {"database", step.database},
                   {"why", step.why}};
    if (!exactly.empty()) row.emplace_back("to_be_exact", exactly);
    if (step.answered && !pick.empty()) add_answer(row, pick, record);
    table.add(row, {{"answered", step.answered ? Mark::best : Mark::none}});
  };
  for (const LadderStep& step : explanation.steps) add_step(step);
  if (pick.rung() == Rung::none) {
    db::Filter filter{call.family, type, regime, device.record().id(), {}};
    filter.problem = [&](const db::Problem& each) { return each.layout == layout; };
    // One database of one is said above the rows.
    add_step({Rung::none, false, files.size() == 1 ? *files.begin() : "",
              misaligned ? fmt::format("{} {} needs pointers aligned to {} bytes; these are aligned to {}",
                                       call.family, type, *least, alignment)
                         : why_nothing(pick, files, filter, templates)});
  }
  table.print(style);
  if (style.format == TableStyle::Format::table) {
    Lines lines(width_for_people(style));
    if (pick.empty()) {
      lines.add("answer:", fmt::format("{}: nothing to do, nothing is launched", name(pick.rung())));
    } else if (!pick) {
      lines.add("answer:", name(pick.rung()));
    } else {
      lines.add("answer:", name(pick.rung()));
      lines.add("device:", std::string(runtime.device()));
      lines.add("configuration:", std::string(pick.configuration()));
      lines.add("grid, block:", extent_text(pick.grid()) + ", " + extent_text(pick.block()));
      if (pick.cluster() != one_block) lines.add("cluster:", extent_text(pick.cluster()));
      if (pick.workspace_bytes() > 0)
        lines.add("workspace:", fmt::format("{} bytes, lent by the caller", pick.workspace_bytes()));
      add_record(lines, pick, record);
    }
    if (!exactly.empty()) lines.add_command("to be exact:", exactly);
    write_out('\n' + lines.text());
  }
  tell_outdated_in(files, call, device.record().id(), templates);
  return pick ? exit_done : exit_failed;
}

}  // namespace hone::tools
