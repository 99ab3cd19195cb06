// Files and folders that only their owner can read, under names that nobody can foresee until they are whole.
#pragma once

#include <filesystem>

namespace hone::db {

/// Makes what is missing of a folder's path, for its owner alone, and has it survive a power cut. Throws
/// std::filesystem::filesystem_error.
void make_private_folders(const std::filesystem::path& folder);

/// An empty file that only its owner can read or write, beside `file` under a random name; none of this
/// process's descriptors is open on it. Throws Error{unusable} that names `file`.
std::filesystem::path private_file_beside(const std::filesystem::path& file);

/// Gives `part` the name `to` unless that is taken; the new name survives a power cut. Whether it did; errno
/// says why not, EEXIST where it is taken.
bool rename_to_new(const std::filesystem::path& part, const std::filesystem::path& to) noexcept;

}  // namespace hone::db
