#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "db/bands.hpp"
#include "db/canonical.hpp"
#include "db/derived.hpp"
#include "db/portfolio.hpp"
#include "db/sources.hpp"
#include "db/store_state.hpp"

namespace hone::db {
namespace {

// `SELECT <row> FROM <table> WHERE <key>=?1`, read by `read`.
template <typename Record>
std::optional<Record> by_id(Database& database, const Table& table, const Id& id,
                            Record (*read)(const sqlite::Statement&, int)) {
  std::optional<Record> found;
  database.read([&] {
    sqlite::Query query(database.connection(),
                        fmt::format("SELECT {} FROM {} t WHERE t.id=?1", table.select("t"), table.name));
    query->bind(1, id);
    if (query->step()) found = read(*query, 0);
  });
  return found;
}

bool matches(const Filter& filter, const Problem& problem) {
  return (filter.family.empty() || filter.family == problem.family) &&
         (filter.element_type.empty() || filter.element_type == problem.element_type) &&
         (!filter.problem || filter.problem(problem));
}

/// Visits those that match.
void each_problem(Database& database, const Filter& filter,
                  const std::function<void(const Id&, Problem&&)>& visit) {
  std::string sql = "SELECT " + tables::problem.select("p") + " FROM problem p WHERE true";
  if (!filter.family.empty()) sql += " AND p.family=?1";
  if (!filter.element_type.empty()) sql += " AND p.element_type=?2";
  sqlite::Query query(database.connection(), sql);
  if (!filter.family.empty()) query->bind(1, std::string_view(filter.family));
  if (!filter.element_type.empty()) query->bind(2, std::string_view(filter.element_type));
  while (query->step()) {
    Problem problem = rows::problem(*query);
    if (matches(filter, problem)) visit(query->id(0), std::move(problem));
  }
}

/// Finds measurements: through the problems that the filter leaves, unless it leaves all.
class Finder {
 public:
  Finder(Database& database, const Filter& filter) : database_(database), filter_(filter) {
    conditions_ = "m.taken_us>=?5";
    if (filter.run) conditions_ += " AND m.run=?1";
    if (filter.device || filter.run) conditions_ += " AND m.device=?2";
    if (filter.regime) conditions_ += " AND m.regime=?3";
    if (filter.failed) conditions_ += " AND m.outcome NOT IN ('ok','raced_out','pruned')";
    if (filter.raced) conditions_ += " AND m.stage='race' AND m.outcome='ok'";
  }

  using Visit = std::function<void(MeasuredRow&&)>;

  void measurements(const Visit& visit) {
    if (!find_device_of_run()) return;
    const std::string sql = selected() + "measurement m ";
    if (filter_.failed) return each(sql + "INDEXED BY measurement_failed WHERE " + conditions_, visit);
    if (!of_problems() && !filter_.run) return each(sql + "WHERE " + conditions_, visit);
    for (const Id& problem : problems())
      each(sql + through() + "WHERE m.problem=?4 AND " + conditions_, visit, problem);
  }

  void choices(const Visit& visit) {
    if (!find_device_of_run()) return;
    each(selected() + "decision d CROSS JOIN measurement m ON m.id=d.chosen WHERE " + conditions_ +
             " ORDER BY d.decided_us DESC,d.id",
         visit);
  }

  /// Of measurements: each run's first that matches, of the problems that match in turn.
  std::set<Id> runs() {
    const std::vector<Id> of = problems();
    std::set<Id> found;
    sqlite::Query run(database_.connection(), "SELECT id,device FROM run");
    sqlite::Query any(database_.connection(),
                      "SELECT 1 FROM measurement m INDEXED BY measurement_problem WHERE m.problem=?4 AND "
                      "m.device=?2 AND m.run=?1 AND " +
                          conditions_ + " LIMIT 1");
    while (run->step()) {
      const Id id = run->id(0), device = run->id(1);
      if ((filter_.run && *filter_.run != id) || (filter_.device && *filter_.device != device)) continue;
      const bool matches = std::any_of(of.begin(), of.end(), [&](const Id& problem) {
        any->reset();
        bind(*any, problem);
        return any->bind(1, id).bind(2, device).step();
      });
      if (matches) found.insert(id);
    }
    return found;
  }

 private:
  static std::string selected() { return "SELECT m.device," + tables::measurement.select("m") + " FROM "; }

  bool of_problems() const {
    return !filter_.family.empty() || !filter_.element_type.empty() || filter_.problem;
  }

  const char* through() const {
    return filter_.raced && !filter_.run ? "INDEXED BY measurement_raced "
                                         : "INDEXED BY measurement_problem ";
  }

  /// Its measurements are all of one device, by which the index has them. False: nothing can match.
  bool find_device_of_run() {
    if (!filter_.run) return true;
    sqlite::Query query(database_.connection(), "SELECT device FROM run WHERE id=?1");
    query->bind(1, *filter_.run);
    if (!query->step() || (filter_.device && *filter_.device != query->id(0))) return false;
    filter_.device = query->id(0);
    return true;
  }

  std::vector<Id> problems() {
    std::vector<Id> found;
    each_problem(database_, filter_, [&](const Id& id, Problem&&) { found.push_back(id); });
    return found;
  }

  void bind(sqlite::Statement& query, const std::optional<Id>& problem) const {
    query.bind(5, filter_.since_us);
    if (filter_.run) query.bind(1, *filter_.run);
    if (filter_.device) query.bind(2, *filter_.device);
    if (filter_.regime) query.bind(3, name(*filter_.regime));
    if (problem) query.bind(4, *problem);
  }

  void each(const std::string& sql, const Visit& visit, const std::optional<Id>& problem = std::nullopt) {
    sqlite::Query query(database_.connection(), sql);
    bind(*query, problem);
    while (query->step()) {
      Measurement m = rows::measurement(*query, 1);
      const Problem& on = lookup_->problem(m.problem);
      if (!problem && !matches(filter_, on)) continue;
      const Configuration& configuration = lookup_->configuration(m.configuration);
      visit({std::move(m), on, configuration, lookup_->device(query->id(0)), lookup_});
    }
  }

  Database& database_;
  Filter filter_;
  std::string conditions_;
  const std::shared_ptr<Lookup> lookup_ =
      std::make_shared<Lookup>(database_);  ///< what is found points into it
};

Measurement with_samples(const sqlite::Statement& row, int first) {
  Measurement m = rows::measurement(row, first);
  m.samples = rows::samples(row, first);
  if (static_cast<std::int64_t>(m.samples.size()) != m.statistics.n)
    throw sqlite::damaged(row.file(), "a measurement does not have as many samples as it says");
  return m;
}

std::string content_of_text(const sqlite::Statement& row, int first) {
  verify(row, tables::text, first);
  return std::string(row.text(first + 1));
}

CodeObject code_object_of(const sqlite::Statement& row) {
  verify(row, tables::code_object);
  const auto bytes = row.bytes(5);
  if (row.id(4) != canonical::hash128({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
    throw sqlite::damaged(row.file(), "a code object does not match its hash");
  }
  return {row.id(0),
          std::string(row.text(1)),
          std::string(row.text(2)),
          std::string(row.text(3)),
          {bytes.begin(), bytes.end()}};
}

Winner winner(const sqlite::Statement& row, Lookup& lookup) {
  Winner w;
  w.device = row.id(0);
  const auto regime = parse_regime(row.text(1));
  if (!regime) throw sqlite::damaged(row.file(), "a winner has an unknown regime");
  w.regime = *regime;
  w.problem = lookup.problem(row.id(2));
  w.alignment = row.integer(3);
  w.configuration = lookup.configuration(row.id(4));
  w.needs_alignment = row.integer(5);
  w.source_hash = row.id(6);
  w.build_key = row.optional_id(7).value_or(Id{});
  w.environment = row.id(8);
  w.run = row.id(9);
  w.measurement = row.id(10);
  w.decision = row.id(11);
  w.statistics = {row.integer(12), row.real(13), row.real(14), row.real(15), row.real(16)};
  w.tied = row.integer(17);
  w.decided_us = row.integer(18);
  require(w.alignment > 0 && w.needs_alignment > 0, row, "a winner's alignment is not above zero");
  return w;
}

}  // namespace

std::vector<MeasuredRow> in_order_taken(std::vector<MeasuredRow>&& rows) {
  const auto earlier = [](const MeasuredRow& a, const MeasuredRow& b) {
    return std::tie(a.measurement.taken_us, a.measurement.id) <
           std::tie(b.measurement.taken_us, b.measurement.id);
  };
  if (std::is_sorted(rows.begin(), rows.end(), earlier)) return std::move(rows);
  // Rows point to what they share, so that none can take another's place.
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return earlier(rows[a], rows[b]); });
  std::vector<MeasuredRow> sorted;
  sorted.reserve(rows.size());
  for (const std::size_t i : order) sorted.push_back(std::move(rows[i]));
  return sorted;
}

std::vector<std::pair<Id, Device>> Store::devices() {
  std::vector<std::pair<Id, Device>> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(), "SELECT " + tables::device.select("t") +
                                                   " FROM device t ORDER BY t.backend,t.name,t.id");
    while (query->step()) {
      Device device = rows::device(*query);
      const Id id = device.id();
      found.emplace_back(id, std::move(device));
    }
  });
  return found;
}

std::optional<Device> Store::device(const Id& id) {
  return by_id(state_->database, tables::device, id, rows::device);
}

std::optional<Peak> Store::peak(const Id& device, const std::string& kind) {
  std::optional<Peak> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(), "SELECT " + tables::peak.select("t") +
                                                   " FROM peak t WHERE t.device=?1 AND t.kind=?2"
                                                   " ORDER BY t.given_us DESC LIMIT 1");
    query->bind(1, device).bind(2, kind);
    if (!query->step()) return;
    verify(*query, tables::peak);
    found = Peak{device, kind, query->integer(3)};
  });
  return found;
}

std::optional<Environment> Store::environment(const Id& id) {
  return by_id(state_->database, tables::environment, id, rows::environment);
}

std::optional<Run> Store::run(const Id& id) {
  return by_id(state_->database, tables::run, id, rows::run);
}

std::vector<std::pair<Run, std::string>> Store::runs() {
  std::vector<std::pair<Run, std::string>> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(), "SELECT " + tables::run.select("t") +
                                                   " FROM run t ORDER BY t.started_us DESC, t.id DESC");
    sqlite::Query end(database.connection(),
                      "SELECT " + tables::run_end.select("e") +
                          " FROM run_end e WHERE e.run=?1 ORDER BY e.ended_us DESC LIMIT 1");
    while (query->step()) {
      Run run = rows::run(*query);
      end->reset();
      std::string how;
      if (end->bind(1, run.id).step()) {
        verify(*end, tables::run_end);
        how = end->text(2);
      }
      found.emplace_back(std::move(run), std::move(how));
    }
  });
  return found;
}

std::vector<Winner> Store::winners(const Filter& filter) {
  std::vector<Winner> found;
  Database& database = state_->database;
  database.read([&] {
    Lookup lookup(database);
    derived::read(database, derived::winners(), filter.device, filter.regime,
                  [&](const sqlite::Statement& row) {
                    Winner one = winner(row, lookup);
                    if (matches(filter, one.problem) && (!filter.run || *filter.run == one.run))
                      found.push_back(std::move(one));
                  });
  });
  std::sort(found.begin(), found.end(), [](const Winner& a, const Winner& b) {
    return std::tie(a.problem, a.device, a.regime, a.alignment) <
           std::tie(b.problem, b.device, b.regime, b.alignment);
  });
  return found;
}

void Store::winner_blocks(const Id& device, Regime regime,
                          const std::function<void(const WinnerBlock&)>& visit) {
  Database& database = state_->database;
  database.read([&] {
    derived::read(database, derived::winner_blocks(), device, regime,
                  [&](const sqlite::Statement& row) { visit(WinnerBlock(row)); });
  });
}

namespace {

/// What follows from sweeps and is of the filter, in no order.
template <typename Derived>
std::vector<Derived> read_swept(Database& database, const derived::DerivedTable& table, const Filter& filter,
                                Derived (*read)(const sqlite::Statement&, Lookup&)) {
  std::vector<Derived> found;
  database.read([&] {
    Lookup lookup(database);
    derived::read(database, table, filter.device, filter.regime, [&](const sqlite::Statement& row) {
      Derived one = read(row, lookup);
      if ((filter.family.empty() || filter.family == one.family) &&
          (filter.element_type.empty() || filter.element_type == one.element_type) &&
          (!filter.run || *filter.run == one.run))
        found.push_back(std::move(one));
    });
  });
  return found;
}

auto class_of(const Swept& derived) {
  return std::tie(derived.device, derived.regime, derived.family, derived.element_type, derived.layout,
                  derived.alignment);
}

}  // namespace

std::vector<Band> Store::bands(const Filter& filter) {
  std::vector<Band> found = read_swept(state_->database, derived::bands(), filter, bands::read);
  std::sort(found.begin(), found.end(), [](const Band& a, const Band& b) {
    return class_of(a) != class_of(b) ? class_of(a) < class_of(b) : a.lo < b.lo;
  });
  return found;
}

std::vector<PortfolioMember> Store::portfolio(const Filter& filter) {
  std::vector<PortfolioMember> found =
      read_swept(state_->database, derived::portfolio(), filter, portfolio::read);
  std::sort(found.begin(), found.end(), [](const PortfolioMember& a, const PortfolioMember& b) {
    if (class_of(a) != class_of(b)) return class_of(a) < class_of(b);
    return a.points != b.points ? a.points > b.points : a.measurement < b.measurement;
  });
  return found;
}

std::int64_t portfolios_of(const std::vector<PortfolioMember>& members) {
  std::set<Id> sweeps;  // each gives one
  for (const PortfolioMember& member : members) sweeps.insert(member.sweep);
  return static_cast<std::int64_t>(sweeps.size());
}

std::vector<SweepPoint> Store::sweep_points(const Id& device, const Id& problem, Regime regime) {
  std::vector<SweepPoint> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(),
                        "SELECT " + tables::sweep_point.select("t") +
                            " FROM sweep_point t WHERE t.device=?1 AND t.problem=?2 AND t.regime=?3"
                            " ORDER BY t.taken_us,t.id");
    query->bind(1, device).bind(2, problem).bind(3, name(regime));
    while (query->step()) found.push_back(rows::sweep_point(*query));
  });
  return found;
}

std::optional<SweepPoint> Store::sweep_point(const Id& id) {
  return by_id(state_->database, tables::sweep_point, id, rows::sweep_point);
}

std::vector<Sweep> Store::sweeps(const Filter& filter) {
  std::vector<Sweep> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(), "SELECT s.device," + tables::sweep.select("s") +
                                                   " FROM sweep s ORDER BY s.swept_us DESC,s.id DESC");
    while (query->step()) {
      Sweep one = rows::sweep(*query, 1);
      if ((!filter.device || *filter.device == query->id(0)) &&
          (!filter.regime || *filter.regime == one.regime) &&
          (filter.family.empty() || filter.family == one.family) &&
          (filter.element_type.empty() || filter.element_type == one.element_type) &&
          (!filter.run || *filter.run == one.run))
        found.push_back(std::move(one));
    }
  });
  return found;
}

std::vector<CheckedDefault> Store::defaults(const Id& device) {
  std::vector<CheckedDefault> found;
  Database& database = state_->database;
  database.read([&] {
    Lookup lookup(database);
    sqlite::Query query(database.connection(),
                        "SELECT " + tables::checked_default.select("t") +
                            " FROM checked_default t WHERE t.device=?1"
                            " ORDER BY t.family,t.element_type,t.layout,t.checked_us DESC");
    query->bind(1, device);
    while (query->step()) {
      verify(*query, tables::checked_default);
      CheckedDefault one;
      one.device = query->id(0);
      one.family = query->text(1);
      one.element_type = query->text(2);
      one.layout = query->text(3);
      const bool have_newer = !found.empty() && found.back().family == one.family &&
                              found.back().element_type == one.element_type &&
                              found.back().layout == one.layout;
      if (have_newer) continue;
      one.configuration = lookup.configuration(query->id(5));
      one.needs_alignment = query->integer(6);
      require(one.needs_alignment > 0, *query, "a default's alignment is not above zero");
      one.source_hash = query->id(7);
      one.build_key = query->optional_id(8).value_or(Id{});
      if (current_source(database, one.configuration.family, one.configuration.variant) == one.source_hash) {
        found.push_back(std::move(one));
      }
    }
  });
  return found;
}

bool Store::has_older_sources(const std::string& family) {
  bool found = false;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(),
                        "SELECT 1 FROM template_use WHERE ?1='' OR family=?1 "
                        "GROUP BY family,variant HAVING count(DISTINCT template)>1 LIMIT 1");
    found = query->bind(1, family).step();
  });
  return found;
}

std::vector<Template> Store::templates(const std::string& family) {
  std::vector<Template> found;
  Database& database = state_->database;
  database.read([&] {
    require_sound_uses(database);
    const int use = tables::template_use.width();
    const int text = use + tables::template_.width();
    sqlite::Query query(
        database.connection(),
        fmt::format("SELECT {},{},{},{} FROM template_use u LEFT JOIN template t ON t.id=u.template "
                    "LEFT JOIN text m ON m.id=t.manifest LEFT JOIN text s ON s.id=t.source WHERE u.family=?1 "
                    "ORDER BY u.variant, u.used_us DESC, u.template DESC",
                    tables::template_use.select("u"), tables::template_.select("t"), tables::text.select("m"),
                    tables::text.select("s")));
    query->bind(1, family);
    while (query->step()) {
      verify(*query, tables::template_use);
      if (!found.empty() && found.back().variant == query->text(1)) continue;
      for (const int id : {use, text, text + tables::text.width()})
        require(query->type(id) != SQLITE_NULL, *query,
                "a template that was in use, or its text, is missing");
      verify(*query, tables::template_, use);
      verify(*query, tables::text, text);
      verify(*query, tables::text, text + tables::text.width());
      Template one;
      one.family = query->text(use + 1);
      one.variant = query->text(use + 2);
      one.source_hash = query->id(use + 3);
      one.manifest = query->text(text + 1);
      one.source = query->text(text + tables::text.width() + 1);
      found.push_back(std::move(one));
    }
  });
  return found;
}

std::optional<std::string> Store::text(const Id& id) {
  return by_id(state_->database, tables::text, id, content_of_text);
}

std::optional<CodeObject> Store::code_object(const Id& build_key) {
  std::optional<CodeObject> found;
  Database& database = state_->database;
  const std::string all = "SELECT " + tables::code_object.select("t") + " FROM code_object t";
  database.read([&] {
    sqlite::Query query(database.connection(), all + " WHERE t.build_key=?1");
    query->bind(1, build_key);
    if (query->step()) {
      found = code_object_of(*query);
      return;
    }
    // Either it was never there, or a flipped bit in the index or in its key hides it.
    sqlite::Query row(database.connection(), all + " NOT INDEXED");
    while (row->step()) {
      if (code_object_of(*row).build_key == build_key) {
        throw sqlite::damaged(database.connection().file(), "the index of the code objects lacks one");
      }
    }
  });
  return found;
}

std::vector<MeasuredRow> Store::measurements(const Filter& filter) {
  std::vector<MeasuredRow> found;
  each_measurement(filter, [&](MeasuredRow&& row) { found.push_back(std::move(row)); });
  return in_order_taken(std::move(found));
}

void Store::each_measurement(const Filter& filter, const std::function<void(MeasuredRow&&)>& visit) {
  Finder finder(state_->database, filter);
  state_->database.read([&] { finder.measurements(visit); });
}

std::set<Id> Store::runs_of(const Filter& filter) {
  Finder finder(state_->database, filter);
  std::set<Id> found;
  state_->database.read([&] { found = finder.runs(); });
  return found;
}

std::vector<MeasuredRow> Store::choices(const Filter& filter) {
  Finder finder(state_->database, filter);
  std::vector<MeasuredRow> found;
  state_->database.read([&] { finder.choices([&](MeasuredRow&& row) { found.push_back(std::move(row)); }); });
  return found;
}

std::vector<Problem> Store::problems(const Filter& filter) {
  std::vector<Problem> found;
  Database& database = state_->database;
  database.read([&] {
    each_problem(database, filter,
                 [&](const Id&, Problem&& problem) { found.push_back(std::move(problem)); });
  });
  return found;
}

std::vector<std::string> Store::families() {
  std::vector<std::string> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(), "SELECT DISTINCT family FROM problem ORDER BY family");
    while (query->step()) found.emplace_back(query->text(0));
  });
  return found;
}

std::optional<Problem> Store::problem(const Id& id) {
  return by_id(state_->database, tables::problem, id, rows::problem);
}

std::optional<Configuration> Store::configuration(const Id& id) {
  return by_id(state_->database, tables::configuration, id, rows::configuration);
}

std::optional<Measurement> Store::measurement(const Id& id) {
  return by_id(state_->database, tables::measurement, id, with_samples);
}

std::optional<Decision> Store::decision(const Id& id) {
  return by_id(state_->database, tables::decision, id, rows::decision);
}

std::vector<Measurement> Store::known(const Id& device, const Id& problem, const Id& source_hash,
                                      Regime regime) {
  std::vector<Measurement> found;
  Database& database = state_->database;
  database.read([&] {
    sqlite::Query query(database.connection(),
                        "SELECT " + tables::measurement.select("m") +
                            " FROM measurement m JOIN run r ON r.id=m.run"
                            " WHERE m.device=?1 AND m.problem=?2 AND m.source_hash=?3 AND m.regime=?4"
                            " ORDER BY r.started_us DESC, r.id DESC, m.taken_us, m.id");
    query->bind(1, device).bind(2, problem).bind(3, source_hash).bind(4, name(regime));
    while (query->step()) {
      found.push_back(rows::measurement(*query));
    }
  });
  return found;
}

}  // namespace hone::db
