// The folder that holds the user's own hone files.
#pragma once

#include <filesystem>

namespace hone {

/// `$XDG_DATA_HOME/hone`, else `~/.local/share/hone`; empty where neither is set.
std::filesystem::path user_data_folder();

}  // namespace hone
