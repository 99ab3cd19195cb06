// Problems in the autotuning community's T1 format (its keys: the schema of github.com/odgaard/TuningSchema,
// which Kernel Tuner and KTT have too): the space of one variant for one problem on one CUDA device. What T1
// has no key for is in keys beside its own.
#pragma once

#include <filesystem>
#include <string>

#include "db/store.hpp"
#include "tools/filters.hpp"

namespace hone::tools {

/// Makes the folder `to`, which must not exist, of `problem.json` and the kernel's source, `kernel.cu`. The
/// filters choose the problem and the device, `variant` is the family's only one there when empty. Gives one
/// line for people. Throws Error{invalid} where they choose none or several, and where T1 has no words for
/// what the variant needs.
std::string write_t1(db::Store& store, const Filters& filters, const std::string& variant,
                     const std::filesystem::path& to);

}  // namespace hone::tools
