// Results in the autotuning community's T4 format, version 1.0.0 (its fields: the results schema of
// github.com/odgaard/TuningSchema, as Kernel Tuner keeps it too). What T4 has no key for is in keys beside
// its own.
#pragma once

#include <cstdint>
#include <filesystem>

#include "db/store.hpp"
#include "tools/filters.hpp"

namespace hone::tools {

/// Writes every measurement that the filters match; gives their number. Throws where `to` exists.
std::int64_t write_t4(db::Store& store, const Filters& filters, const std::filesystem::path& to);

}  // namespace hone::tools
