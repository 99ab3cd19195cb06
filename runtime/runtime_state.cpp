#include "runtime/runtime_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "db/error.hpp"
#include "db/store.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

/// The databases to open, absolute, since the working folder may change before a code object is read.
std::vector<std::string> database_files(const OpenOptions& options) {
  std::vector<std::string> files;
  const auto add = [&](const fs::path& file) {
    files.push_back(fs::absolute(file).lexically_normal().string());
  };
  for (const auto& file : options.databases) add(file);
  if (!files.empty()) return files;
  const char* variable = std::getenv("HONE_DB");
  std::string_view list = variable == nullptr ? "" : variable;
  while (!list.empty()) {
    const auto colon = list.find(':');
    if (colon != 0) add(fs::path(list.substr(0, colon)));
    list = colon == std::string_view::npos ? std::string_view() : list.substr(colon + 1);
  }
  // A list may name files that are not made yet; one of them has to be there.
  std::vector<std::string> existing;
  std::error_code error;
  std::copy_if(files.begin(), files.end(), std::back_inserter(existing),
               [&](const std::string& file) { return fs::exists(file, error); });
  if (!existing.empty()) return existing;
  if (!files.empty()) return {files.front()};
  try {
    add(db::default_file());
  } catch (const db::Error& error_line) {
    throw Error(ErrorCode::environment, error_line.what());
  }
  return files;
}

std::unique_ptr<Device> open_chosen(const std::string& choice) {
  const auto devices = choose_devices(choice);
  if (devices.empty()) throw Error(ErrorCode::environment, fmt::format("no device matches `{}`", choice));
  return open_device(devices.front());
}

fs::path misses_folder(const OpenOptions& options) {
  if (!options.record_misses) return {};
  return options.misses_folder.empty() ? default_misses_folder() : fs::path(options.misses_folder);
}

}  // namespace

RuntimeState::RuntimeState(const OpenOptions& options) : RuntimeState(options, open_chosen(options.device)) {}

RuntimeState::RuntimeState(const OpenOptions& options, std::unique_ptr<Device> opened)
    : device(std::move(opened)),
      options_(options),
      regime_(options.regime == Regime::cold ? db::Regime::cold : db::Regime::steady),
      device_id_(device->info().record().id()),
      files_(database_files(options)),
      indexes_(read_indexes()),
      misses_(misses_folder(options)) {
  codes_.emplace(*device, options.maximum_modules);
}

RuntimeState::Indexes RuntimeState::read_indexes() const {
  Indexes indexes;
  for (const auto& file : files_)
    indexes.push_back(WinnerIndex::read(file, device->info(), regime_, options_.allow_unchecked));
  return indexes;
}

// Databases that change.

bool RuntimeState::refresh() {
  process_.require_same();
  const std::lock_guard one_at_a_time(refreshing_);
  {
    const std::lock_guard lock(mutex_);
    misses_.flush();
  }
  bool changed = false;
  for (const auto& index : indexes_) changed = changed || FileStamp::of(index->file()) != index->stamp();
  // Read before the lock is taken: other threads pick meanwhile, from what there was.
  Indexes fresh = changed ? read_indexes() : Indexes();
  const std::lock_guard lock(mutex_);
  Templates before = std::move(templates_);
  templates_.clear();
  try {
    for (const auto& [name, family] : before) {
      const auto now = given_template(name);
      const bool same =
          (now == nullptr) == (family == nullptr) &&
          (now == nullptr || std::equal(now->variants.begin(), now->variants.end(), family->variants.begin(),
                                        family->variants.end(), [](const Variant& a, const Variant& b) {
                                          return a.name == b.name && a.source_hash == b.source_hash;
                                        }));
      changed = changed || !same;
    }
  } catch (...) {
    templates_ = std::move(before);
    throw;
  }
  if (!changed) return false;
  if (!fresh.empty()) indexes_ = std::move(fresh);
  codes_->forgive();
  answers_.mark_stale();
  return true;
}

void RuntimeState::flush_misses() {
  process_.require_same();
  const std::lock_guard lock(mutex_);
  if (!misses_.flush())
    throw Error(ErrorCode::environment,
                fmt::format("{}: misses cannot be written there and are forgotten; give a folder that can be "
                            "written, or record none",
                            misses_folder(options_).string()));
}

}  // namespace hone
