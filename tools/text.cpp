#include "tools/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::tools {
namespace {

constexpr std::size_t label_width = 16;

bool continues_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes of the first `columns` columns.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes)
    if (!continues_code_point(text[bytes]) && columns-- == 0) break;
  return bytes;
}

/// How much of a word that is wider than `width` goes onto a line.
std::size_t part_of_word(std::string_view word, std::size_t width) {
  const std::size_t fits = bytes_of(word, width);
  const std::size_t mark = word.substr(0, fits).find_last_of(",=:/");
  return mark == std::string_view::npos ? fits : mark + 1;
}

}  // namespace

std::size_t width_of_text(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines{""};
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (used > 0 && used + 1 + width_of_text(word) > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    while (width_of_text(word) > width) {
      const std::size_t part = part_of_word(word, width);
      lines.back() += word.substr(0, part);
      lines.emplace_back();
      word.remove_prefix(part);
    }
    lines.back() += word;
    used += width_of_text(word);
  }
  return lines;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t columns = width_of_text(text);
  const std::string space(width > columns ? width - columns : 0, ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::string labelled(std::string_view label, std::string_view text, std::size_t width,
                     std::string_view end_of_line) {
  const std::size_t taken = label_width + end_of_line.size();
  const std::vector<std::string> lines = wrapped(text, width > taken ? width - taken : 1);
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i)
    result += fmt::format("{}{}{}\n", padded(i == 0 ? label : "", label_width, false), lines[i],
                          i + 1 < lines.size() ? end_of_line : "");
  return result;
}

}  // namespace hone::tools
