// hone compile: every configuration of a family for an architecture, no GPU needed.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/architectures.hpp"
#include "runtime/spelling.hpp"
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
namespace {

/// Throws for features that AMD's target does not have: a compiler that is given one aborts, a configuration
/// at a time. Of the known targets those of gfx9 have both, the later ones none (LLVM's User Guide for
/// AMDGPU).
void require_features(const std::string& architecture) {
  const std::string target = without_flags(architecture);
  if (!is_gfx_name(architecture) || target == architecture) return;
  const bool gfx9 = target.starts_with("gfx9") && target.size() == std::string_view("gfx90a").size();
  const std::vector<std::string> known =
      gfx9 ? std::vector<std::string>{"sramecc", "xnack"} : std::vector<std::string>{};
  std::set<std::string> given;
  for (std::size_t at = target.size(); at < architecture.size();) {
    const std::size_t end = std::min(architecture.find(':', at + 1), architecture.size());
    const std::string feature = architecture.substr(at + 1, end - at - 2);  // without its sign
    if (std::find(known.begin(), known.end(), feature) == known.end())
      throw Error(ErrorCode::invalid, fmt::format("--arch {}: {} has no feature `{}`{}", architecture, target,
                                                  feature, suggestion(feature, known)));
    if (!given.insert(feature).second)
      throw Error(ErrorCode::invalid, fmt::format("--arch {}: it gives `{}` twice", architecture, feature));
    at = end;
  }
}

}  // namespace

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
  const std::vector<std::string> architectures = split_list("--arch", options.all("arch"));
  if (architectures.empty()) {
    throw Error(ErrorCode::invalid,
                "compile: no architecture given; name one as `--arch sm_90a` or `--arch gfx90a`");
  }

  for (const std::string& architecture : architectures) require_features(architecture);

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
  if (stop) return exit_interrupted();
  return failed ? exit_failed : exit_done;
}

}  // namespace hone::tools
