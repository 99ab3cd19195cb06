// The verbs of the command, and how a word is turned into the one it names.
#pragma once

#include <string>
#include <vector>

#include "tools/options.hpp"

namespace hone::tools {

/// Each takes what follows its name and returns the exit code; exceptions are reported by run().
int devices(const Arguments& arguments);
int tune(const Arguments& arguments);
int query(const Arguments& arguments);
int query_winners(const Arguments& arguments);
int query_bands(const Arguments& arguments);
int query_portfolio(const Arguments& arguments);
int query_ladder(const Arguments& arguments);
int query_pivot(const Arguments& arguments);
int query_gain(const Arguments& arguments);
int query_importance(const Arguments& arguments);
int query_runs(const Arguments& arguments);
int query_failures(const Arguments& arguments);
int query_misses(const Arguments& arguments);
int query_stale(const Arguments& arguments);
int explain(const Arguments& arguments);
int report(const Arguments& arguments);
int compile(const Arguments& arguments);
int verify(const Arguments& arguments);
int database(const Arguments& arguments);
int database_check(const Arguments& arguments);
int database_merge(const Arguments& arguments);
int database_export(const Arguments& arguments);
int database_import(const Arguments& arguments);
int database_pack(const Arguments& arguments);
int database_backup(const Arguments& arguments);
int database_diff(const Arguments& arguments);
int database_peak(const Arguments& arguments);
int worker(const Arguments& arguments);
int completion(const Arguments& arguments);
int complete(const Arguments& arguments);
int manual(const Arguments& arguments);
int version();

struct Verbs;

struct Verb {
  std::string name;
  std::string summary;  ///< empty: not listed
  int (*run)(const Arguments& arguments);
  const Verbs& (*verbs)() = nullptr;  ///< of a word with verbs of its own
};

/// Verbs under one word: `` for the command itself, `query`, `db`.
struct Verbs {
  std::string word;
  std::string example;
  std::string about;
  std::vector<Verb> verbs;

  /// Runs the verb that `arguments` start with, or shows help. Throws Error{invalid} for any other word.
  int run(const Arguments& arguments) const;
  std::string help() const;
};

/// The tables behind `hone`, `hone query` and `hone db`.
const Verbs& command_verbs();
const Verbs& query_verbs();
const Verbs& database_verbs();

/// The whole command: never throws.
int run(const Arguments& arguments) noexcept;

}  // namespace hone::tools
