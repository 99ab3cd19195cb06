// A database as it is at one moment, to be read for as long as it takes: no writer waits for the reader.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "db/database.hpp"

namespace hone::db {

class Snapshot {
 public:
  /// Copies `file` to `copy`, and migrates the copy where its schema is older. A pack, which nothing writes,
  /// is read where it is. Errors, here and in read(), are told of `file`.
  Snapshot(const std::filesystem::path& file, const std::filesystem::path& copy);

  const std::filesystem::path& file() const noexcept { return file_; }
  /// Where it is read.
  const std::filesystem::path& copy() const noexcept { return copy_; }
  sqlite::Connection& connection() const { return database_->connection(); }

  /// What a line says of the copy, said of the file.
  std::string told_of_file(std::string line) const;

  template <typename Body>
  void read(const Body& body) const {
    try {
      body();
    } catch (const Error& error) {
      throw Error(error.kind(), told_of_file(error.what()), error.damage());
    }
  }

 private:
  std::filesystem::path file_, copy_;
  std::unique_ptr<Database> database_;
};

}  // namespace hone::db
