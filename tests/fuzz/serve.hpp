// All that hone reads of a tuning database it is given: opening, the check, queries, picks, a writer's
// migration and rebuilding. What is wrong with it must be an Error.
#pragma once

#include <filesystem>
#include <string>

#include "db/store.hpp"
#include "hone/hone.hpp"

namespace hone::fuzz {

inline void pick(const std::filesystem::path& file) {
  OpenOptions options;
  options.databases = {file.string()};
  options.device = "host";
  options.record_misses = false;
  options.allow_unchecked = true;
  Status status;
  auto runtime = Runtime::open(options, status);
  if (!runtime) return;
  const auto family = runtime->family("saxpy", status);
  if (!family) return;
  for (const std::int64_t n : {0, 1, 1000, 4096, 5000, 1 << 20}) {
    const auto problem = family->problem(ElementType::f32, std::span(&n, 1), 0, status);
    if (!problem) continue;
    for (const std::size_t alignment : {4, 16, 64}) {
      runtime->pick(*problem, alignment, status);
    }
  }
}

inline void read(db::Store& store) {
  for (const auto& [id, device] : store.devices()) {
    store.defaults(id);
    store.peak(id);
    for (const db::Regime regime : {db::Regime::steady, db::Regime::cold})
      store.winner_blocks(id, regime, [](const db::WinnerBlock& block) {
        for (std::size_t i = 0; i < block.size(); ++i)
          for (std::size_t axis = 0; axis < block.dimensions.size(); ++axis) block[i].extent(axis);
      });
  }
  for (const db::Winner& winner : store.winners({})) {
    store.code_object(winner.build_key);
    store.measurement(winner.measurement);
    store.decision(winner.decision);
  }
  store.bands({});
  store.sweeps({});
  store.runs();
  store.measurements({});
  for (const char* family : {"saxpy", "relu"}) store.templates(family);
}

/// Each part by itself: one may fail where another goes on.
template <typename Body>
void attempt(const Body& body) {
  try {
    body();
  } catch (const db::Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) __builtin_trap();
  }
}

inline void serve(const std::filesystem::path& file) {
  attempt([&] { db::Store::open(file, db::Access::read_only).check(); });
  attempt([&] {
    db::Store store = db::Store::open(file, db::Access::read_only);
    read(store);
  });
  pick(file);
  attempt([&] {
    db::Store store = db::Store::open(file, db::Access::read_write);
    store.rebuild_derived();
    read(store);
  });
}

}  // namespace hone::fuzz
