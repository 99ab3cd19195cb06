#include "tools/verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/error.hpp"
#include "runtime/spelling.hpp"
#include "tools/exit_code.hpp"
#include "tools/terminal.hpp"
#include "tools/text.hpp"

namespace hone::tools {

const Verbs& command_verbs() {
  static const Verbs verbs{
      "",
      "hone tune relu --dtype f16 --shape numel=16777216",
      "hone tunes GPU kernels on the machine that will run them and remembers the answer.",
      {{"devices", "what can be tuned here, with its limits", devices},
       {"tune", "find the fastest configuration of a family for problems", tune},
       {"query", "ask the database: winners, bands, ladders, pivots, gains, importance, runs, …", query,
        query_verbs},
       {"explain", "which rung answers a call, and why", explain},
       {"report", "everything measured, as one HTML file", report},
       {"compile", "compile every configuration for an architecture, no GPU needed", compile},
       {"verify", "check every configuration, measure nothing", verify},
       {"db", "check databases, copy, merge, compare, export and import them", database, database_verbs},
       {"completion", "write the completions of bash or zsh", completion},
       {"man", "write the manual pages", manual},
       {"complete", "", complete},
       {"worker", "", worker}}};
  return verbs;
}

namespace {

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h" || word == "help";
}

}  // namespace

int Verbs::run(const Arguments& arguments) const {
  const std::string prefix = word.empty() ? "hone" : "hone " + word;
  if (arguments.empty()) {
    throw Error(ErrorCode::invalid, fmt::format("no verb given; `{} --help` lists them", prefix));
  }
  const std::string& name = arguments[0];
  Arguments rest(arguments.begin() + 1, arguments.end());
  if (asks_for_help(name)) {
    if (rest.empty()) {
      write_out(help());
      return exit_done;
    }
    rest.push_back("--help");
    return run(rest);
  }
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == name; });
  if (found != verbs.end()) return found->run(rest);
  std::vector<std::string> known;
  for (const Verb& verb : verbs) {
    if (!verb.summary.empty()) known.push_back(verb.name);
  }
  const std::string where = word.empty() ? "" : word + ": ";
  if (name.starts_with('-')) {
    known = {"--help"};
    if (word.empty()) known.emplace_back("--version");
    throw Error(ErrorCode::invalid, fmt::format("{}no option `{}` before a verb{}", where, name,
                                                suggestion(name.substr(0, name.find('=')), known)));
  }
  throw Error(ErrorCode::invalid, fmt::format("{}no verb `{}`{}", where, name, suggestion(name, known)));
}

std::string Verbs::help() const {
  const std::string prefix = word.empty() ? "hone" : "hone " + word;
  const auto width = static_cast<std::size_t>(width_of(Stream::out));
  const auto paragraph = [&](const std::string& of) {
    return fmt::format("{}", fmt::join(wrapped(of, width), "\n"));
  };
  std::string text = fmt::format("{}\n\n{}\n\nUsage: {} VERB [options]\n\nVerbs:\n",
                                 folded("Example: " + example, width, " \\"), paragraph(about), prefix);
  for (const Verb& verb : verbs) {
    if (verb.summary.empty()) continue;
    std::string label = fmt::format("  {:<10} ", verb.name);
    for (const std::string& line : wrapped(verb.summary, width - label.size())) {
      text += label + line + '\n';
      label.assign(label.size(), ' ');
    }
  }
  text += '\n' + paragraph(fmt::format(
                     "`{} VERB --help` shows a verb's options{}", prefix,
                     word.empty() ? "; `hone --version` shows compilers, backends and schema." : "."));
  return text + '\n';
}

const Verbs& query_verbs() {
  static const Verbs verbs{
      "query",
      "hone query winners relu --dtype f16",
      "Asks the database; nothing is measured and nothing written.",
      {{"winners", "the configuration each problem gets", query_winners},
       {"bands", "which configuration serves which working sets", query_bands},
       {"portfolio", "which configurations problems never tuned choose among", query_portfolio},
       {"ladder", "what each step from the plain kernel on is worth", query_ladder},
       {"pivot", "two parameters against each other", query_pivot},
       {"gain", "one value of a parameter against another, by traffic", query_gain},
       {"importance", "what each parameter is worth, from default to winner", query_importance},
       {"runs", "every run of the tuner, newest first", query_runs},
       {"failures", "configurations that did not pass, and why", query_failures},
       {"misses", "what applications got no exact answer to", query_misses},
       {"stale", "what template edits, compilers and drivers have left behind", query_stale}}};
  return verbs;
}

const Verbs& database_verbs() {
  static const Verbs verbs{
      "db",
      "hone db check",
      "Looks after the database file.",
      {{"check", "verify every page, row and code object", database_check},
       {"merge", "make one database of several, with what follows derived again", database_merge},
       {"export", "write everything recorded as text, or results as T4", database_export},
       {"import", "read such text, and other tuners' measured spaces", database_import},
       {"pack", "make one read-only file of what a device's calls need", database_pack},
       {"backup", "make a consistent copy while others read and write", database_backup},
       {"diff", "what got faster or slower between two databases", database_diff},
       {"peak", "give the peak of a device's memory", database_peak}}};
  return verbs;
}

int query(const Arguments& arguments) {
  return query_verbs().run(arguments);
}

int database(const Arguments& arguments) {
  return database_verbs().run(arguments);
}

int run(const Arguments& arguments) noexcept {
  try {
    if (!arguments.empty() && arguments[0] == "--version") return version();
    return command_verbs().run(arguments);
  } catch (const std::exception& error) {
    return report(error);
  }
}

}  // namespace hone::tools
