#include "db/snapshot.hpp"

#include "db/pack.hpp"

namespace hone::db {

Snapshot::Snapshot(const std::filesystem::path& file, const std::filesystem::path& copy)
    : file_(file), copy_(is_pack(file) ? file : copy) {
  read([&] {
    if (copy_ != file_) copy_current(file_, copy_);
    database_ = std::make_unique<Database>(copy_, Access::read_only);
  });
}

std::string Snapshot::told_of_file(std::string line) const {
  const std::string copy = copy_.string();
  if (const auto at = line.find(copy); at != std::string::npos) line.replace(at, copy.size(), file_.string());
  return line;
}

}  // namespace hone::db
