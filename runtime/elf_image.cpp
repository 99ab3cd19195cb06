#include "runtime/elf_image.hpp"

#include <elf.h>

#include <cstring>

namespace hone {
namespace {

std::string_view text_at(std::span<const std::byte> strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* const begin = reinterpret_cast<const char*>(strings.data()) + offset;
  return {begin, strnlen(begin, strings.size() - offset)};
}

}  // namespace

template <typename T>
T ElfImage::at(std::uint64_t offset) const {
  T value;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return value;
}

std::optional<ElfImage> ElfImage::parse(std::span<const std::byte> bytes) {
  ElfImage image;
  image.bytes_ = bytes;
  if (bytes.size() < sizeof(Elf64_Ehdr)) return std::nullopt;
  const auto header = image.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum ||
      !image.inside(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) {
    return std::nullopt;
  }
  if (header.e_phnum != 0 &&
      (header.e_phentsize != sizeof(Elf64_Phdr) ||
       !image.inside(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)))) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = image.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !image.inside(section.sh_offset, section.sh_size)) {
      return std::nullopt;
    }
  }
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = image.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!image.inside(segment.p_offset, segment.p_filesz)) return std::nullopt;
  }
  image.sections_at_ = header.e_shoff;
  image.section_count_ = header.e_shnum;
  image.names_index_ = header.e_shstrndx;
  return image;
}

ElfImage::Section ElfImage::section(std::size_t index) const {
  const auto header = at<Elf64_Shdr>(sections_at_ + index * sizeof(Elf64_Shdr));
  Section section;
  section.type = header.sh_type;
  section.address = header.sh_addr;
  section.link = header.sh_link;
  if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL) {
    section.bytes = bytes_.subspan(header.sh_offset, header.sh_size);
  }
  const auto names = at<Elf64_Shdr>(sections_at_ + names_index_ * sizeof(Elf64_Shdr));
  if (names.sh_type == SHT_STRTAB) {
    section.name = text_at(bytes_.subspan(names.sh_offset, names.sh_size), header.sh_name);
  }
  return section;
}

bool ElfImage::has_section(std::string_view name) const {
  for (std::size_t i = 0; i < section_count_; ++i) {
    if (section(i).name == name) return true;
  }
  return false;
}

std::optional<std::span<const std::byte>> ElfImage::symbol(std::string_view name) const {
  for (std::size_t i = 0; i < section_count_; ++i) {
    const Section table = section(i);
    if ((table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) || table.link >= section_count_) continue;
    const Section strings = section(table.link);
    for (std::size_t offset = 0; offset + sizeof(Elf64_Sym) <= table.bytes.size();
         offset += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, table.bytes.data() + offset, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= section_count_ ||
          text_at(strings.bytes, symbol.st_name) != name) {
        continue;
      }
      const Section home = section(symbol.st_shndx);
      const std::uint64_t start = symbol.st_value - home.address;
      if (symbol.st_value < home.address || start > home.bytes.size() ||
          symbol.st_size > home.bytes.size() - start) {
        continue;
      }
      return home.bytes.subspan(start, symbol.st_size);
    }
  }
  return std::nullopt;
}

bool is_code_object(std::span<const std::byte> bytes) {
  if (ElfImage::parse(bytes)) return true;
  constexpr std::string_view bundle = "__CLANG_OFFLOAD_BUNDLE__";
  return bytes.size() > bundle.size() && std::memcmp(bytes.data(), bundle.data(), bundle.size()) == 0;
}

}  // namespace hone
