#include "db/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "db/space.hpp"
#include "db/sqlite.hpp"
#include "db/tokens.hpp"

namespace hone::db {
namespace {

constexpr int steps_between_looks = 1000;
constexpr std::int64_t steps_to_evaluate = 1'000'000;
// From one point to the next: what a space that its constraints rule out may cost, a second or two.
constexpr std::int64_t steps_to_a_point = 300'000'000;
constexpr std::size_t most_statements = 4096;

// The last wall: what is prepared here reads no table and calls nothing that the tokenizer has not let
// through.
int authorize(void*, int action, const char* table, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
      return SQLITE_OK;
    case SQLITE_READ:
      return std::strncmp(table, "sqlite_", 7) == 0 ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

// SQLite's one-argument min() and max() are aggregates.
void refuse_aggregate(sqlite3_context* context, int, sqlite3_value**) {
  sqlite3_result_error(context, "min() and max() take two or more values", -1);
}

std::string why_not_integer(int type, const std::vector<std::pair<std::string, Value>>& read) {
  std::string line = type == SQLITE_NULL    ? "is NULL (a division by zero?)"
                     : type == SQLITE_FLOAT ? "is no integer (it has a fraction, or went past 64 bits)"
                                            : "is a text, not an integer";
  const char* separator = " where ";
  for (const auto& [name, value] : read) {
    line += separator + name + '=' + to_string(value);
    separator = " ";
  }
  return line;
}

/// Digits alone need no SQL: many of a manifest's expressions are a number.
std::optional<std::int64_t> integer_literal(std::string_view expression) {
  std::int64_t value = 0;
  const char* const end = expression.data() + expression.size();
  if (expression.empty() || expression.front() == '-') return std::nullopt;
  const auto [stop, error] = std::from_chars(expression.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

struct Evaluator::State {
  /// A compiled expression: `?i` stands for the i-th of the names that it reads.
  struct Compiled {
    std::vector<std::string> names;
    sqlite::Statement statement;
  };

  // Looked up without a copy of what is looked for.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    std::size_t operator()(std::span<const std::string> texts) const {
      std::size_t hash = texts.size();
      for (const std::string& text : texts) hash = hash * 31 + (*this)(std::string_view(text));
      return hash;
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
    bool operator()(std::span<const std::string> a, std::span<const std::string> b) const {
      return std::ranges::equal(a, b);
    }
  };

  State() : connection("expressions", sqlite::Mode::memory) {
    sqlite3* const handle = connection.get();
    connection.execute("PRAGMA automatic_index=OFF");
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 24);
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 24);
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    constexpr int pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    for (const char* name : {"min", "max"}) {
      sqlite3_create_function_v2(handle, name, 1, pure, nullptr, refuse_aggregate, nullptr, nullptr, nullptr);
    }
    sqlite3_create_function_v2(handle, "holds", 2, pure, this, holds, nullptr, nullptr, nullptr);
    sqlite3_set_authorizer(handle, authorize, nullptr);
    sqlite3_progress_handler(handle, steps_between_looks, count_steps, this);
  }

  static int count_steps(void* state) {
    std::int64_t& left = static_cast<State*>(state)->steps_left;
    left -= steps_between_looks;
    return left < 0;
  }

  // holds(i, value): whether constraint i is not zero. Stops the query where it is not an integer.
  static void holds(sqlite3_context* context, int, sqlite3_value** values) {
    if (sqlite3_value_type(values[1]) == SQLITE_INTEGER) {
      sqlite3_result_int(context, sqlite3_value_int64(values[1]) != 0);
      return;
    }
    static_cast<State*>(sqlite3_user_data(context))->failed =
        static_cast<std::size_t>(sqlite3_value_int(values[0]));
    sqlite3_result_error(context, "not an integer", -1);
  }

  sqlite::Statement prepare(const std::string& sql) { return {connection.get(), connection.file(), sql}; }

  /// Lets SQLite work for an expression: what fails is the expression's fault. An evaluation inside an
  /// enumeration's visit leaves the enumeration's steps alone.
  template <typename Body>
  auto work(std::string_view expression, std::int64_t steps, const Body& body) {
    struct Restore {
      std::int64_t& value;
      std::int64_t before;
      ~Restore() { value = before; }
    } restore{steps_left, std::exchange(steps_left, steps)};
    try {
      return body();
    } catch (const Error&) {
      const int code = sqlite3_errcode(connection.get());
      if (code == SQLITE_NOMEM) throw;
      throw expression_error(expression, code == SQLITE_INTERRUPT
                                             ? fmt::format("took more than {} steps", steps)
                                             : sqlite3_errmsg(connection.get()));
    }
  }

  /// `text` is what an Error quotes.
  template <typename Key>
  Compiled& keep(std::unordered_map<Key, Compiled, Hash, Equal>& where, Key key, std::string_view text,
                 std::vector<std::string> names, const std::string& sql) {
    sqlite::Statement statement = work(text, steps_to_evaluate, [&] { return prepare("SELECT " + sql); });
    if (where.size() >= most_statements) where.clear();
    return where.emplace(std::move(key), Compiled{std::move(names), std::move(statement)}).first->second;
  }

  /// An expression's SQL, its names put among `names`.
  static std::string sql_of(std::string_view expression, std::vector<std::string>& names) {
    return render(expression, [&](const std::string& name) {
      auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) at = names.insert(names.end(), name);
      return fmt::format("?{}", at - names.begin() + 1);
    });
  }

  Compiled& compile(std::string_view expression) {
    const auto found = compiled.find(expression);
    if (found != compiled.end()) return found->second;
    std::vector<std::string> names;
    const std::string sql = sql_of(expression, names);
    return keep(compiled, std::string(expression), expression, std::move(names), sql);
  }

  Compiled& compile(std::span<const std::string> expressions) {
    const auto found = compiled_lists.find(expressions);
    if (found != compiled_lists.end()) return found->second;
    std::vector<std::string> names;
    std::string sql;
    for (const std::string& expression : expressions) {
      compile(expression);  // each is one by itself
      sql += fmt::format("{}({})", sql.empty() ? "" : ", ", sql_of(expression, names));
    }
    return keep(compiled_lists, std::vector<std::string>(expressions.begin(), expressions.end()),
                expressions.front(), std::move(names), sql);
  }

  /// Binds what the statement reads; a name that is not among `values`, if one is not.
  static const std::string* bind(Compiled& compiled, const Values& values) {
    compiled.statement.reset();
    int index = 0;
    for (const std::string& name : compiled.names) {
      const auto value = values.find(name);
      if (value == values.end()) return &name;
      compiled.statement.bind_value(++index, value->second);
    }
    return nullptr;
  }

  /// The Error for the constraint at which a space's query stopped.
  Error failure(const Space& space, const std::vector<std::string>& constraints) {
    const std::string& constraint = constraints[failed];
    return work(constraint, steps_to_a_point, [&] {
      sqlite::Statement query = prepare(space.failure_query(failed));
      space.bind(query);
      if (!query.step()) return expression_error(constraint, "is not an integer at some point");
      const int type = query.text(0) == "null"   ? SQLITE_NULL
                       : query.text(0) == "real" ? SQLITE_FLOAT
                                                 : SQLITE_TEXT;
      return expression_error(constraint, why_not_integer(type, space.point(failed, query)));
    });
  }

  sqlite::Connection connection;
  std::unordered_map<std::string, Compiled, Hash, Equal> compiled;
  std::unordered_map<std::vector<std::string>, Compiled, Hash, Equal> compiled_lists;
  std::int64_t steps_left = 0;
  std::size_t failed = SIZE_MAX;  ///< the constraint that stopped the query
};

Evaluator::Evaluator() : state_(std::make_unique<State>()) {}
Evaluator::~Evaluator() = default;

std::set<std::string> Evaluator::names(std::string_view expression, const std::set<std::string>& known) {
  State::Compiled& compiled = state_->compile(expression);
  for (const std::string& name : compiled.names) {
    if (!known.contains(name)) throw unknown_name(expression, name, known);
  }
  return {compiled.names.begin(), compiled.names.end()};
}

std::int64_t Evaluator::evaluate(std::string_view expression, const Values& names) {
  if (const auto literal = integer_literal(expression)) return *literal;
  State::Compiled& compiled = state_->compile(expression);
  if (const std::string* missing = State::bind(compiled, names)) {
    std::set<std::string> known;
    for (const auto& [other, ignored] : names) known.insert(other);
    throw unknown_name(expression, *missing, known);
  }
  sqlite::Statement& statement = compiled.statement;
  const int type = state_->work(expression, steps_to_evaluate, [&] {
    statement.step();
    return statement.type(0);
  });
  const std::int64_t result = sqlite3_column_int64(statement.get(), 0);
  if (type == SQLITE_INTEGER) return result;
  std::vector<std::pair<std::string, Value>> read;
  for (const std::string& name : compiled.names) read.emplace_back(name, names.find(name)->second);
  throw expression_error(expression, why_not_integer(type, read));
}

std::vector<std::optional<std::int64_t>> Evaluator::evaluate_each(std::span<const std::string> expressions,
                                                                  const Values& names) {
  std::vector<std::optional<std::int64_t>> values(expressions.size());
  if (expressions.empty()) return values;
  try {
    State::Compiled& compiled = state_->compile(expressions);
    if (State::bind(compiled, names) != nullptr) return values;
    sqlite::Statement& statement = compiled.statement;
    state_->work(expressions.front(), steps_to_evaluate, [&] { return statement.step(); });
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto column = static_cast<int>(i); statement.type(column) == SQLITE_INTEGER)
        values[i] = sqlite3_column_int64(statement.get(), column);
  } catch (const Error&) {
    values.assign(expressions.size(), std::nullopt);  // one fails, or together they take too many steps
  }
  return values;
}

bool Evaluator::enumerate(const std::vector<Parameter>& parameters,
                          const std::vector<std::string>& constraints, const Values& constants,
                          const std::function<bool(const Values&)>& visit, std::int64_t steps) {
  // Each one alone first: an error then quotes the one that is wrong.
  for (const std::string& constraint : constraints) state_->compile(constraint);
  const Space space(parameters, constraints, constants);
  const std::string all = fmt::format("{}", fmt::join(constraints, "` and `"));
  sqlite::Statement query = state_->work(all, steps_to_a_point, [&] {
    sqlite::Statement statement = state_->prepare(space.query());
    space.bind(statement);
    return statement;
  });

  Values point;
  for (const Parameter& parameter : parameters) {
    point[parameter.name] = parameter.values.empty() ? Value() : parameter.values.front();
  }
  struct Loop {
    const std::vector<Value>& values;
    Value& current;
    std::int64_t index = 0;
  };
  std::vector<Loop> loops;
  for (const std::size_t i : space.loops()) {
    loops.push_back({parameters[i].values, point.find(parameters[i].name)->second});
  }
  for (;;) {
    state_->failed = SIZE_MAX;
    bool more = false;
    try {
      const std::int64_t most = std::min(steps, steps_to_a_point);
      more = state_->work(all, most, [&] {
        const bool found = query.step();
        steps -= most - state_->steps_left;
        return found;
      });
    } catch (const Error&) {
      if (state_->failed < constraints.size()) throw state_->failure(space, constraints);
      if (sqlite3_errcode(state_->connection.get()) != SQLITE_INTERRUPT) throw;
      if (steps < steps_to_a_point) return false;
      throw expression_error(all,
                             fmt::format("no point found in {} steps; take values away, or put first the "
                                         "parameters that rule out most",
                                         steps_to_a_point));
    }
    if (!more) return true;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const std::int64_t index = sqlite3_column_int64(query.get(), static_cast<int>(i));
      if (index == loops[i].index) continue;
      loops[i].index = index;
      loops[i].current = loops[i].values[static_cast<std::size_t>(index)];
    }
    if (!visit(point)) return true;
  }
}

}  // namespace hone::db
