// Which source of a variant is current: what is derived rests on that one alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "db/database.hpp"

namespace hone::db {

/// The source hash of a variant's newest template; none: it has no template.
std::optional<Id> current_source(Database& database, const std::string& family, const std::string& variant);

/// Throws where a row that says which template was in use is not as it was written: a look-up would pass over
/// it, and what rests on that template would go.
void require_sound_uses(Database& database);

/// The source that is current, each looked up once.
class Sources {
 public:
  explicit Sources(Database& database) : database_(database) {}
  bool current(const Configuration& of, const Id& source_hash);

 private:
  Database& database_;
  std::map<std::pair<std::string, std::string>, std::optional<Id>> known_;
};

}  // namespace hone::db
