#include "tuner/external_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/error.hpp"
#include "runtime/element_type.hpp"
#include "runtime/family.hpp"
#include "tuner/clock.hpp"
#include "tuner/statistics.hpp"

namespace hone::tuner {
namespace {

constexpr const char* variant_name = "external";

/// What is known of a family: of what was imported before, and of this.
struct Known {
  std::vector<std::string> element_types, dimensions;
  std::vector<db::Parameter> parameters;
  std::vector<std::string> constraints;
  std::string working_set = "0";
};

Known known_of(db::Store& store, const std::string& family) {
  Known known;
  const std::vector<db::Template> templates = store.templates(family);
  if (templates.empty()) return known;
  if (templates.size() != 1 || templates[0].variant != variant_name)
    throw Error(ErrorCode::invalid,
                fmt::format("{}: `{}` is a family of hone's own; name the other one with --family",
                            store.file().string(), family));
  const Family before = family_from_records(templates);
  for (const ElementType type : before.element_types) known.element_types.emplace_back(name(type));
  for (const Dimension& dimension : before.dimensions) known.dimensions.push_back(dimension.name);
  known.parameters = before.variants[0].parameters;
  known.constraints = before.variants[0].constraints;
  known.working_set = before.working_set;
  return known;
}

void add_once(auto& list, const auto& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// False: the family has others. Their order does not matter.
bool add_parameters(Known& known, const std::vector<db::Parameter>& more) {
  if (known.parameters.empty()) known.parameters = more;
  if (known.parameters.size() != more.size()) return false;
  for (const db::Parameter& parameter : more) {
    const auto same = std::find_if(known.parameters.begin(), known.parameters.end(),
                                   [&](const db::Parameter& each) { return each.name == parameter.name; });
    if (same == known.parameters.end()) return false;
    for (const db::Value& value : parameter.values) add_once(same->values, value);
  }
  return true;
}

std::string toml(const db::Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::to_string(*number) : fmt::format("\"{}\"", std::get<std::string>(value));
}

std::string quoted_list(const std::vector<std::string>& texts) {
  return fmt::format("[\"{}\"]", fmt::join(texts, "\", \""));
}

/// What queries need of a family. Nothing can be built of it.
std::string manifest_of(const std::string& family, const Known& known) {
  std::string dimensions, parameters, defaults;
  for (const std::string& dimension : known.dimensions)
    dimensions +=
        fmt::format("{}{{ name = \"{}\", minimum = 1 }}", dimensions.empty() ? "" : ", ", dimension);
  for (const db::Parameter& parameter : known.parameters) {
    std::vector<std::string> values;
    for (const db::Value& value : parameter.values) values.push_back(toml(value));
    parameters += fmt::format("{} = [{}]\n", parameter.name, fmt::join(values, ", "));
    defaults += fmt::format("{} = {}\n", parameter.name, values.front());
  }
  return fmt::format(
      "[family]\nname = \"{}\"\nversion = \"1\"\ndescription = \"measured by another tuner\"\n\n"
      "[problem]\nelement_types = {}\ndimensions = [{}]\nworking_set = \"{}\"\nwork = \"0\"\n\n"
      "[[argument]]\nname = \"result\"\nextent = \"1\"\naccess = \"write\"\n\n"
      "[[variant]]\nname = \"{}\"\nsource = \"external.cpp\"\nentry = \"external\"\ntargets = [\"host\"]\n"
      "alignment = \"1\"\narguments = [\"result\"]\nconstraints = {}\n\n"
      "[variant.parameters]\n{}\n[variant.defaults]\n{}\n"
      "[variant.launch]\ngrid = \"1\"\nblock = \"1\"\n\n"
      "[check]\nreference = \"external.cpp\"\nitems = \"1\"\ncomparison = \"bitwise\"\nextents = []\n",
      family, quoted_list(known.element_types), dimensions, known.working_set, variant_name,
      known.constraints.empty() ? "[]" : quoted_list(known.constraints), parameters, defaults);
}

/// The same cache, whoever imports it.
db::Id id_of_run(const KernelTunerCache& cache, const db::Id& device, const db::Problem& problem) {
  db::KeyBuilder key;
  key.add("external run").add(device.hex()).add(problem.id().hex());
  for (const CachedEvaluation& each : cache.evaluations()) {
    for (const db::Value& value : each.values) key.add(db::to_string(value));
    key.add(db::name(each.outcome)).add(each.taken_us);
    for (const double sample : each.samples) key.add(fmt::format("{}", sample));
  }
  return key.id();
}

db::Measurement measurement_of(const CachedEvaluation& evaluation, const db::Id& run, std::int64_t index) {
  db::Measurement m;
  m.id = db::KeyBuilder().add("external measurement").add(run.hex()).add(index).id();
  m.run = run;
  m.stage = db::Stage::first_look;
  m.outcome = evaluation.outcome;
  m.reason = evaluation.reason;
  m.launches = evaluation.samples.empty() ? 0 : 1;
  m.samples = evaluation.samples;
  m.statistics = summarise(m.samples);
  m.taken_us = evaluation.taken_us;
  return m;
}

/// A problem of a family that another tuner has, and what that family's space is.
struct External {
  db::Problem problem;
  std::vector<db::Parameter> parameters;
  std::vector<std::string> constraints;
  std::optional<std::int64_t> working_set;
};

/// The family with this problem too. Throws where the database has it otherwise.
db::Template with_family(db::Store& store, const External& external) {
  const db::Problem& problem = external.problem;
  Known known = known_of(store, problem.family);
  add_once(known.element_types, problem.element_type);
  std::vector<std::string> dimensions, equal;
  for (const auto& [name, extent] : problem.dimensions) {
    dimensions.push_back(name);
    equal.push_back(fmt::format("{}={}", name, extent));
  }
  if (known.dimensions.empty()) known.dimensions = dimensions;
  if (known.constraints.empty()) known.constraints = external.constraints;
  if (known.dimensions != dimensions || !add_parameters(known, external.parameters) ||
      (!external.constraints.empty() && known.constraints != external.constraints))
    throw Error(
        ErrorCode::invalid,
        fmt::format("family `{}` has other parameters, conditions or dimensions in the database; name "
                    "another with --family",
                    problem.family));
  if (external.working_set)
    known.working_set = fmt::format("CASE WHEN {} THEN {} ELSE {} END", fmt::join(equal, " AND "),
                                    *external.working_set, known.working_set);
  db::Template source;
  source.family = problem.family;
  source.variant = variant_name;
  source.source_hash = db::KeyBuilder().add("external source").add(problem.family).id();
  source.manifest = manifest_of(problem.family, known);
  family_from_records({source});  // throws where queries could not read it
  return source;
}

}  // namespace

ExternalSummary import_external(const KernelTunerCache& cache, const ExternalSettings& settings,
                                db::Store& store) {
  ExternalSummary summary;
  summary.family = settings.family.empty() ? cache.kernel() : settings.family;
  const db::Problem problem{summary.family, settings.element_type, "", sizes(cache.problem_size())};
  const db::Template source = with_family(store, {problem, cache.parameters(), {}, settings.working_set});

  const db::Device device{"external", cache.device(), "", 0, 0, 0, ""};
  db::Run run;
  run.id = id_of_run(cache, device.id(), problem);
  summary.known = store.run(run.id).has_value();
  store.transaction([&] {
    store.put(source);
    run.device = store.put(device);
    run.environment = store.put(db::Environment{{{"tuner", "Kernel Tuner"}}});
    run.command = settings.command;
    run.hone_version = HONE_VERSION;
    run.started_us = cache.evaluations()[0].taken_us;
    for (const CachedEvaluation& each : cache.evaluations())
      run.started_us = std::min(run.started_us, each.taken_us);
    if (!summary.known) store.put(run);
    store.put(problem);
    for (const CachedEvaluation& evaluation : cache.evaluations()) {
      db::Configuration configuration{summary.family, variant_name, {}};
      for (std::size_t i = 0; i < evaluation.values.size(); ++i)
        configuration.parameters[cache.parameters()[i].name] = evaluation.values[i];
      db::Measurement m = measurement_of(evaluation, run.id, summary.measured++);
      m.problem = problem.id();
      m.configuration = store.put(configuration);
      m.source_hash = source.source_hash;
      if (db::is_failure(m.outcome)) ++summary.failed;
      if (!summary.known) store.put(m);
    }
    if (!summary.known) store.finish(run.id, "done");
  });
  return summary;
}

db::Problem import_external(const T1Problem& t1, const ExternalSettings& settings, db::Store& store) {
  const db::Problem problem{settings.family.empty() ? t1.kernel : settings.family,
                            settings.element_type.empty() ? t1.element_type : settings.element_type, "",
                            t1.dimensions};
  if (problem.element_type.empty())
    throw Error(
        ErrorCode::invalid,
        fmt::format("{}: hone has no such element type as its arrays; give one with --dtype", t1.kernel));
  const db::Template source = with_family(
      store,
      {problem, t1.parameters, t1.constraints, settings.working_set ? settings.working_set : t1.working_set});
  store.transaction([&] {
    store.put(source);
    store.put(problem);
  });
  return problem;
}

}  // namespace hone::tuner
