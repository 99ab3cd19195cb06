// Compilers and disassemblers that may or may not be here, and what tests do with their output.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/expression.hpp"
#include "runtime/architectures.hpp"
#include "runtime/compiler.hpp"

namespace hone::test {

/// None, after a warning, where the backend's compiler cannot be opened.
inline std::unique_ptr<Compiler> compiler_for(const std::string& architecture) {
  try {
    return open_compiler(backend_of(architecture));
  } catch (const Error& error) {
    WARN("not tested for " << architecture << ": " << error.what());
    return nullptr;
  }
}

/// A program in PATH, or in the toolkits' usual folders; empty when there is none.
inline std::string program(const std::vector<std::string>& names) {
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  path += ":/usr/local/cuda/bin:/opt/rocm/llvm/bin";
  for (const std::string& name : names) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::filesystem::path file = std::filesystem::path(folder) / name;
      std::error_code error;
      if (std::filesystem::is_regular_file(file, error)) return file.string();
    }
  }
  return "";
}

inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

/// A file of some bytes, for a program to read.
class ScratchFile {
 public:
  ScratchFile(const void* bytes, std::size_t size, const char* suffix) {
    std::string path = (std::filesystem::temp_directory_path() / "hone-test-XXXXXX").string() + suffix;
    const int descriptor = mkstemps(path.data(), static_cast<int>(std::strlen(suffix)));
    if (descriptor < 0) throw std::runtime_error("mkstemps");
    close(descriptor);
    path_ = path;
    std::ofstream(path_, std::ios::binary)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

/// `count` of instructions, comments aside.
inline std::size_t instructions(const std::string& text, const std::string& pattern) {
  return count(std::regex_replace(text, std::regex("[ \t]*(//|;)[^\n]*"), ""), pattern);
}

/// A translation unit by clang, which knows every architecture; empty where none is installed.
inline std::string clang_assembly(const std::string& architecture, const std::string& source) {
  static const std::string clang = program({"clang++-22", "amdclang++", "clang++-23", "clang++-21"});
  if (clang.empty()) return "";
  const ScratchFile file(source.data(), source.size(), ".hip");
  return output_of(clang + " -x hip --offload-arch=" + architecture +
                   " --offload-device-only -nogpuinc -nogpulib -O3 -std=c++17 -S -o - " + file.path());
}

/// The same by hipRTC and a disassembler.
inline std::string hiprtc_assembly(const std::string& architecture, const std::string& source,
                                   const std::string& entry) {
  static const std::string disassembler = program({"llvm-objdump-22", "llvm-objdump", "llvm-objdump-15"});
  const auto compiler = compiler_for(architecture);
  if (compiler == nullptr || disassembler.empty()) return "";
  const CompileResult result = compiler->compile({Backend::hip, architecture, source, entry});
  INFO(result.log);
  REQUIRE(result.ok);
  const ScratchFile object(result.object.data(), result.object.size(), ".co");
  return output_of(disassembler + " -d --mcpu=" + architecture + " " + object.path());
}

inline db::Values with(db::Values values, const db::Values& changes) {
  for (const auto& [name, value] : changes) values[name] = value;
  return values;
}

}  // namespace hone::test
