#include <catch2/catch.hpp>
#include <set>

#include "runtime/family.hpp"
#include "runtime/manifest.hpp"
#include "tests/runtime/family_folder.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

TEST_CASE("a manifest's every field is read") {
  const Scratch scratch;
  const Family family = parse_family(write_blend(scratch));
  CHECK(family.name == "blend");
  CHECK(family.version == "3");
  CHECK(family.description == "y = a x + b");
  CHECK(family.manifest == whole_manifest);
  CHECK_FALSE(family.trusted);
  CHECK(family.element_types == std::vector{ElementType::f32, ElementType::f16});
  CHECK(family.layouts == std::vector<std::string>{"nn", "nt"});

  REQUIRE(family.dimensions.size() == 4);
  CHECK(family.dimensions[0].name == "M");
  CHECK(family.dimensions[0].minimum == 0);
  CHECK(family.dimensions[0].maximum == INT64_MAX);
  CHECK(family.dimensions[1].maximum == 4096);
  CHECK(family.dimensions[2].by_default == "K");
  CHECK(family.dimensions[2].at_least == "K");
  CHECK(family.dimensions[3].by_default == "2 * lda");
  CHECK(family.sweep == "K");

  REQUIRE(family.arguments.size() == 3);
  CHECK(family.arguments[0].kind == ArgumentKind::scalar);
  CHECK(family.arguments[0].type == ElementType::f32);
  CHECK(family.arguments[0].fill == "0.5");
  CHECK(family.arguments[1].kind == ArgumentKind::pointer);
  CHECK_FALSE(family.arguments[1].type);
  CHECK(family.arguments[1].access == ArgumentAccess::read);
  CHECK(family.arguments[1].fill == "any");
  CHECK(family.arguments[2].access == ArgumentAccess::read_write);
  CHECK(family.arguments[2].fill == "uniform");

  REQUIRE(family.variants.size() == 3);
  const Variant& simt = family.variants[0];
  CHECK(simt.constraints.size() == 2);
  CHECK(simt.alignment == "element_size");
  REQUIRE(simt.parameters.size() == 3);
  CHECK(simt.parameters[0].name == "tile");
  CHECK(simt.parameters[0].values == std::vector<db::Value>{std::int64_t{2}, std::int64_t{1}});
  CHECK(simt.parameters[1].name == "block");
  CHECK(simt.parameters[2].values == std::vector<db::Value>{std::string("default"), std::string("cs")});
  CHECK(simt.defaults ==
        db::Values{{"tile", std::int64_t{1}}, {"block", std::int64_t{128}}, {"load", "default"}});
  CHECK(simt.grid == std::array<std::string, 3>{"(M + block - 1) / block", "tile", "1"});
  CHECK(simt.block == std::array<std::string, 3>{"block", "1", "1"});
  CHECK(simt.dynamic_shared == "block * 4");
  CHECK(simt.covers == std::array<std::string, 3>{"block", "", ""});
  CHECK(simt.extent == std::array<std::string, 3>{"M", "", ""});
  CHECK_THAT(simt.source, Contains("#line 1 \"blend/blend.cpp\"") && Contains("void blend()"));

  using From = LaunchArgument::From;
  const auto arguments = [](const Variant& variant) {
    std::vector<std::pair<From, std::size_t>> all;
    for (const auto& each : variant.launch_arguments) all.emplace_back(each.from, each.index);
    return all;
  };
  CHECK(arguments(simt) ==
        std::vector<std::pair<From, std::size_t>>{
            {From::argument, 1}, {From::dimension, 1}, {From::argument, 2}, {From::argument, 0}});
  const Variant& plain = family.variants[1];
  CHECK(plain.parameters.empty());
  CHECK(plain.block[0] == "1");
  CHECK(plain.alignment == "1");
  CHECK(arguments(plain).size() == 7);
  CHECK(arguments(plain)[3] == std::pair(From::dimension, std::size_t{0}));
  for (const Variant& each : {simt, plain}) {
    CHECK(each.workspace == "0");
    CHECK(each.tensor_maps.empty());
    CHECK(each.cluster == std::array<std::string, 3>{"1", "1", "1"});
  }

  const Variant& boxes = family.variants[2];
  CHECK(boxes.alignment == "16");
  CHECK(boxes.workspace == "K * 1024");
  CHECK(boxes.cluster == std::array<std::string, 3>{"2", "1", "1"});
  CHECK(arguments(boxes) ==
        std::vector<std::pair<From, std::size_t>>{
            {From::tensor_map, 0}, {From::tensor_map, 1}, {From::workspace, 0}, {From::dimension, 0}});
  using Expressions = std::vector<std::string>;
  REQUIRE(boxes.tensor_maps.size() == 2);
  CHECK(boxes.tensor_maps[0].name == "x_map");
  CHECK(boxes.tensor_maps[0].argument == 1);
  CHECK(boxes.tensor_maps[0].extent == Expressions{"K", "M"});
  CHECK(boxes.tensor_maps[0].stride == Expressions{"lda"});
  CHECK(boxes.tensor_maps[0].box == Expressions{"32", "rows"});
  CHECK(boxes.tensor_maps[0].swizzle == "128");
  CHECK(boxes.tensor_maps[0].promotion == "256");
  CHECK(boxes.tensor_maps[1].argument == 2);
  CHECK(boxes.tensor_maps[1].stride.empty());
  CHECK(boxes.tensor_maps[1].swizzle == "0");
  CHECK(boxes.tensor_maps[1].promotion == "128");

  REQUIRE(family.ladder.size() == 1);
  CHECK(family.ladder[0].parameters ==
        db::Values{{"tile", std::int64_t{1}}, {"block", std::int64_t{128}}, {"load", "cs"}});
  const auto is_first_point = [&](const std::string& variant, std::int64_t tile, std::int64_t block) {
    return family.ladder[0].has({"blend", variant, {{"tile", tile}, {"block", block}, {"load", "cs"}}});
  };
  CHECK(is_first_point("simt", 1, 128));
  CHECK(is_first_point("simt", 1, 64));
  CHECK_FALSE(is_first_point("simt", 2, 128));
  CHECK_FALSE(is_first_point("plain", 1, 128));

  CHECK(family.check.comparison == Comparison::relative);
  CHECK(family.check.bounds.at(ElementType::f16) == 1e-3);
  CHECK(family.check.extents.size() == 2);
  CHECK(family.check.extents[1] ==
        std::vector<std::pair<std::string, std::int64_t>>{{"M", 17}, {"K", 31}, {"lda", 40}});
  CHECK(family.check.large_extents.size() == 1);
  CHECK(family.check.large_extent_serves(0, ElementType::f16));
  CHECK_FALSE(family.check.large_extent_serves(0, ElementType::f32));
  CHECK(family.check.misalignments == std::vector<std::int64_t>{1, 3});
  CHECK_THAT(family.check.reference, Contains("void reference()"));
}

TEST_CASE("a manifest's included file holds more of its tables, and faults there are told by its lines") {
  const Scratch scratch;
  const auto cut = whole_manifest.find("[[variant]]");
  const auto end = whole_manifest.find("[check]");
  const std::string own = whole_manifest.substr(0, cut) + whole_manifest.substr(end);
  const std::string shared = whole_manifest.substr(cut, end - cut);
  const auto file = write_blend(scratch, own);
  const auto including = [&](const std::string& name) {
    std::string text = own;
    text.replace(text.find("version"), 0, "include = \"" + name + "\"\n");
    scratch.write("blend/blend.toml", text);
  };
  including("shared.toml");
  scratch.write("common/shared.toml", shared);
  const Family family = parse_family(file);
  CHECK(family.variants.size() == parse_family(write_blend(Scratch(), whole_manifest)).variants.size());

  // A record's text is whole: what it names is not looked for again.
  std::vector<db::Template> records;
  for (const auto& variant : family.variants)
    records.push_back({family.name, variant.name, variant.source_hash, family.manifest, variant.source});
  CHECK(family_from_records(records).variants.size() == family.variants.size());

  const auto refused = [&] {
    try {
      parse_family(file);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  scratch.write("common/shared.toml", "[[variant]]\ncolour = 3\n");
  CHECK_THAT(refused(), Contains("common/shared.toml:2: ") && Contains("colour"));
  scratch.write("common/shared.toml", "\n\nno toml\n");
  CHECK_THAT(refused(), Contains("common/shared.toml:3: not valid TOML"));
  including("missing.toml");
  CHECK_THAT(refused(), Contains("blend.toml: family.include: there is no `missing.toml`"));
  including("../blend.toml");
  CHECK_THAT(refused(), Contains("leaves the folders"));
}

TEST_CASE("a family read back from records launches as the one it came from") {
  const Scratch scratch;
  const Family family = parse_family(write_blend(scratch));
  std::vector<db::Template> records;
  for (const char* variant : {"plain", "simt"})
    records.push_back({"blend", variant, family.variant(variant)->source_hash, family.manifest,
                       family.variant(variant)->source});
  const Family stored = family_from_records(records);
  CHECK(same_signature(stored, family));
  REQUIRE(stored.variants.size() == 2);
  CHECK(stored.variants[0].name == "simt");
  CHECK(stored.variants[0].source == family.variants[0].source);
  CHECK(stored.variants[0].source_hash == source_hash(stored, stored.variants[0]));
  CHECK(stored.variants[1].source_hash == family.variants[1].source_hash);

  SECTION("a variant of another signature is left out") {
    records[0].manifest =
        manifest_with("strides = [{ name = \"lda\", default = \"K\", at_least = \"K\" }, ",
                      "strides = [{ name = \"lda\", default = \"K + 1\", at_least = \"K\" }, ");
    CHECK(family_from_records(records).variants.size() == 1);
  }
  SECTION("no records and damaged ones are errors") {
    CHECK_THROWS_WITH(family_from_records({}), Contains("tune it first"));
    records[0].manifest = "[family";
    CHECK_THROWS_WITH(family_from_records(records), Contains("blend.toml as stored in the database"));
  }
}

TEST_CASE("the source hash tells apart what launches differently and nothing else") {
  const auto hash = [](const std::string& manifest, std::size_t variant = 0) {
    const Scratch scratch;
    return parse_family(write_blend(scratch, manifest)).variants[variant].source_hash;
  };
  const db::Id id = hash(whole_manifest);
  CHECK(hash(whole_manifest) == id);
  CHECK(hash(manifest_with("block = [64, 128]", "block = [64, 128, 256]")) == id);
  CHECK(hash(manifest_with("y = a x + b", "another description")) == id);
  CHECK(hash(manifest_with("version = \"3\"", "version = \"4\"")) == id);
  CHECK(hash(manifest_with("misalignments = [1, 3]", "misalignments = [1]")) == id);
  CHECK(hash(manifest_with("dynamic_shared = \"block * 4\"", "dynamic_shared = \"block * 8\"")) != id);
  CHECK(hash(manifest_with("dynamic_shared = \"block * 4\"",
                           "dynamic_shared = \"block * 4\"\noverlap = \"1\"")) != id);
  CHECK(hash(manifest_with("\"tile <= block\"", "\"tile < block\"")) != id);
  CHECK(hash(manifest_with("[\"x\", \"K\", \"y\", \"a\"]", "[\"y\", \"K\", \"x\", \"a\"]")) != id);
  CHECK(hash(manifest_with("alignment = \"element_size\"", "alignment = \"16\"")) != id);

  std::set<db::Id> boxes{hash(whole_manifest, 2)};
  const std::vector<std::pair<const char*, const char*>> changes{
      {"cluster = [2]", "cluster = [1]"},
      {"cluster = [2]", "cluster = [2, 2]"},
      {"workspace = \"K * 1024\"", "workspace = \"K * 2048\""},
      {"argument = \"x\"", "argument = \"y\""},
      {"extent = [\"K\", \"M\"]", "extent = [\"K\", \"K\"]"},
      {"stride = [\"lda\"]", "stride = [\"ldb\"]"},
      {"box = [32, \"rows\"]", "box = [16, \"rows\"]"},
      {"swizzle = 128", "swizzle = 64"},
      {"promotion = \"256\"", "promotion = \"64\""},
      {"[\"x_map\", \"y_map\"", "[\"y_map\", \"x_map\""}};
  for (const auto& [piece, by] : changes) {
    INFO(piece << " -> " << by);
    CHECK(boxes.insert(hash(manifest_with(piece, by), 2)).second);
    CHECK(hash(manifest_with(piece, by)) == id);
  }
}

TEST_CASE("targets name backends and architectures") {
  const auto device = [](Backend backend, const std::string& architecture) {
    DeviceInfo info;
    info.backend = backend;
    info.architecture = architecture;
    return info;
  };
  const auto matches = [](const std::string& target, const DeviceInfo& on) {
    return parse_target(target).matches(on);
  };
  const DeviceInfo host = device(Backend::host, "x86-64-v3"), hopper = device(Backend::cuda, "sm_90a"),
                   ampere = device(Backend::cuda, "sm_80"), blackwell = device(Backend::cuda, "sm_100a"),
                   mi200 = device(Backend::hip, "gfx90a:sramecc+:xnack-"),
                   mi300 = device(Backend::hip, "gfx942");
  CHECK(matches("host", host));
  CHECK_FALSE(matches("host", hopper));
  CHECK(matches("cuda", ampere));
  CHECK(matches("cuda >= sm_80", ampere));
  CHECK(matches("cuda>=sm_80", blackwell));
  CHECK_FALSE(matches("cuda >= sm_90", ampere));
  CHECK(matches("cuda == sm_90", hopper));
  CHECK(matches("cuda == sm_90a", hopper));
  CHECK_FALSE(matches("cuda == sm_90a", device(Backend::cuda, "sm_90")));
  CHECK_FALSE(matches("cuda == sm_90a", blackwell));
  CHECK(matches("cuda >= sm_90a", hopper));
  CHECK_FALSE(matches("cuda >= sm_90a", blackwell));
  CHECK(matches("cuda in [sm_80, sm_100]", blackwell));
  CHECK(matches("hip", mi300));
  CHECK(matches("hip == gfx90a", mi200));
  CHECK(matches("hip in [gfx90a, gfx942]", mi300));
  CHECK_FALSE(matches("hip in [ gfx90a ]", mi300));
  for (const char* bad : {"", "metal", "host >= sm_80", "cuda >= gfx90a", "cuda >= sm_", "cuda > sm_80",
                          "hip >= gfx90a", "hip in [gfx90a", "hip in []", "hip == sm_80", "cuda sm_80"})
    CHECK_THROWS_AS(parse_target(bad), Error);
}
