// A Runtime on a stand-in's GPU, with a database of the one kernel that the stand-ins have: out = a + b.
#pragma once

#include <memory>

#include "runtime/gpu_device.hpp"
#include "runtime/runtime_state.hpp"
#include "tests/runtime/tuned_database.hpp"

namespace hone::test {

inline const std::string add_manifest = R"toml(
[family]
name = "add"
version = "1"
description = "out = a + b"

[problem]
element_types = ["f32"]
dimensions = [{ name = "n", minimum = 0 }]
working_set = "3 * n * element_size"
work = "n"

[[argument]]
name = "a"
extent = "n"

[[argument]]
name = "b"
extent = "n"

[[argument]]
name = "out"
extent = "n"
access = "write"

[[variant]]
name = "simt"
source = "add.cpp"
entry = "add"
targets = ["cuda", "hip"]
alignment = "4"
arguments = ["out", "a", "b", "n"]

[variant.parameters]
block = [64, 128, 256]

[variant.defaults]
block = 128

[variant.launch]
grid = "(n + block - 1) / block"
block = "block"

[check]
reference = "reference.cpp"
items = "n"
comparison = "bitwise"
extents = [{ n = 1 }]
)toml";

/// The same with what a kernel of Hopper takes: tensor maps, a workspace, clusters, and overlapping launches.
inline std::string add_by_maps_manifest() {
  std::string text = add_manifest;
  const auto replace = [&](const std::string& piece, const std::string& by) {
    text.replace(text.find(piece), piece.size(), by);
  };
  replace("entry = \"add\"", "entry = \"add_by_maps\"");
  replace("[\"cuda\", \"hip\"]", "[\"cuda >= sm_90a\"]");
  replace("alignment = \"4\"", "alignment = \"16\"\nworkspace = \"16384 + n\"");
  replace("[\"out\", \"a\", \"b\", \"n\"]", R"toml(["a_map", "b_map", "out", "n", "workspace"]

[[variant.tensor_map]]
name = "a_map"
argument = "a"
extent = ["n"]
stride = []
box = ["block"]

[[variant.tensor_map]]
name = "b_map"
argument = "b"
extent = ["8", "(n + 7) / 8"]
stride = ["8"]
box = ["8", "block / 8"]
swizzle = 32
promotion = 256)toml");
  replace("grid = \"(n + block - 1) / block\"",
          "grid = \"(n + block - 1) / block * 2\"\ncluster = 2\noverlap = 1");
  return text;
}

inline Family add_family(const Scratch& scratch, const std::string& manifest) {
  scratch.write("add/add.cpp", "extern \"C\" void add() {}\n");
  scratch.write("add/reference.cpp", "void reference() {}\n");
  return parse_family(scratch.write("add/add.toml", manifest));
}

struct StubRuntime {
  explicit StubRuntime(Stub& of, const std::string& manifest = add_manifest)
      : stub(healed(of)),
        info(list_gpus(stub.driver, {"/nowhere", "/nowhere"}).devices.at(0)),
        database(scratch.path() / "hone.db", add_family(scratch, manifest), info) {}

  Runtime open(OpenOptions options = {}) {
    options.databases = {database.file().string()};
    options.record_misses = false;
    return RuntimeState::runtime_of(
        std::make_unique<RuntimeState>(options, open_gpu_device(stub.driver, info)));
  }

  static Stub& healed(Stub& stub) {
    stub.heal();
    return stub;
  }

  Stub& stub;
  Scratch scratch;
  DeviceInfo info;
  TunedDatabase database;
};

}  // namespace hone::test
