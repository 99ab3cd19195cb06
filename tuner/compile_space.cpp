#include "tuner/compile_space.hpp"

#include <fmt/format.h>

#include <fstream>

#include "tuner/clock.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/problems.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

namespace {

struct Item {
  db::Configuration configuration;
  std::string element_type, layout;
};

std::string file_name(const Item& item, Backend backend) {
  std::string name = item.configuration.family + "-" + item.configuration.variant + "-" + item.element_type;
  if (!item.layout.empty()) name += "-" + item.layout;
  for (const auto& [parameter, value] : item.configuration.parameters)
    name += "-" + parameter + db::to_string(value);
  return name + (backend == Backend::cuda ? ".cubin" : backend == Backend::hip ? ".co" : ".so");
}

/// Element type and layout count as parameters: what is tried of one type speaks for the others.
Cover cover_items(const std::vector<Item>& items, std::int64_t limit) {
  std::vector<db::Configuration> configurations;
  for (const Item& item : items) {
    configurations.push_back(item.configuration);
    configurations.back().parameters["element type"] = item.element_type;
    configurations.back().parameters["layout"] = item.layout;
  }
  return covering_set(configurations, limit);
}

void keep(const std::filesystem::path& folder, const std::string& name, const Bytes& object) {
  const std::filesystem::path path = folder / name;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
  if (!file.flush())
    throw Error(ErrorCode::environment,
                fmt::format("cannot write {}; free space or choose another --keep", path.string()));
}

}  // namespace

CompileSummary compile_space(const CompileSettings& settings, Observer& observer,
                             const std::atomic<bool>& stop) {
  const auto start = Clock::now();
  const Family family = find_family(settings.family, settings.folders);
  require_trust(family, settings.trust);
  const DeviceInfo device = nominal_device(settings.architecture);
  db::Evaluator evaluator;
  if (!settings.keep.empty()) std::filesystem::create_directories(settings.keep);

  CompileSummary summary;
  std::vector<Item> items;
  std::vector<std::string> layouts = family.layouts;
  if (layouts.empty()) layouts.emplace_back();
  for (const std::string& type : element_types_of(family, settings.element_types))
    for (const std::string& layout : layouts)
      for (db::Configuration& configuration : buildable_space(evaluator, family, type, layout, device))
        items.push_back({std::move(configuration), type, layout});
  summary.space = static_cast<std::int64_t>(items.size());
  const Cover cover = cover_items(items, settings.limit);
  summary.pairs = cover.pairs;
  summary.pairs_covered = settings.limit > 0 ? cover.covered : cover.pairs;
  if (settings.limit > 0) {
    std::vector<Item> chosen;
    for (const std::size_t i : cover.indices) chosen.push_back(std::move(items[i]));
    items = std::move(chosen);
  }
  if (items.empty())
    throw Error(ErrorCode::failed,
                fmt::format("family {} has no configuration for {}; see `targets` and `constraints` in {}",
                            family.name, settings.architecture, family.file.string()));

  CompilePool pool(settings.limits);
  CompileQueue queue(pool);
  std::size_t submitted = 0, done = 0;
  while (done < items.size() && !stop) {
    while (submitted < items.size() && queue.queued() < queue.workers()) {
      const Item& item = items[submitted];
      queue.submit(submitted++,
                   compile_job(family, device, item.configuration, item.element_type, item.layout));
    }
    for (const auto& [tag, result] : queue.wait(0.5)) {
      const Item& item = items[tag];
      ++done;
      if (result->outcome == db::Outcome::ok) {
        ++summary.compiled;
        summary.compiler = result->compiler;
        if (!settings.keep.empty()) keep(settings.keep, file_name(item, device.backend), result->object);
      } else {
        summary.failures.push_back({item.configuration, item.element_type, result->outcome, result->reason});
      }
    }
    observer.progress({family.name + " for " + settings.architecture, "compile",
                       static_cast<std::int64_t>(done), static_cast<std::int64_t>(items.size()),
                       static_cast<std::int64_t>(summary.failures.size()), ""});
  }
  summary.interrupted = done < items.size();
  summary.seconds = since(start);
  return summary;
}

}  // namespace hone::tuner
