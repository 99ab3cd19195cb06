// Which files make a variant's source another one than it was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/family.hpp"

namespace hone {

/// The files whose texts differ between the two sources after their includes, where they lie for a family in
/// `folder` now, in the order they are read; one that is no longer there by what it was called, as
/// `relu/op.h`. Empty: the sources are alike, and the manifest makes the difference.
std::vector<std::string> changed_files(const Variant& before, const Variant& now,
                                       const std::filesystem::path& folder);

}  // namespace hone
