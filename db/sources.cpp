#include "db/sources.hpp"

namespace hone::db {

std::optional<Id> current_source(Database& database, const std::string& family, const std::string& variant) {
  static const std::string sql =
      "SELECT " + tables::template_use.select("u") + "," + tables::template_.select("t") +
      " FROM template_use u LEFT JOIN template t ON t.id=u.template"
      " WHERE u.family=?1 AND u.variant=?2 ORDER BY u.used_us DESC, u.template DESC LIMIT 1";
  sqlite::Query query(database.connection(), sql);
  query->bind(1, family).bind(2, variant);
  if (!query->step()) return std::nullopt;
  verify(*query, tables::template_use);
  require(query->type(tables::template_use.width()) != SQLITE_NULL, *query,
          "a template that was in use is missing");
  verify(*query, tables::template_, tables::template_use.width());
  return query->id(tables::template_use.width() + 3);
}

void require_sound_uses(Database& database) {
  sqlite::Query query(database.connection(),
                      "SELECT " + tables::template_use.select("u") + " FROM template_use u");
  while (query->step()) verify(*query, tables::template_use);
}

bool Sources::current(const Configuration& of, const Id& source_hash) {
  auto [found, unknown] = known_.try_emplace({of.family, of.variant});
  if (unknown) found->second = current_source(database_, of.family, of.variant);
  return found->second == source_hash;
}

}  // namespace hone::db
