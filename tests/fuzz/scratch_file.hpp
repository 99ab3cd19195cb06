// A file in memory for what a fuzz target tries, in a folder of its process.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace hone::fuzz {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp");
    name += "/hone-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Writes the one file of that name, with nothing beside it.
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      std::filesystem::remove_all(entry.path(), ignored);
    std::ofstream(path / name, std::ios::binary) << bytes;
    return path / name;
  }

  std::filesystem::path path;
};

}  // namespace hone::fuzz
