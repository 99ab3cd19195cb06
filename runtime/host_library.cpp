#include "runtime/host_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "db/folder.hpp"
#include "runtime/device.hpp"

namespace hone {
namespace {

/// Why the loader must not see it: it maps a file's segments without asking whether the file reaches that
/// far, and the process dies on the first access.
std::string defect(std::span<const std::byte> object) {
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return "it is too short";
  std::memcpy(&header, object.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return "it is not a 64-bit shared object";
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at < header.e_phoff || at > object.size() - sizeof segment) return "it is truncated";
    std::memcpy(&segment, object.data() + at, sizeof segment);
    if (segment.p_filesz > object.size() || segment.p_offset > object.size() - segment.p_filesz) {
      return "it is truncated";
    }
  }
  return "";
}

std::string write_all(int descriptor, std::span<const std::byte> object) {
  for (std::size_t done = 0; done < object.size();) {
    const auto wrote = ::write(descriptor, object.data() + done, object.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return fmt::format("writing it failed: {}", std::strerror(errno));
    done += static_cast<std::size_t>(wrote);
  }
  return "";
}

}  // namespace

// The descriptor stays open as long as the object is loaded: dlopen knows objects by path, and would take a
// path used again for the object loaded before.
HostLibrary::HostLibrary(std::span<const std::byte> object) {
  const auto refuse = [&](const std::string& why) {
    throw DeviceError(
        fmt::format(
            "host device: cannot load a code object of {} bytes: {}; compile it again on this machine",
            object.size(), why),
        false);
  };
  if (const std::string why = defect(object); !why.empty()) refuse(why);
  std::string temporary;
  std::string path;
  descriptor_ = memfd_create("hone-code", MFD_CLOEXEC);
  if (descriptor_ >= 0) {
    path = fmt::format("/proc/self/fd/{}", descriptor_);
  } else {
    temporary = (db::temporary_folder() / "hone-code-XXXXXX").string();
    descriptor_ = mkostemp(temporary.data(), O_CLOEXEC);
    path = temporary;
  }
  std::string why = descriptor_ >= 0 ? write_all(descriptor_, object)
                                     : fmt::format("no file to load it from: {}", std::strerror(errno));
  if (why.empty()) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) why = dlerror();
  }
  if (!temporary.empty()) unlink(temporary.c_str());
  if (handle_ == nullptr) {
    if (descriptor_ >= 0) close(descriptor_);
    refuse(why);
  }
}

HostLibrary::~HostLibrary() {
  dlclose(handle_);
  close(descriptor_);
}

void* HostLibrary::symbol(const std::string& name) const {
  return dlsym(handle_, name.c_str());
}

}  // namespace hone
