// Reads compiled code objects: whole or cut short, what kernels they hold, what those use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hone {

class ElfImage {
 public:
  /// None when `bytes` is no 64-bit little-endian ELF image, or one whose headers, sections or segments lie
  /// outside.
  static std::optional<ElfImage> parse(std::span<const std::byte> bytes);

  bool has_section(std::string_view name) const;
  /// The bytes that a symbol names; none when there is no such symbol in the image.
  std::optional<std::span<const std::byte>> symbol(std::string_view name) const;

 private:
  struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;
    std::uint32_t link = 0;
  };
  Section section(std::size_t index) const;
  template <typename T>
  T at(std::uint64_t offset) const;
  bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t sections_at_ = 0;
  std::size_t section_count_ = 0;
  std::size_t names_index_ = 0;
};

/// Whether a driver may be given the bytes: a whole ELF image, or AMD's bundle of some.
bool is_code_object(std::span<const std::byte> bytes);

}  // namespace hone
