#include "db/store.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "db/backup.hpp"
#include "db/store_state.hpp"

namespace hone::db {

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::filesystem::path& file, Access access) {
  return Store(std::make_unique<State>(file, access));
}

const std::filesystem::path& Store::file() const {
  return state_->database.file();
}

void Store::transaction(const std::function<void()>& body) {
  state_->database.write(body);
}

void Store::backup(const std::filesystem::path& to) {
  copy_database(state_->database.connection(), to);
}

std::filesystem::path default_file() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  std::string_view list = variable("HONE_DB");
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(':'));
    if (!entry.empty()) return entry;
    list.remove_prefix(1);
  }
  const std::filesystem::path data(variable("XDG_DATA_HOME"));
  if (data.is_absolute()) return data / "hone" / "hone.db";  // its specification has relative ones ignored
  const std::filesystem::path home(variable("HOME"));
  if (!home.empty()) return home / ".local" / "share" / "hone" / "hone.db";
  throw Error(Error::Kind::unusable,
              "none of HONE_DB, XDG_DATA_HOME and HOME says where the tuning database is; "
              "set HONE_DB to a file");
}

}  // namespace hone::db
