#include "tuner/check_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "runtime/includes.hpp"
#include "runtime/plan.hpp"

namespace hone::tuner {

namespace {

// As kernel_templates/common/fill.h numbers them.
enum FillKind { uniform = 0, any = 1, constant = 2 };

constexpr std::int64_t block = 256, chunk = 16;

}  // namespace

Fill parse_fill(const std::string& fill) {
  if (fill == "uniform") return {uniform, 0};
  if (fill == "any") return {any, 0};
  Fill result{constant, 0};
  const auto [end, error] = std::from_chars(fill.data(), fill.data() + fill.size(), result.value);
  if (error != std::errc() || end != fill.data() + fill.size())
    throw Error(ErrorCode::invalid, fmt::format("`{}` is no fill; write uniform, any or a number", fill));
  return result;
}

std::string CheckKernels::source(const Family& family, Backend backend) {
  // From the folder of common sources, so that a family's own check.cpp is not taken for it.
  const SourceFolders folders(family.file.parent_path().parent_path() / "common");
  Variant variant;
  variant.name = "check";
  variant.parameters = {{"block", {block}}};
  variant.source = expand_source(folders, "check.cpp", "the check kernels");
  return translation_unit(variant, {{"block", block}}, "f32", "", backend);
}

std::string CheckKernels::entry() {
  return "hone_fill";
}

CheckKernels::CheckKernels(Device& device, std::span<const std::byte> object) : device_(device) {
  static constexpr const char* names[kernels] = {
      "hone_fill",         "hone_poison",          "hone_poison_numbers",
      "hone_compare_bits", "hone_compare_numbers", "hone_check_bytes",
      "hone_check_fill"};
  for (int i = 0; i < kernels; ++i) kernels_[i] = device_.load(object, names[i]);
  tallies_ = static_cast<std::uint64_t*>(device_.allocate(all_slots * sizeof(Tally)));
  clear_tallies();
}

CheckKernels::~CheckKernels() {
  device_.release(tallies_);
}

void CheckKernels::launch(Which which, std::int64_t bytes, void* const* parameters) {
  const std::int64_t chunks = (bytes + chunk - 1) / chunk;
  if (chunks == 0) return;
  Launch launch;
  launch.kernel = kernels_[which].get();
  launch.geometry.block[0] = block;
  launch.geometry.grid[0] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      (chunks + block - 1) / block, 1, std::int64_t{8} * device_.info().compute_units));
  launch.parameters = parameters;
  device_.launch(launch, device_.stream());
}

void CheckKernels::fill(void* to, std::int64_t elements, ElementType type, const std::string& fill,
                        std::uint64_t seed) {
  const Fill how = parse_fill(fill);
  auto element = static_cast<std::int32_t>(type);
  std::int32_t kind = how.kind;
  if (kind == constant) seed = std::bit_cast<std::uint64_t>(how.value);
  void* parameters[] = {&to, &elements, &element, &kind, &seed};
  launch(fill_kernel, elements * static_cast<std::int64_t>(size_of(type)), parameters);
}

void CheckKernels::poison(void* to, const void* reference, std::int64_t bytes) {
  void* parameters[] = {&to, &reference, &bytes};
  launch(poison_kernel, bytes, parameters);
}

void CheckKernels::poison_numbers(void* to, const double* reference, std::int64_t elements,
                                  ElementType type) {
  auto element = static_cast<std::int32_t>(type);
  void* parameters[] = {&to, &reference, &elements, &element};
  launch(poison_numbers_kernel, elements * chunk, parameters);
}

void CheckKernels::compare_bits(const void* out, const void* reference, std::int64_t elements,
                                ElementType type, TallySlot slot) {
  auto size = static_cast<std::int32_t>(size_of(type));
  std::uint64_t* result = tallies_ + 2 * slot;
  void* parameters[] = {&out, &reference, &elements, &size, &result};
  launch(bits_kernel, elements * size, parameters);
}

void CheckKernels::compare_numbers(const void* out, const double* reference, std::int64_t elements,
                                   ElementType type, Tolerance tolerance, TallySlot slot, TallySlot gaps) {
  auto element = static_cast<std::int32_t>(type);
  std::uint64_t* result = tallies_ + 2 * slot;
  std::uint64_t* changed = tallies_ + 2 * gaps;
  void* parameters[] = {&out,    &reference, &elements, &element, &tolerance.absolute, &tolerance.relative,
                        &result, &changed};
  launch(numbers_kernel, elements * chunk, parameters);
}

void CheckKernels::check_bytes(const void* region, std::int64_t bytes, std::uint8_t sentinel,
                               TallySlot slot) {
  std::int32_t value = sentinel;
  std::uint64_t* result = tallies_ + 2 * slot;
  void* parameters[] = {&region, &bytes, &value, &result};
  launch(bytes_kernel, bytes, parameters);
}

void CheckKernels::check_fill(const void* buffer, std::int64_t elements, ElementType type,
                              const std::string& fill, std::uint64_t seed, TallySlot slot) {
  const Fill how = parse_fill(fill);
  auto element = static_cast<std::int32_t>(type);
  std::int32_t kind = how.kind;
  if (kind == constant) seed = std::bit_cast<std::uint64_t>(how.value);
  std::uint64_t* result = tallies_ + 2 * slot;
  void* parameters[] = {&buffer, &elements, &element, &kind, &seed, &result};
  launch(check_fill_kernel, elements * static_cast<std::int64_t>(size_of(type)), parameters);
}

void CheckKernels::clear_tallies() {
  const std::vector<Tally> clear(all_slots);
  device_.write(tallies_, clear.data(), clear.size() * sizeof(Tally));
}

std::vector<Tally> CheckKernels::read_tallies() {
  std::vector<Tally> result(all_slots);
  device_.synchronize();
  device_.read(result.data(), tallies_, result.size() * sizeof(Tally));
  return result;
}

}  // namespace hone::tuner
