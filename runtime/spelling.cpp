#include "runtime/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hone {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return "; there is none";
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  const std::size_t tolerated = std::max<std::size_t>(2, word.size() / 3);
  std::string text;
  if (edit_distance(word, *nearest) <= tolerated) text = fmt::format("; did you mean `{}`?", *nearest);
  return text + fmt::format(" (known: {})", fmt::join(known, ", "));
}

}  // namespace hone
