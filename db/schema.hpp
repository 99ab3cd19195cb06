// The schema of the file and its versions: creation and migration are the same list of steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "db/sqlite.hpp"

namespace hone::db::schema {

/// `hone` in ASCII, in the file's header.
constexpr std::int64_t application_id = 0x686f6e65;
/// `honp`: a database of the same schema that nothing writes.
constexpr std::int64_t pack_application_id = 0x686f6e70;

/// Brings a file from version - 1 to version.
struct Step {
  std::int64_t version;
  const char* sql;
  /// After that, in the same transaction: moves what earlier versions recorded.
  void (*move)(sqlite::Connection&) = nullptr;
};

/// Every step there has been; the last one's version is the one this library reads and writes.
std::span<const Step> steps();

/// Throws the Error of a file that is not a tuning database of the last version: another application's,
/// newer, older, damaged in its schema.
void require_current(sqlite::Connection& connection, std::span<const Step> steps = schema::steps());

/// Whether the file is a tuning database of an earlier version, which a writer would migrate. Throws like
/// require_current() for what is none.
bool is_older(sqlite::Connection& connection);

/// Creates the schema in an empty file and migrates an older one, after a backup beside it, with `derive` to
/// fill what newer versions derive. Leaves a current one alone. Throws like require_current() for any other
/// file.
void create_or_migrate(sqlite::Connection& connection, std::span<const Step> steps = schema::steps(),
                       const std::function<void()>& derive = {});

/// What differs between the file's own schema and the one it ought to have; empty: nothing.
std::string difference(sqlite::Connection& connection, std::span<const Step> steps = schema::steps());

}  // namespace hone::db::schema
