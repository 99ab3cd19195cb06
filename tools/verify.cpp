// hone verify: the checks alone, over the whole space.
#include "tuner/verify.hpp"

#include <fmt/format.h>

#include "tools/exit_code.hpp"
#include "tools/failures.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tools/progress.hpp"
#include "tools/signals.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {

int verify(const Arguments& arguments) {
  Options options(
      "verify", "FAMILY", "hone verify relu --dtype f16 --limit 100",
      "Checks every configuration (values, guard regions, inputs unchanged, launch shape) on the family's "
      "awkward extents, and measures nothing. Failures are told on stderr, each kind once.");
  add_device_flag(options);
  add_type_flag(options);
  add_shape_flag(options);
  options.flag("large", "the family's extents over 2^31 too")
      .value("limit", "N", "at most N configurations, in which pairs of parameter values appear first");
  add_limit_flags(options);
  add_template_flags(options);
  options.flag("quiet", "no progress");
  add_format_flag(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = format_style(options);

  tuner::VerifySettings settings;
  settings.family = options.positional()[0];
  settings.folders = template_folders_of(options);
  settings.trust = options.has("trust");
  settings.device = options.get("device", "");
  settings.element_types = element_types_of(options);
  settings.shapes = shapes_of(options);
  settings.large = options.has("large");
  if (options.has("limit")) settings.limit = parse_integer("--limit", options.get("limit", ""), 1);
  settings.limits = limits_of(options);

  ProgressBar progress(options.has("quiet"));
  const std::atomic<bool>& stop = stop_on_signals();
  const std::vector<tuner::VerifySummary> summaries = tuner::verify(settings, progress, stop);
  progress.clear();
  Table table("verify", {{"device", "device", Unit::none, false, true},
                         {"architecture", "architecture"},
                         {"space", "space"},
                         {"right", "right"},
                         {"failed", "failed"},
                         {"seconds", "time", Unit::seconds},
                         {"failures", ""}});
  bool failed = false;
  for (const tuner::VerifySummary& summary : summaries) {
    tell_failures(summary.failures);
    table.add({{"device", summary.device.name},
               {"architecture", summary.device.architecture},
               {"space", summary.space},
               {"right", summary.right},
               {"failed", static_cast<std::int64_t>(summary.failures.size())},
               {"seconds", summary.seconds},
               {"failures", failures_cell(summary.failures)}});
    failed = failed || !summary.failures.empty();
  }
  table.print(style);
  if (stop) return exit_interrupted();
  return failed ? exit_failed : exit_done;
}

}  // namespace hone::tools
