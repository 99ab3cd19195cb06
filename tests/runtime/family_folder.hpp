// A folder with a family written into it, for tests of manifests.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace hone::test {

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = std::filesystem::canonical(pattern);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// A manifest that uses every key.
inline const std::string whole_manifest = R"toml(
[family]
name = "blend"
version = "3"
description = "y = a x + b"

[problem]
element_types = ["f32", "f16"]
layouts = ["nn", "nt"]
dimensions = [{ name = "M", minimum = 0 }, { name = "K", minimum = 2, maximum = 4096 }]
strides = [{ name = "lda", default = "K", at_least = "K" }, { name = "ldb", default = "2 * lda" }]
working_set = "(M * lda + M * K) * element_size"
work = "2 * M * K"
sweep = "K"

[[argument]]
name = "a"
kind = "scalar"
type = "f32"
fill = 0.5

[[argument]]
name = "x"
extent = "M * lda"
fill = "any"

[[argument]]
name = "y"
type = "f32"
extent = "M * K"
access = "read_write"

[[variant]]
name = "simt"
source = "blend.cpp"
entry = "blend"
targets = ["host", "cuda >= sm_80"]
constraints = ["tile <= block", "M * K < 1000000 OR load = 'cs'"]
alignment = "element_size"
arguments = ["x", "K", "y", "a"]

[variant.parameters]
tile = [2, 1]
block = [64, 128]
load = ["default", "cs"]

[variant.defaults]
tile = 1
block = 128
load = "default"

[variant.launch]
grid = ["(M + block - 1) / block", "tile"]
block = ["block"]
dynamic_shared = "block * 4"
covers = ["block"]
extent = ["M"]

[[variant]]
name = "plain"
source = "blend.cpp"
entry = "blend"
targets = ["hip in [gfx90a, gfx942]"]

[variant.launch]
grid = "M"
block = 1

[[variant]]
name = "boxes"
source = "blend.cpp"
entry = "blend"
targets = ["cuda >= sm_90a"]
alignment = 16
workspace = "K * 1024"
arguments = ["x_map", "y_map", "workspace", "M"]

[[variant.tensor_map]]
name = "x_map"
argument = "x"
extent = ["K", "M"]
stride = ["lda"]
box = [32, "rows"]
swizzle = 128
promotion = "256"

[[variant.tensor_map]]
name = "y_map"
argument = "y"
extent = ["M * K"]
stride = []
box = ["8 * rows"]

[variant.parameters]
rows = [8, 16]

[variant.defaults]
rows = 8

[variant.launch]
grid = ["(M + rows - 1) / rows * 2", "2"]
block = 96
cluster = [2]

[[ladder]]
name = "streaming"
variant = "simt"
parameters = { load = "cs" }
best_of = ["block"]

[check]
reference = "reference.cpp"
items = "M"
comparison = "relative"
bounds = { f32 = 1e-6, f16 = 1e-3 }
extents = [{ M = 0, K = 2 }, { M = 17, K = 31, lda = 40 }]
large_extents = [{ M = 100000, K = 4096, element_types = ["f16"] }]
misalignments = [1, 3]
)toml";

/// `whole_manifest` with one piece replaced.
inline std::string manifest_with(const std::string& piece, const std::string& by) {
  std::string text = whole_manifest;
  const auto at = text.find(piece);
  if (at == std::string::npos) throw std::runtime_error("no such piece: " + piece);
  return text.replace(at, piece.size(), by);
}

/// Writes the family and its sources, and returns the manifest's path.
inline std::filesystem::path write_blend(const Scratch& scratch,
                                         const std::string& manifest = whole_manifest) {
  scratch.write("blend/blend.cpp", "extern \"C\" void blend() {}\n");
  scratch.write("blend/reference.cpp", "void reference() {}\n");
  return scratch.write("blend/blend.toml", manifest);
}

}  // namespace hone::test
