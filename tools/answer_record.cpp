#include "tools/answer_record.hpp"

#include "runtime/plan.hpp"
#include "tools/measured.hpp"

namespace hone::tools {
namespace {

std::vector<Rival> rivals_in(db::Store& store, const db::Measurement& measurement, const NamedCall& call,
                             const DeviceInfo& device) {
  const Family family = tuned_family(store, call.family);
  db::Evaluator evaluator;
  return rivals_of(
      store, measurement,
      {family, device, make_problem(evaluator, family, call.element_type, call.layout, call.shape),
       call.alignment});
}

std::vector<Changed> changed_since(db::Store& store, const db::Measurement& measurement,
                                   const std::optional<db::Run>& run,
                                   const std::vector<std::string>& templates) {
  Staleness staleness(store, template_folders(templates));
  std::vector<Changed> changed;
  if (run) changed = staleness.of_environment(run->device, run->environment);
  if (const auto configuration = store.configuration(measurement.configuration))
    if (auto source =
            staleness.of_source(configuration->family, configuration->variant, measurement.source_hash))
      changed.insert(changed.begin(), std::move(*source));
  return changed;
}

}  // namespace

std::optional<AnswerRecord> record_of(const Pick& pick, const NamedCall& call, const DeviceInfo& device,
                                      const std::vector<std::string>& templates) {
  const auto id = db::Id::parse(pick.measurement());
  if (!id) return std::nullopt;
  db::Store store = db::Store::open(pick.database(), db::Access::read_only);
  auto measurement = store.measurement(*id);
  if (!measurement) return std::nullopt;
  auto problem = store.problem(measurement->problem);
  auto run = store.run(measurement->run);
  auto rivals = rivals_in(store, *measurement, call, device);
  auto changed = changed_since(store, *measurement, run, templates);
  return AnswerRecord{std::move(*measurement), std::move(problem), std::move(run), std::move(rivals),
                      std::move(changed)};
}

}  // namespace hone::tools
