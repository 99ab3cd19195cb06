#include "tools/complete_values.hpp"

#include <algorithm>
#include <set>

#include "db/store.hpp"
#include "runtime/device.hpp"
#include "runtime/element_type.hpp"
#include "runtime/family.hpp"
#include "tools/measured.hpp"
#include "tools/where.hpp"

namespace hone::tools {
namespace {

/// Verbs that ask what was recorded, on whatever machine; others work on this one.
bool asks_database(const std::string& verb) {
  return (verb.starts_with("query ") && verb != "query misses") || verb.starts_with("db ") ||
         verb == "report";
}

std::vector<std::filesystem::path> databases_of(const Written& written) {
  if (written.verb == "db diff") return {written.positional.begin(), written.positional.end()};
  return {written.database.empty() ? db::default_file() : std::filesystem::path(written.database)};
}

/// Completion is silent about a database that cannot be read: the verb itself says why.
template <typename Visit>
void each_store(const Written& written, const Visit& visit) {
  for (const std::filesystem::path& file : databases_of(written)) {
    try {
      db::Store store = db::Store::open(file, db::Access::read_only);
      visit(store);
    } catch (const std::exception&) {
      continue;
    }
  }
}

std::vector<std::string> recorded_devices(const Written& written) {
  std::set<std::string> words;
  each_store(written, [&](db::Store& store) {
    for (const auto& [id, device] : store.devices())
      words.insert({device.backend, device.architecture, device.name});
  });
  return {words.begin(), words.end()};
}

std::vector<std::string> devices_here() {
  std::vector<std::string> words{"all"};
  const DeviceList list = list_devices();
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    words.push_back(std::to_string(i));
    words.push_back(name(list.devices[i].backend));
    words.push_back(list.devices[i].architecture);
  }
  return words;
}

std::vector<std::string> element_types() {
  std::vector<std::string> names;
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8,
                                 ElementType::f64, ElementType::i32, ElementType::i64, ElementType::u8})
    names.emplace_back(name(type));
  return names;
}

std::vector<std::string> recorded_parameters(const Written& written) {
  std::vector<std::string> names;
  if (!written.positional.empty())
    each_store(written, [&](db::Store& store) {
      names = parameters_of(tuned_family(store, written.positional.front()));
    });
  return names;
}

}  // namespace

std::vector<std::string> families_for(const Written& written) {
  std::vector<std::string> recorded;
  if (asks_database(written.verb))
    each_store(written, [&](db::Store& store) { recorded = store.families(); });
  return recorded.empty() ? list_families(template_folders({})) : recorded;
}

std::vector<std::string> values_for(const Written& written, const Options::Declared& option) {
  const std::string& flag = option.name;
  if (!option.values.empty()) return option.values;
  if (flag == "device") return asks_database(written.verb) ? recorded_devices(written) : devices_here();
  if (flag == "dtype") return element_types();
  if (flag == "family") return families_for(written);
  if (flag == "regime") return {"steady", "cold"};
  if (flag == "format") return {"table", "json", "csv"};
  if (flag == "rows" || flag == "cols" || flag == "parameter") return recorded_parameters(written);
  return {};
}

}  // namespace hone::tools
