// Families: where their manifests come from, and the problems made of them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "db/error.hpp"
#include "db/store.hpp"
#include "runtime/manifest.hpp"
#include "runtime/runtime_state.hpp"
#include "runtime/source_changes.hpp"
#include "runtime/spelling.hpp"

namespace hone {

FamilyHandle RuntimeState::family(const std::string& name) {
  process_.require_same();
  const std::lock_guard lock(mutex_);
  std::string fault;
  std::set<std::string> known;
  for (const auto& index : indexes_) {
    for (const auto& [each, stored] : index->families()) known.insert(each);
    const auto found = index->families().find(name);
    if (found == index->families().end()) continue;
    if (found->second.family != nullptr) return {this, &know(found->second.family)};
    fault = fmt::format("{}: {}", index->file().string(), found->second.fault);
  }
  if (const auto given = given_template(name)) return {this, &know(given)};
  // It was tuned for other devices alone: its problems can be made, and their picks say what to do.
  if (fault.empty())
    if (const auto stored = stored_template(name)) return {this, &know(stored)};
  if (!fault.empty()) throw Error(ErrorCode::invalid, fault);
  throw Error(ErrorCode::invalid,
              fmt::format("{} has no family `{}`{}; tune it: `hone tune {}`", fmt::join(files_, ", "), name,
                          known.empty() ? "" : suggestion(name, {known.begin(), known.end()}), name));
}

const KnownFamily& RuntimeState::know(const std::shared_ptr<const Family>& family) {
  const auto same_range = [](const Dimension& a, const Dimension& b) {
    return a.minimum == b.minimum && a.maximum == b.maximum;
  };
  for (const auto& known : known_) {
    const Family& each = *known.family;
    if (each.name == family->name && same_signature(each, *family) &&
        each.element_types == family->element_types &&
        std::equal(each.dimensions.begin(), each.dimensions.end(), family->dimensions.begin(), same_range))
      return known;
  }
  if (known_.size() == kMostFamilies)
    throw Error(ErrorCode::invalid, fmt::format("more than {} families in one runtime", kMostFamilies));
  KnownFamily& known = known_.emplace_back();
  known.number = static_cast<std::uint32_t>(known_.size() - 1);
  known.family = family;
  for (std::size_t i = 0; i < family->arguments.size(); ++i)
    if (family->arguments[i].kind == ArgumentKind::pointer) known.pointers |= 1U << i;
  for (std::size_t i = 0; i < family->dimensions.size(); ++i) {
    const std::string& by_default = family->dimensions[i].by_default;
    if (by_default.empty()) known.required = i + 1;
    std::optional<std::size_t> same;
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (family->dimensions[earlier].name == by_default) same = earlier;
    known.default_is.push_back(same);
  }
  known_by_number_.at(known.number).store(&known, std::memory_order_release);
  return known;
}

std::int64_t RuntimeState::stride(const KnownFamily& known, const Problem& problem, std::size_t index) {
  if (const auto& same = known.default_is[index]) return problem.dimensions.at(*same);
  db::Problem partial{known.family->name, name(problem.element_type), "", {}};
  if (!known.family->layouts.empty()) partial.layout = known.family->layouts[problem.layout];
  for (std::size_t i = 0; i < index; ++i)
    partial.dimensions.emplace_back(known.family->dimensions[i].name, problem.dimensions.at(i));
  process_.require_same();
  const std::lock_guard lock(mutex_);
  try {
    return evaluator_.evaluate(known.family->dimensions[index].by_default, problem_names(partial));
  } catch (const db::Error& error) {
    throw Error(ErrorCode::invalid, fmt::format("{}: default of {}: {}", partial.text(),
                                                known.family->dimensions[index].name, error.what()));
  }
}

Problem RuntimeState::problem_by_name(const KnownFamily& known, const std::string& element_type,
                                      const std::string& layout,
                                      const std::vector<std::pair<std::string, std::int64_t>>& dimensions) {
  const Family& family = *known.family;
  db::Problem complete;
  {
    process_.require_same();
    const std::lock_guard lock(mutex_);
    complete = make_problem(evaluator_, family, element_type, layout, dimensions);
  }
  Problem problem;
  problem.family = known.number;
  problem.element_type = *parse_element_type(element_type);
  const auto at = std::find(family.layouts.begin(), family.layouts.end(), layout);
  problem.layout = at == family.layouts.end() ? 0 : static_cast<std::uint8_t>(at - family.layouts.begin());
  for (const auto& [name, extent] : complete.dimensions) problem.dimensions.at(problem.rank++) = extent;
  return problem;
}

std::vector<std::string> RuntimeState::families() {
  process_.require_same();
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& index : indexes_)
    for (const auto& [name, stored] : index->families()) names.insert(name);
  for (const auto& known : known_) names.insert(known.family->name);
  return {names.begin(), names.end()};
}

std::shared_ptr<const Family> RuntimeState::given_template(const std::string& name) {
  if (options_.template_folders.empty()) return nullptr;
  const auto found = templates_.find(name);
  if (found != templates_.end()) return found->second;
  std::vector<TemplateFolder> folders;
  for (const auto& path : options_.template_folders) folders.push_back({path, false});
  std::shared_ptr<const Family> family;
  const auto names = list_families(folders);
  if (std::find(names.begin(), names.end(), name) != names.end())
    family = std::make_shared<const Family>(find_family(name, folders));
  templates_[name] = family;
  return family;
}

std::shared_ptr<const Family> RuntimeState::stored_template(const std::string& name) const {
  for (const auto& index : indexes_) {
    std::vector<db::Template> records;
    try {
      records = index->templates(name);
    } catch (const db::Error& error) {
      throw Error(ErrorCode::environment, error.what());
    }
    if (!records.empty()) return std::make_shared<const Family>(family_from_records(records));
  }
  return nullptr;
}

std::string RuntimeState::stale(const Variant& variant, const std::string& family,
                                const db::Id& source_hash) {
  const auto given = given_template(family);
  if (given == nullptr) return {};
  const Variant* now = given->variant(variant.name);
  if (now == nullptr) return fmt::format("stale: {} has no variant {}", given->file.string(), variant.name);
  if (now->source_hash == source_hash) return {};
  const std::vector<std::string> files = changed_files(variant, *now, given->file.parent_path());
  if (files.empty())
    return fmt::format("stale: {} describes variant {} differently since", given->file.string(),
                       variant.name);
  return fmt::format("stale: {} {} changed since", fmt::join(files, ", "),
                     files.size() == 1 ? "has" : "have");
}

}  // namespace hone
