// The kernels that check kernels: what they fill is what fill.h says, and each fault planted is found.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "kernel_templates/common/fill.h"
#include "kernel_templates/common/marks.h"
#include "runtime/element_type.hpp"
#include "tests/runtime/host_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

constexpr ElementType every_type[] = {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8,
                                      ElementType::f64, ElementType::i32, ElementType::i64,  ElementType::u8};

/// The check kernels, on a grid that leaves some threads without work and gives others several turns.
class Checker {
 public:
  /// Compiled once.
  static Checker& shared() {
    static Checker checker;
    return checker;
  }

  Checker() {
    const std::string source = define({{"HONE_BACKEND_HOST", "1"}, {"HONE_BLOCK", "256"}}) +
                               expand_includes(templates + "/common/check.cpp");
    const auto object = rig_.object(source, "hone_fill");
    for (const char* entry : {"hone_fill", "hone_poison", "hone_poison_numbers", "hone_compare_bits",
                              "hone_compare_numbers", "hone_check_bytes", "hone_check_fill"}) {
      kernels_[entry] = rig_.device().load(object, entry);
    }
  }

  template <typename... Arguments>
  void run(const char* entry, Arguments... arguments) {
    rig_.launch(*kernels_.at(entry), line(3, 256), arguments...);
  }

  struct Found {
    unsigned long long count = 0;
    unsigned long long first = ~0ULL;
    bool operator==(const Found&) const = default;
  };

  Found compare_bits(const void* out, const void* reference, long long elements, int size) {
    Found found;
    run("hone_compare_bits", out, reference, elements, size, &found.count);
    return found;
  }
  Found compare_numbers(const void* out, const double* reference, long long elements, int element,
                        double absolute, double relative = 0) {
    const auto [found, gaps] = compare_marked(out, reference, elements, element, absolute, relative);
    CHECK(gaps == Found{});
    return found;
  }
  /// What is wrong, and what changed in gaps.
  std::pair<Found, Found> compare_marked(const void* out, const double* reference, long long elements,
                                         int element, double absolute, double relative = 0) {
    Found found;
    Found gaps;
    run("hone_compare_numbers", out, reference, elements, element, absolute, relative, &found.count,
        &gaps.count);
    return {found, gaps};
  }
  Found check_bytes(const void* region, long long bytes, int sentinel) {
    Found found;
    run("hone_check_bytes", region, bytes, sentinel, &found.count);
    return found;
  }
  Found check_fill(const void* buffer, long long elements, int element, int fill, unsigned long long seed) {
    Found found;
    run("hone_check_fill", buffer, elements, element, fill, seed, &found.count);
    return found;
  }

 private:
  HostRig rig_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

std::ostream& operator<<(std::ostream& stream, const Checker::Found& found) {
  return stream << found.count << " from " << found.first;
}

using Found = Checker::Found;
constexpr Found nothing{};

}  // namespace

TEST_CASE("fill.h's element numbers and sizes are the runtime's") {
  for (const ElementType type : every_type) {
    CHECK(hone_element_size(static_cast<int>(type)) == static_cast<int>(size_of(type)));
  }
  CHECK(static_cast<int>(ElementType::f32) == hone_f32);
  CHECK(static_cast<int>(ElementType::f16) == hone_f16);
  CHECK(static_cast<int>(ElementType::bf16) == hone_bf16);
  CHECK(static_cast<int>(ElementType::i8) == hone_i8);
  CHECK(static_cast<int>(ElementType::f64) == hone_f64);
  CHECK(static_cast<int>(ElementType::i32) == hone_i32);
  CHECK(static_cast<int>(ElementType::i64) == hone_i64);
  CHECK(static_cast<int>(ElementType::u8) == hone_u8);
}

TEST_CASE("bits and numbers convert exactly, rounding towards zero") {
  const auto bits_of = [](double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  };
  CHECK(hone_element_number(hone_f16, 0x3C00) == 1.0);
  CHECK(hone_element_number(hone_f16, 0x0001) == std::ldexp(1, -24));
  CHECK(hone_element_number(hone_f16, 0x83FF) == -std::ldexp(1023, -24));
  CHECK(hone_element_number(hone_f16, 0x7BFF) == 65504);
  CHECK(hone_element_number(hone_f16, 0xFC00) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(hone_element_number(hone_f16, 0x7C01)));
  CHECK(hone_element_number(hone_bf16, 0xC040) == -3.0);
  CHECK(std::signbit(hone_element_number(hone_bf16, 0x8000)));
  CHECK(hone_element_number(hone_i8, 0x80) == -128);
  CHECK(hone_element_number(hone_u8, 0x80) == 128);
  CHECK(hone_element_number(hone_i32, 0xFFFFFFFF) == -1);
  CHECK(hone_element_number(hone_i64, ~0ULL) == -1);
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const auto word = static_cast<std::uint32_t>(hone_random(1, i));
    float single = 0;
    std::memcpy(&single, &word, 4);
    const double number = hone_element_number(hone_f32, word);
    if (std::isnan(single)) {
      REQUIRE(std::isnan(number));
    } else {
      REQUIRE(number == static_cast<double>(single));
      REQUIRE(hone_round_to_zero(hone_f32, bits_of(number)) == word);
    }
  }
  for (const int element : {hone_f16, hone_bf16}) {
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const double number = hone_element_number(element, bits);
      if (!std::isnan(number)) REQUIRE(hone_round_to_zero(element, bits_of(number)) == bits);
      if (std::isfinite(number) && number != 0) {
        // A little more in magnitude is still the same, a little less is the next one down.
        REQUIRE(hone_round_to_zero(element, bits_of(number * (1 + 1e-9))) == bits);
        REQUIRE(hone_round_to_zero(element, bits_of(number * (1 - 1e-9))) == bits - 1);
      }
    }
  }
  CHECK(hone_round_to_zero(hone_i8, bits_of(-7.9)) == 0xF9);
  CHECK(hone_round_to_zero(hone_i8, bits_of(1000)) == 127);
  CHECK(hone_round_to_zero(hone_i8, bits_of(-1000)) == 128);
  CHECK(hone_round_to_zero(hone_u8, bits_of(255.5)) == 255);
  CHECK(hone_round_to_zero(hone_u8, bits_of(-1)) == 0);
  CHECK(hone_round_to_zero(hone_i32, bits_of(-2147483648.0)) == 0x80000000U);
  CHECK(hone_round_to_zero(hone_i64, bits_of(1e18)) == 1000000000000000000ULL);
  CHECK(hone_round_to_zero(hone_i64, bits_of(-1e300)) == 1ULL << 63);
}

TEST_CASE("fills have the range and the special values they promise") {
  for (const ElementType type : every_type) {
    const int element = static_cast<int>(type);
    double least = 0;
    double most = 0;
    double sum = 0;
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t bits = hone_fill_bits(element, hone_fill_uniform, 1, i);
      if (size_of(type) < 8) REQUIRE(bits >> (8 * size_of(type)) == 0);
      const double number = hone_element_number(element, bits);
      least = std::min(least, number);
      most = std::max(most, number);
      sum += number;
    }
    INFO(name(type));
    if (hone_is_float(element)) {
      CHECK(least >= -1);
      CHECK(least < -0.99);
      CHECK(most < 1);
      CHECK(most > 0.99);
      CHECK(std::abs(sum / 20000) < 0.02);
    } else {
      CHECK(least == (type == ElementType::u8 ? 0 : -8));
      CHECK(most == (type == ElementType::u8 ? 16 : 8));
    }
  }
  for (const int element : {hone_f32, hone_f16, hone_bf16, hone_f64}) {
    int special = 0;
    std::set<std::uint64_t> kinds;
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t bits = hone_fill_bits(element, hone_fill_any, 2, i);
      const double number = hone_element_number(element, bits);
      const std::uint64_t mantissa = bits & ((1ULL << hone_mantissa_bits(element)) - 1);
      if (number == 0 || std::isinf(number)) kinds.insert(bits);
      if (std::isnan(number)) kinds.insert(std::signbit(number) ? 1 : 2);
      special += number == 0 || std::isinf(number) || std::isnan(number) || mantissa == 1 ? 1 : 0;
    }
    CHECK(kinds.size() >= 5);
    CHECK(special > 20000 / 16 / 4);
  }
  std::set<std::uint64_t> bytes;
  for (int i = 0; i < 20000; ++i) bytes.insert(hone_fill_bits(hone_i8, hone_fill_any, 3, i));
  CHECK(bytes.size() == 256);
  CHECK(hone_fill_bits(hone_f32, hone_fill_uniform, 1, 7) !=
        hone_fill_bits(hone_f32, hone_fill_uniform, 2, 7));
  CHECK(hone_fill_bits(hone_f16, hone_fill_constant, 0x3FF8000000000000ULL, 5) == 0x3E00);
}

TEST_CASE("the fill kernel writes what fill.h computes, at any address, and no byte more") {
  Checker& checker = Checker::shared();
  for (const ElementType type : every_type) {
    for (const int fill : {hone_fill_uniform, hone_fill_any, hone_fill_constant}) {
      const unsigned long long seed = fill == hone_fill_constant ? 0xC008000000000000ULL : 77;
      for (const long long elements : {0LL, 1LL, 2LL, 7LL, 8LL, 9LL, 15LL, 17LL, 5003LL, 40000LL}) {
        for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{8}}) {
          const std::size_t size = size_of(type);
          const std::size_t bytes = static_cast<std::size_t>(elements) * size;
          std::vector<unsigned char> memory(bytes + 64, 0xA5);
          unsigned char* to = memory.data() + 16 + offset;
          checker.run("hone_fill", static_cast<void*>(to), elements, static_cast<int>(type), fill, seed);
          bool right = true;
          for (long long i = 0; i < elements; ++i) {
            const std::uint64_t bits = hone_fill_bits(static_cast<int>(type), fill, seed, i);
            right = right && std::memcmp(to + static_cast<std::size_t>(i) * size, &bits, size) == 0;
          }
          INFO(name(type) << " fill " << fill << " elements " << elements << " offset " << offset);
          CHECK(right);
          CHECK(std::all_of(memory.data(), to, [](unsigned char c) { return c == 0xA5; }));
          CHECK(std::all_of(to + bytes, memory.data() + memory.size(),
                            [](unsigned char c) { return c == 0xA5; }));
          CHECK(checker.check_fill(to, elements, static_cast<int>(type), fill, seed) == nothing);
          if (elements > 2) {
            to[2 * size] ^= 1;
            CHECK(checker.check_fill(to, elements, static_cast<int>(type), fill, seed) == Found{1, 2});
          }
        }
      }
    }
  }
}

TEST_CASE("poison differs from the reference in every byte") {
  Checker& checker = Checker::shared();
  for (const long long bytes : {0LL, 1LL, 15LL, 16LL, 33LL, 9999LL}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}}) {
      std::vector<unsigned char> reference(static_cast<std::size_t>(bytes) + 32);
      std::vector<unsigned char> out(reference.size(), 0xA5);
      for (std::size_t i = 0; i < reference.size(); ++i) reference[i] = static_cast<unsigned char>(i * 7);
      checker.run("hone_poison", static_cast<void*>(out.data() + offset),
                  static_cast<const void*>(reference.data() + 1), bytes);
      bool right = true;
      for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i) {
        right = right && out[offset + i] == static_cast<unsigned char>(~reference[1 + i]);
      }
      CHECK(right);
      CHECK(out[offset + static_cast<std::size_t>(bytes)] == 0xA5);
    }
  }
}

TEST_CASE("every differing element is counted, and the first is named") {
  Checker& checker = Checker::shared();
  for (const int size : {1, 2, 4, 8}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
      const long long elements = 10007;
      const std::size_t bytes = static_cast<std::size_t>(elements) * static_cast<std::size_t>(size);
      std::vector<unsigned char> out(bytes + 32);
      std::vector<unsigned char> reference(bytes + 32);
      checker.run("hone_fill", static_cast<void*>(out.data() + offset), static_cast<long long>(bytes),
                  static_cast<int>(hone_i8), static_cast<int>(hone_fill_any), 5ULL);
      std::memcpy(reference.data(), out.data() + offset, bytes);
      unsigned char* first = out.data() + offset;
      INFO("size " << size << " offset " << offset);
      CHECK(checker.compare_bits(first, reference.data(), elements, size) == nothing);
      // One element short, as after a lost tail.
      reference[bytes - 1] ^= 0x80;
      CHECK(checker.compare_bits(first, reference.data(), elements, size) == Found{1, 10006});
      CHECK(checker.compare_bits(first, reference.data(), elements - 1, size) == nothing);
      reference[0] ^= 1;
      reference[static_cast<std::size_t>(size)] ^= 1;
      CHECK(checker.compare_bits(first, reference.data(), elements, size) == Found{3, 0});
      if (size > 1) {
        reference[static_cast<std::size_t>(size) + 1] ^= 1;  // the same element once more
        CHECK(checker.compare_bits(first, reference.data(), elements, size) == Found{3, 0});
      }
      for (auto& byte : reference) byte = static_cast<unsigned char>(byte + 1);
      CHECK(checker.compare_bits(first, reference.data(), elements, size).count > 9000);
      CHECK(checker.compare_bits(first, reference.data(), 0, size) == nothing);
    }
  }
  // NaNs compare by their bits.
  const std::uint32_t a = 0x7FC00001;
  std::uint32_t b = a;
  CHECK(checker.compare_bits(&a, &b, 1, 4) == nothing);
  b = 0x7FC00002;
  CHECK(checker.compare_bits(&a, &b, 1, 4) == Found{1, 0});
}

TEST_CASE("a NaN passes no bound, and an infinity for its like alone") {
  Checker& checker = Checker::shared();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto compare = [&](float out, double reference, double bound) {
    return checker.compare_numbers(&out, &reference, 1, hone_f32, bound) == nothing;
  };
  CHECK(compare(1.0F, 1.0, 0));
  CHECK(compare(1.0F, 1.25, 0.25));
  CHECK(compare(1.5F, 1.25, 0.25));
  CHECK_FALSE(compare(1.0F, 1.2500001, 0.25));
  CHECK_FALSE(compare(1.5000001F, 1.25, 0.25));
  CHECK_FALSE(compare(static_cast<float>(nan), 0, 1e30));
  CHECK_FALSE(compare(0, nan, 1e30));
  CHECK(compare(static_cast<float>(nan), nan, 0));
  CHECK(compare(static_cast<float>(infinity), infinity, 0));
  CHECK_FALSE(compare(static_cast<float>(infinity), -infinity, 1e300));
  CHECK_FALSE(compare(static_cast<float>(infinity), 1e300, 1e300));
  CHECK_FALSE(compare(1, infinity, 1e300));
  CHECK_FALSE(compare(1, 2, nan));
  CHECK_FALSE(compare(1, 2, infinity));
  const auto near = [&](float out, double reference, double relative) {
    return checker.compare_numbers(&out, &reference, 1, hone_f32, 0, relative) == nothing;
  };
  CHECK(near(-4.5F, -4, 0.125));
  CHECK_FALSE(near(-4.5F, -4, 0.124));
  CHECK_FALSE(near(4, -4, 1));
  CHECK(near(0, 0, 0.5));
  CHECK_FALSE(near(static_cast<float>(nan), 1, 1e30));
  CHECK_FALSE(near(1, nan, 1e30));
  CHECK_FALSE(near(static_cast<float>(infinity), -infinity, 1));
  CHECK_FALSE(near(1, infinity, 1));
  CHECK_FALSE(near(static_cast<float>(infinity), 1e300, 1));

  for (const ElementType type : every_type) {
    const std::size_t size = size_of(type);
    const long long elements = 4099;
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}}) {
      std::vector<unsigned char> out(static_cast<std::size_t>(elements) * size + 16);
      checker.run("hone_fill", static_cast<void*>(out.data() + offset), elements, static_cast<int>(type),
                  static_cast<int>(hone_fill_uniform), 11ULL);
      std::vector<double> reference;
      for (long long i = 0; i < elements; ++i) {
        reference.push_back(hone_element_number(
            static_cast<int>(type), hone_fill_bits(static_cast<int>(type), hone_fill_uniform, 11, i)));
      }
      INFO(name(type) << " offset " << offset);
      CHECK(checker.compare_numbers(out.data() + offset, reference.data(), elements, static_cast<int>(type),
                                    0) == nothing);
      reference[4098] += 3;
      reference[17] -= 3;
      CHECK(checker.compare_numbers(out.data() + offset, reference.data(), elements, static_cast<int>(type),
                                    2.5) == Found{2, 17});
      CHECK(checker.compare_numbers(out.data() + offset, reference.data(), elements, static_cast<int>(type),
                                    3.5) == nothing);
    }
  }
}

TEST_CASE("poison for numbers agrees with no reference, a NaN neither") {
  Checker& checker = Checker::shared();
  const std::vector<double> reference{0, 1, -2.5, std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity()};
  const auto elements = static_cast<long long>(reference.size());
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::f64}) {
    std::vector<unsigned char> out(reference.size() * size_of(type) + 2, 0x5A);
    void* const start = out.data() + 1;
    checker.run("hone_poison_numbers", start, reference.data(), elements, static_cast<int>(type));
    CHECK(checker.compare_numbers(start, reference.data(), elements, static_cast<int>(type), 1e30, 1) ==
          Found{5, 0});
    CHECK(out.front() == 0x5A);
    CHECK(out.back() == 0x5A);
  }
}

TEST_CASE("what a reference leaves untouched keeps its bytes, and what it leaves out becomes a number") {
  Checker& checker = Checker::shared();
  const double untouched = hone_mark_number(hone_untouched);
  const double unsampled = hone_mark_number(hone_unsampled);
  const std::vector<double> reference{1, untouched, unsampled, untouched, 2};
  const auto elements = static_cast<long long>(reference.size());
  for (const ElementType type : every_type) {
    const std::size_t size = size_of(type);
    const int element = static_cast<int>(type);
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}}) {
      INFO(name(type) << " offset " << offset);
      std::vector<unsigned char> out(reference.size() * size + offset + 1, 0x5A);
      unsigned char* const start = out.data() + offset;
      const auto at = [&](std::size_t i) { return start + i * size; };
      const auto write = [&](std::size_t i, double value) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, 8);
        bits = hone_round_to_zero(element, bits);
        std::memcpy(at(i), &bits, size);
      };
      const auto compare = [&] {
        return checker.compare_marked(start, reference.data(), elements, element, 0.25);
      };
      checker.run("hone_poison_numbers", static_cast<void*>(start), reference.data(), elements, element);
      CHECK(out.back() == 0x5A);
      for (const std::size_t gap : {1, 3}) {
        CHECK(std::all_of(at(gap), at(gap + 1), [](unsigned char byte) { return byte == 0xA5; }));
      }
      // Poison is a NaN where a type has one; an integer's is as good as any other.
      const bool floating = hone_is_float(element);
      CHECK(compare() == std::pair<Found, Found>{Found{floating ? 3U : 2U, 0}, nothing});
      write(0, 1);
      write(4, 2);
      CHECK(compare() == std::pair<Found, Found>{floating ? Found{1, 2} : nothing, nothing});
      write(2, -5);
      CHECK(compare() == std::pair<Found, Found>{nothing, nothing});
      *(at(4) - 1) ^= 1;  // the last byte of a gap
      CHECK(compare() == std::pair<Found, Found>{nothing, Found{1, 3}});
      write(1, 0);
      write(4, 3);
      CHECK(compare() == std::pair<Found, Found>{Found{1, 4}, Found{2, 1}});
    }
  }
  // A NaN of any other bits is a number's enemy and no mark.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  float out = 0;
  checker.run("hone_poison_numbers", static_cast<void*>(&out), &nan, 1LL, static_cast<int>(hone_f32));
  CHECK(out == 0);
}

TEST_CASE("one byte written beyond a buffer is found in its guard") {
  Checker& checker = Checker::shared();
  for (const long long bytes : {0LL, 1LL, 7LL, 8LL, 9LL, 16LL, 17LL, 4096LL}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{5}}) {
      std::vector<unsigned char> memory(static_cast<std::size_t>(bytes) + 32, 0x5A);
      unsigned char* region = memory.data() + offset;
      CHECK(checker.check_bytes(region, bytes, 0x5A) == nothing);
      for (const long long at : {0LL, bytes / 2, bytes - 1}) {
        if (at < 0 || at >= bytes) continue;
        region[at] = 0;
        CHECK(checker.check_bytes(region, bytes, 0x5A) == Found{1, static_cast<unsigned long long>(at)});
        region[at] = 0x5A;
      }
      if (bytes > 0) {
        CHECK(checker.check_bytes(region, bytes, 0x5B) == Found{static_cast<unsigned long long>(bytes), 0});
      }
    }
  }
}
