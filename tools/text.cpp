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

/// Bytes of the word that the text begins with: up to a space, or with a command between backticks that fits.
std::size_t end_of_word(std::string_view text, std::size_t width) {
  std::size_t end = std::min(text.find(' '), text.size());
  if (std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '`') % 2 == 0) return end;
  const std::size_t closing = text.find('`', end);
  if (closing == std::string_view::npos) return end;
  const std::size_t whole = std::min(text.find(' ', closing), text.size());
  return width_of_text(text.substr(0, whole)) <= width ? whole : end;
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
    const std::size_t end = end_of_word(text, width);
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

std::string folded(std::string_view text, std::size_t width, std::string_view end_of_line) {
  constexpr std::size_t indent = 2;
  std::string result;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, to - from);
    const bool fits = width_of_text(line) <= width;
    const std::vector<std::string> parts =
        fits ? std::vector{std::string(line)} : wrapped(line, width - indent - end_of_line.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
      result +=
          fmt::format("{}{}{}{}", from == 0 && i == 0 ? "" : "\n", std::string(i == 0 ? 0 : indent, ' '),
                      parts[i], i + 1 < parts.size() ? end_of_line : "");
    from = to + 1;
  }
  return result;
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
