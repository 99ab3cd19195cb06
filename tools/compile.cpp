// hone compile: every configuration of a family for an architecture, no GPU needed.
#include <fmt/format.h>

#include "tools/exit_code.hpp"
#include "tools/failures.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tools/progress.hpp"
#include "tools/signals.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"
#include "tuner/compile_space.hpp"

namespace hone::tools {

int compile(const Arguments& arguments) {
  Options options(
      "compile", "FAMILY", "hone compile relu --arch sm_90a --limit 150",
      "Compiles every configuration of a family for an architecture; no GPU is needed. Failures are told "
      "on stderr, each kind once.");
  options.list("arch", "A", "an architecture: sm_90a, gfx90a, ...")
      .value("limit", "N",
             "at most N configurations an architecture, in which pairs of parameter values appear first")
      .value("keep", "DIR", "write the code objects into DIR");
  add_type_flag(options);
  add_limit_flags(options);
  add_template_flags(options);
  options.flag("quiet", "no progress");
  add_format_flag(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = format_style(options);

  tuner::CompileSettings settings;
  settings.family = options.positional()[0];
  settings.folders = template_folders_of(options);
  settings.trust = options.has("trust");
  settings.element_types = element_types_of(options);
  if (options.has("limit")) settings.limit = parse_integer("--limit", options.get("limit", ""), 1);
  settings.keep = options.get("keep", "");
  settings.limits = limits_of(options);
  const std::vector<std::string> architectures = split_list(options.all("arch"));
  if (architectures.empty()) {
    throw Error(ErrorCode::invalid,
                "compile: no architecture given; name one as `--arch sm_90a` or `--arch gfx90a`");
  }

  Table table("compile", {{"architecture", "architecture"},
                          {"compiler", "compiler"},
                          {"space", "space"},
                          {"compiled", "compiled"},
                          {"failed", "failed"},
                          {"pairs", "pairs"},
                          {"pairs_covered", "covered"},
                          {"seconds", "time", Unit::seconds},
                          {"failures", ""}});
  ProgressBar progress(options.has("quiet"));
  const std::atomic<bool>& stop = stop_on_signals();
  bool failed = false;
  for (const std::string& architecture : architectures) {
    settings.architecture = architecture;
    const tuner::CompileSummary summary = tuner::compile_space(settings, progress, stop);
    progress.clear();
    tell_failures(summary.failures);
    table.add({{"architecture", architecture},
               {"compiler", summary.compiler},
               {"space", summary.space},
               {"compiled", summary.compiled},
               {"failed", static_cast<std::int64_t>(summary.failures.size())},
               {"pairs", summary.pairs},
               {"pairs_covered", summary.pairs_covered},
               {"seconds", summary.seconds},
               {"failures", failures_cell(summary.failures)}});
    failed = failed || !summary.failures.empty();
    if (summary.interrupted) break;
  }
  table.print(style);
  if (stop) return exit_interrupted;
  return failed ? exit_failed : exit_done;
}

}  // namespace hone::tools
