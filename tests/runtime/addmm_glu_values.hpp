// Problems of addmm_glu with their arguments, and what is wrong with a kernel's results, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernel_templates/common/fill.h"
#include "tests/runtime/addmm_glu_rig.hpp"

namespace hone::test {

using Halves = std::vector<std::uint16_t>;

/// A problem with its arguments. Elements that no result depends on are NaN: reading one shows.
struct Case {
  std::int64_t m, n, k, lda, ldb, ldy, ldo;
  bool transposed;
  int element;
  Halves a, b, bias, y;

  Case(const db::Problem& problem, const std::vector<ArgumentShape>& shapes)
      : transposed(problem.layout == "nt"), element(problem.element_type == "bf16" ? hone_bf16 : hone_f16) {
    std::int64_t* const to[] = {&m, &n, &k, &lda, &ldb, &ldy, &ldo};
    for (std::size_t i = 0; i < std::size(to); ++i) *to[i] = problem.dimensions[i].second;
    a = rows(m, k, lda, shapes[0].elements, 1);
    b = transposed ? rows(n, k, ldb, shapes[1].elements, 2) : rows(k, n, ldb, shapes[1].elements, 2);
    bias = rows(1, n, n, shapes[2].elements, 3);
    y = rows(m, n, ldy, shapes[3].elements, 4);
  }

  double number(std::uint16_t half) const { return hone_element_number(element, half); }

  double right(std::int64_t i, std::int64_t j) const {
    double x = number(at(bias, j));
    for (std::int64_t s = 0; s < k; ++s)
      x += number(at(a, i * lda + s)) * number(at(b, transposed ? j * ldb + s : s * ldb + j));
    return x + x * number(at(y, i * ldy + j));
  }

 private:
  static std::uint16_t at(const Halves& halves, std::int64_t i) {
    return halves[static_cast<std::size_t>(i)];
  }

  Halves rows(std::int64_t count, std::int64_t width, std::int64_t stride, std::int64_t elements,
              std::uint64_t seed) const {
    Halves result(static_cast<std::size_t>(elements), 0x7FFF);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < width; ++j)
        result[static_cast<std::size_t>(i * stride + j)] =
            static_cast<std::uint16_t>(hone_fill_bits(element, hone_fill_uniform, seed, i * width + j));
    return result;
  }
};

/// What is wrong with out's elements; nothing if none is. Gaps have to hold `gap` still.
inline std::string fault(const Case& c, const std::uint16_t* out, std::uint16_t gap) {
  std::vector<double> right;
  double largest = 0;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      right.push_back(c.right(i, j));
      largest = std::max(largest, std::abs(right.back()));
    }
  }
  const double bound = (c.element == hone_bf16 ? 6e-3 : 1e-3) * largest;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < (i + 1 < c.m ? c.ldo : c.n); ++j) {
      const std::uint16_t half = out[i * c.ldo + j];
      const std::string where = "element " + std::to_string(i) + ", " + std::to_string(j);
      if (j >= c.n) {
        if (half != gap) return where + " of a gap changed";
      } else if (!(std::abs(c.number(half) - right[static_cast<std::size_t>(i * c.n + j)]) <= bound)) {
        return where + " is wrong";
      }
    }
  }
  return "";
}

/// Edges, and strided views.
inline const std::vector<AddmmGluRig::Dimensions> problems = {
    {{"M", 1}, {"N", 1}, {"K", 1}},
    {{"M", 3}, {"N", 5}, {"K", 7}},
    {{"M", 64}, {"N", 64}, {"K", 64}},
    {{"M", 17}, {"N", 72}, {"K", 200}},
    {{"M", 65}, {"N", 129}, {"K", 33}, {"lda", 34}, {"ldb", 131}, {"ldy", 130}, {"ldo", 133}},
    {{"M", 130}, {"N", 40}, {"K", 72}, {"lda", 80}, {"ldb", 90}, {"ldy", 41}, {"ldo", 64}},
};

}  // namespace hone::test
