// A consistent copy of an open database, published whole under its name or not at all.
#pragma once

#include <filesystem>
#include <functional>

#include "db/sqlite.hpp"

namespace hone::db {

/// Throws where what was written of it cannot be brought to the disk.
void synchronise(const std::filesystem::path& file);

/// Has `write` fill a file beside `to` that only its owner can read, or make a folder in its place. It then takes
/// the name `to` and survives a power cut. Throws when `to` exists; nothing stays behind of what fails.
void publish(const std::filesystem::path& to,
             const std::function<void(const std::filesystem::path& part)>& write);

/// Copies all pages in one step: one moment of the database.
void copy_pages(sqlite::Connection& from, sqlite::Connection& to);

/// Throws when `to` exists.
void copy_database(sqlite::Connection& from, const std::filesystem::path& to);

}  // namespace hone::db
