#include "tuner/problem_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernel_templates/common/fill.h"
#include "kernel_templates/common/marks.h"

namespace hone::tuner {

namespace {

constexpr std::size_t largest_gap = 32 << 20;  ///< bytes; several of a GPU's pages

/// The elements as doubles.
void to_double(std::span<const std::byte> elements, ElementType type, double* to) {
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i * size < elements.size(); ++i) {
    unsigned long long bits = 0;
    std::memcpy(&bits, elements.data() + i * size, size);
    to[i] = hone_element_number(static_cast<int>(type), bits);
  }
}

/// What a bound of the manifest allows for an argument whose largest finite reference is `largest`.
Tolerance tolerance_of(Comparison comparison, double bound, ElementType type, double largest) {
  if (comparison == Comparison::relative) return {bound * largest, 0};
  return {bound * smallest_normal(type), bound};
}

/// Tallies of one argument, in this order.
enum Part : TallySlot { before, after, gaps, contents, parts };

std::string said(Part part, const std::string& argument, const Tally& tally) {
  if (part == gaps)
    return fmt::format("{} elements of {} that no result belongs to changed, the first at {}", tally.wrong,
                       argument, tally.first);
  return fmt::format("{} bytes changed {} {}", tally.wrong, part == before ? "before" : "after", argument);
}

}  // namespace

ProblemBuffers::ProblemBuffers(Device& device, CheckKernels& kernels, db::Evaluator& evaluator,
                               const Family& family, const db::Problem& problem, const Reference& reference,
                               std::int64_t offset, std::int64_t copies, std::uint64_t seed)
    : device_(device),
      kernels_(kernels),
      family_(family),
      problem_(problem),
      shapes_(argument_shapes(evaluator, family, problem)),
      offset_(offset),
      seed_(seed) {
  for (const auto& [name, value] : problem.dimensions) dimensions_.push_back(value);
  scalars_.resize(shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (family_.arguments[i].kind != ArgumentKind::scalar) continue;
    // A scalar is filled as one element on the device and read back.
    DeviceMemory one(device_, 8);
    kernels_.fill(one.get(), 1, shapes_[i].type, family_.arguments[i].fill, seed_of(i));
    device_.synchronize();
    device_.read(&scalars_[i], one.get(), size_of(shapes_[i].type));
  }
  for (std::int64_t i = 0; i <= copies; ++i) sets_.push_back(make_set());
  std::vector<const void*> pointers;
  for (void* pointer : sets_[0].pointers)
    if (pointer != nullptr) pointers.push_back(pointer);
  alignment_ = alignment_of(pointers);
  compute(reference);
  fill_inputs(sets_[0]);
}

void ProblemBuffers::spread(std::int64_t copies) {
  // Gaps of many sizes: allocations one after the other would meet the cache's parts in the same way.
  std::mt19937_64 random(seed_);
  std::uniform_int_distribution<std::size_t> gap(1, largest_gap);
  try {
    for (std::int64_t i = 0; i < copies; ++i) {
      gaps_.emplace_back(device_, gap(random));
      sets_.push_back(make_set());
    }
  } catch (const DeviceError& error) {
    if (error.sticky()) throw;
  }
}

bool ProblemBuffers::written(std::size_t argument) const {
  const Argument& a = family_.arguments[argument];
  return a.kind == ArgumentKind::pointer && a.access != ArgumentAccess::read;
}

ProblemBuffers::Set ProblemBuffers::make_set() {
  Set set;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    set.buffers.emplace_back();
    set.pointers.push_back(nullptr);
    if (family_.arguments[i].kind != ArgumentKind::pointer) continue;
    const auto shift = static_cast<std::size_t>(offset_) * size_of(shapes_[i].type);
    const std::size_t total = shapes_[i].bytes() + 2 * static_cast<std::size_t>(guard_bytes) + shift;
    DeviceMemory memory(device_, total);
    std::byte* data = memory.get() + guard_bytes + shift;
    device_.set(memory.get(), guard_sentinel, total);
    set.pointers.back() = data;
    set.buffers.back().emplace(Buffer{std::move(memory), data, total});
  }
  fill_inputs(set);
  return set;
}

void ProblemBuffers::fill_inputs(const Set& set) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const Argument& a = family_.arguments[i];
    if (a.kind == ArgumentKind::pointer && a.access != ArgumentAccess::write)
      kernels_.fill(set.pointers[i], shapes_[i].elements, shapes_[i].type, a.fill, seed_of(i));
  }
}

void ProblemBuffers::compute(const Reference& reference) {
  device_.synchronize();
  // On the host device the reference reads and writes device memory; a GPU's is copied. For a comparison that
  // is not bitwise what is written is held in double precision, starting from the values a `read_write`
  // argument has, or from a mark: what the reference leaves alone a kernel has to leave alone too.
  const bool in_place = device_.info().backend == Backend::host;
  const bool doubles = family_.check.comparison != Comparison::bitwise;
  std::vector<std::vector<std::byte>> copies(shapes_.size());
  std::vector<void*> arguments;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const Argument& a = family_.arguments[i];
    reference_.emplace_back();
    if (a.kind == ArgumentKind::scalar) {
      arguments.push_back(&scalars_[i]);
      continue;
    }
    const auto elements = static_cast<std::size_t>(shapes_[i].elements);
    const std::size_t bytes = written(i) && doubles ? elements * sizeof(double) : shapes_[i].bytes();
    if (written(i)) reference_.back().emplace(device_, std::max<std::size_t>(bytes, 1));
    if (in_place) {
      arguments.push_back(written(i) ? reference_.back()->get() : sets_[0].pointers[i]);
    } else {
      copies[i].resize(bytes);
      arguments.push_back(copies[i].data());
    }
    if (a.access == ArgumentAccess::write) {
      if (doubles)
        std::fill_n(static_cast<double*>(arguments.back()), elements, hone_mark_number(hone_untouched));
      continue;
    }
    if (written(i)) {
      std::vector<std::byte> initial(shapes_[i].bytes());
      device_.read(initial.data(), sets_[0].pointers[i], initial.size());
      if (doubles) {
        to_double(initial, shapes_[i].type, static_cast<double*>(arguments.back()));
      } else {
        std::memcpy(arguments.back(), initial.data(), initial.size());
      }
    } else if (!in_place) {
      device_.read(copies[i].data(), sets_[0].pointers[i], bytes);
    }
  }

  db::Evaluator evaluator;
  const std::int64_t items = evaluator.evaluate(family_.check.items, problem_names(problem_));
  reference.compute(problem_, arguments, items);

  tolerances_.resize(shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (!written(i)) continue;
    if (doubles) {
      const auto bound = family_.check.bounds.find(shapes_[i].type);
      if (bound == family_.check.bounds.end())
        throw Error(ErrorCode::invalid,
                    fmt::format("{}: [check] bounds has no {}; add the largest relative error",
                                family_.file.string(), name(shapes_[i].type)));
      const auto* values = static_cast<const double*>(arguments[i]);
      double largest = 0;  // marks are NaNs
      for (std::int64_t e = 0; e < shapes_[i].elements; ++e)
        if (std::isfinite(values[e])) largest = std::max(largest, std::abs(values[e]));
      tolerances_[i] = tolerance_of(family_.check.comparison, bound->second, shapes_[i].type, largest);
    }
    if (!in_place) device_.write(reference_[i]->get(), copies[i].data(), copies[i].size());
  }
}

LaunchParameters ProblemBuffers::parameters(const Plan& plan, std::int64_t set, void* workspace) const {
  LaunchParameters result;
  const Set& from = sets_[static_cast<std::size_t>(set)];
  result.maps = std::make_unique<TensorMap[]>(plan.tensor_maps.size());
  for (std::size_t i = 0; i < plan.tensor_maps.size(); ++i)
    device_.encode(plan.tensor_maps[i], from.pointers[plan.tensor_maps[i].argument], result.maps[i]);
  result.workspace = std::make_unique<void*>(workspace);
  for (const LaunchArgument& a : plan.arguments) {
    using From = LaunchArgument::From;
    switch (a.from) {
      case From::dimension:
        result.addresses.push_back(&dimensions_[a.index]);
        break;
      case From::tensor_map:
        result.addresses.push_back(&result.maps[a.index]);
        break;
      case From::workspace:
        result.addresses.push_back(result.workspace.get());
        break;
      case From::argument:
        if (family_.arguments[a.index].kind == ArgumentKind::scalar)
          result.addresses.push_back(&scalars_[a.index]);
        else
          result.addresses.push_back(const_cast<void**>(&from.pointers[a.index]));
    }
  }
  return result;
}

void ProblemBuffers::reset() {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (!written(i)) continue;
    const Argument& a = family_.arguments[i];
    void* data = sets_[0].pointers[i];
    if (a.access == ArgumentAccess::read_write)
      kernels_.fill(data, shapes_[i].elements, shapes_[i].type, a.fill, seed_of(i));
    else if (family_.check.comparison == Comparison::bitwise)
      kernels_.poison(data, reference_[i]->get(), static_cast<std::int64_t>(shapes_[i].bytes()));
    else
      kernels_.poison_numbers(data, reinterpret_cast<const double*>(reference_[i]->get()),
                              shapes_[i].elements, shapes_[i].type);
  }
}

TallySlot ProblemBuffers::tallies() const noexcept {
  return parts * static_cast<TallySlot>(shapes_.size());
}

TallySlot ProblemBuffers::compare(TallySlot first) {
  TallySlot slot = first;
  for (std::size_t i = 0; i < shapes_.size(); ++i, slot += parts) {
    if (family_.arguments[i].kind != ArgumentKind::pointer) continue;
    const Buffer& buffer = *sets_[0].buffers[i];
    const std::byte* start = buffer.memory.get();
    const auto bytes = static_cast<std::int64_t>(shapes_[i].bytes());
    const std::int64_t front = buffer.data - start;
    kernels_.check_bytes(start, front, guard_sentinel, slot + before);
    kernels_.check_bytes(buffer.data + bytes, static_cast<std::int64_t>(buffer.total) - front - bytes,
                         guard_sentinel, slot + after);
    if (!written(i))
      kernels_.check_fill(buffer.data, shapes_[i].elements, shapes_[i].type, family_.arguments[i].fill,
                          seed_of(i), slot + contents);
    else if (family_.check.comparison == Comparison::bitwise)
      kernels_.compare_bits(buffer.data, reference_[i]->get(), shapes_[i].elements, shapes_[i].type,
                            slot + contents);
    else
      kernels_.compare_numbers(buffer.data, reinterpret_cast<const double*>(reference_[i]->get()),
                               shapes_[i].elements, shapes_[i].type, tolerances_[i], slot + contents,
                               slot + gaps);
  }
  return slot - first;
}

std::optional<Fault> ProblemBuffers::judge(const std::vector<Tally>& tallies, TallySlot first) const {
  const std::string where =
      problem_.text() + (offset_ > 0 ? fmt::format(" at an offset of {} elements", offset_) : "");
  const auto find = [&](auto wanted, auto say) -> std::optional<Fault> {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (family_.arguments[i].kind != ArgumentKind::pointer) continue;
      for (TallySlot part = 0; part < parts; ++part) {
        const Tally& tally = tallies[first + i * parts + part];
        if (tally.wrong > 0 && wanted(i, part)) return say(family_.arguments[i].name, part, tally);
      }
    }
    return std::nullopt;
  };
  // A write outside may also be what made a value wrong or an input change, so it is named first.
  if (auto fault = find([](std::size_t, TallySlot part) { return part != contents; },
                        [&](const std::string& argument, TallySlot part, const Tally& tally) {
                          return Fault{db::Outcome::wrote_outside,
                                       fmt::format("{}: {}", where, said(Part{part}, argument, tally))};
                        }))
    return fault;
  if (auto fault = find([&](std::size_t i, TallySlot) { return !written(i); },
                        [&](const std::string& argument, TallySlot, const Tally& tally) {
                          return Fault{db::Outcome::input_changed,
                                       fmt::format("{}: {} elements of {} changed, the first at {}", where,
                                                   tally.wrong, argument, tally.first)};
                        }))
    return fault;
  return find([](std::size_t, TallySlot) { return true; },
              [&](const std::string& argument, TallySlot, const Tally& tally) {
                return Fault{db::Outcome::wrong_result,
                             fmt::format("{}: {} elements of {} are wrong, the first at {}", where,
                                         tally.wrong, argument, tally.first)};
              });
}

void ProblemBuffers::restore() {
  for (Set& set : sets_) {
    for (auto& buffer : set.buffers)
      if (buffer) device_.set(buffer->memory.get(), guard_sentinel, buffer->total);
    fill_inputs(set);
  }
  device_.synchronize();
}

}  // namespace hone::tuner
