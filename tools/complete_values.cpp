#include "tools/complete_values.hpp"

#include <filesystem>
#include <optional>
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
  const std::string given = written.option("db");
  return {given.empty() ? db::default_file() : std::filesystem::path(given)};
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

std::vector<TemplateFolder> folders_of(const Written& written) {
  const std::string given = written.option("templates");
  std::error_code error;
  return template_folders(std::filesystem::is_directory(given, error) ? std::vector{given}
                                                                      : std::vector<std::string>{});
}

/// The family that the command line names, as the verb has it: of the database, or of the templates.
std::optional<Family> family_of(const Written& written) {
  const std::string name =
      written.positional.empty() || written.verb == "db diff" || written.verb == "db export"
          ? written.option("family")
          : written.positional.front();
  std::optional<Family> family;
  if (asks_database(written.verb)) {
    each_store(written, [&](db::Store& store) { family = tuned_family(store, name); });
    return family;
  }
  try {
    family = find_family(name, folders_of(written));
  } catch (const Error&) {
    // Not written yet, or not there.
  }
  return family;
}

/// The family's; without one all that there are.
std::vector<std::string> element_types(const Written& written) {
  std::vector<ElementType> types{ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8,
                                 ElementType::f64, ElementType::i32, ElementType::i64,  ElementType::u8};
  if (const auto family = family_of(written)) types = family->element_types;
  std::vector<std::string> names;
  for (const ElementType type : types) names.emplace_back(name(type));
  return names;
}

std::vector<std::string> runs(const Written& written) {
  std::vector<std::string> ids;
  each_store(written, [&](db::Store& store) {
    for (const auto& [run, ended] : store.runs()) ids.push_back(run.id.hex());
  });
  return ids;
}

std::vector<std::string> variants(const Family& family) {
  std::vector<std::string> names;
  for (const Variant& variant : family.variants) names.push_back(variant.name);
  return names;
}

/// Each value behind `before`.
std::vector<std::string> parameter_values(const Family& family, const std::string& parameter,
                                          const std::string& before = "") {
  std::vector<std::string> values;
  for (const db::Value& value : values_of(family, parameter)) values.push_back(before + db::to_string(value));
  return values;
}

/// `store=`, and behind it `store=nt`.
std::vector<std::string> conditions(const Family& family, const std::string& current) {
  if (const std::size_t equals = current.find('='); equals != std::string::npos)
    return parameter_values(family, current.substr(0, equals), current.substr(0, equals + 1));
  std::vector<std::string> names = parameters_of(family);
  for (std::string& name : names) name += '=';
  return names;
}

}  // namespace

std::vector<std::string> families_for(const Written& written) {
  std::vector<std::string> recorded;
  if (asks_database(written.verb))
    each_store(written, [&](db::Store& store) { recorded = store.families(); });
  return recorded.empty() ? list_families(folders_of(written)) : recorded;
}

std::vector<std::string> values_for(const Written& written, const Options::Declared& option,
                                    const std::string& current) {
  const std::string& flag = option.name;
  if (!option.values.empty()) return option.values;
  if (flag == "device") return asks_database(written.verb) ? recorded_devices(written) : devices_here();
  if (flag == "dtype") return element_types(written);
  if (flag == "family") return families_for(written);
  if (flag == "regime") return {"steady", "cold"};
  if (flag == "format") return {"table", "json", "csv"};
  if (flag == "run") return runs(written);
  const std::optional<Family> family = family_of(written);
  if (!family) return {};
  if (flag == "layout") return family->layouts;
  if (flag == "variant") return variants(*family);
  if (flag == "rows" || flag == "cols" || flag == "parameter") return parameters_of(*family);
  if (flag == "from" || flag == "to") return parameter_values(*family, written.option("parameter"));
  if (flag == "at" || flag == "where") return conditions(*family, current);
  return {};
}

}  // namespace hone::tools
