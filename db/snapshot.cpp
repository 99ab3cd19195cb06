#include "db/snapshot.hpp"

namespace hone::db {

Snapshot::Snapshot(const std::filesystem::path& file, const std::filesystem::path& copy)
    : file_(file), copy_(copy) {
  read([&] {
    copy_ = settle(file_, copy);
    database_ = std::make_unique<Database>(copy_, Access::read_only);
  });
}

std::string Snapshot::told_of_file(std::string line) const {
  const std::string copy = copy_.string();
  if (const auto at = line.find(copy); at != std::string::npos) line.replace(at, copy.size(), file_.string());
  return line;
}

}  // namespace hone::db
