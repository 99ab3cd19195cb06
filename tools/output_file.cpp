#include "tools/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "db/id.hpp"
#include "hone/error.hpp"

namespace hone::tools {
namespace {

void require_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw Error(ErrorCode::environment,
                fmt::format("{}: there is no folder {}; make it, or name another file", file.string(),
                            folder.string()));
}

}  // namespace

void require_new_file(const std::filesystem::path& file) {
  if (std::filesystem::exists(file))
    throw Error(ErrorCode::invalid,
                fmt::format("{}: exists already; name another file or remove it", file.string()));
  require_folder_of(file);
}

PageFile::PageFile(std::filesystem::path file)
    : file_(std::move(file)), part_(fmt::format("{}.{}.part", file_.string(), db::Id::random().hex())) {
  require_folder_of(file_);
  std::error_code ignored;
  if (std::filesystem::exists(file_, ignored) && !std::filesystem::is_regular_file(file_, ignored)) {
    throw Error(ErrorCode::environment,
                fmt::format("{}: exists and is not a regular file; name another", file_.string()));
  }
  if (std::ifstream existing(file_, std::ios::binary); existing) {
    // Mistaken for the tuning database itself, a page would be the end of it.
    constexpr std::string_view beginning = "<!DOCTYPE html>";
    std::string start(beginning.size(), '\0');
    existing.read(start.data(), static_cast<std::streamsize>(start.size()));
    if (existing.gcount() > 0 && start != beginning) {
      throw Error(ErrorCode::invalid,
                  fmt::format("{}: exists and is no page of a report; name another file", file_.string()));
    }
  }
  std::filesystem::remove(part_, ignored);
  descriptor_ = open(part_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be created");
}

PageFile::~PageFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void PageFile::fail(const char* what) const {
  throw Error(ErrorCode::environment, fmt::format("{}: {} ({}); name a file that can be written",
                                                  file_.string(), what, std::strerror(errno)));
}

void PageFile::publish(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail("cannot be written");
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(descriptor_) != 0) fail("cannot be written");
  if (rename(part_.c_str(), file_.c_str()) != 0) fail("cannot be replaced");
  close(descriptor_);
  descriptor_ = -1;
}

}  // namespace hone::tools
