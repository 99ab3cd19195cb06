// Texts in columns of a terminal: how wide they are, and how they are broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::tools {

/// Columns that a text takes, one a code point.
std::size_t width_of_text(std::string_view text);

/// Lines of at most `width` columns (at least 1), broken at spaces; a longer word is broken behind one of
/// `,=:/` where there is one, else anywhere. A command between backticks that fits a line stays whole, to be
/// copied. Never empty.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Each line of `text` as lines of at most `width` columns; where it goes on, two columns in. Where
/// `end_of_line` is given it marks each line that goes on.
std::string folded(std::string_view text, std::size_t width, std::string_view end_of_line = "");

/// `text` with spaces up to `width` columns, before it where it goes to the right.
std::string padded(std::string_view text, std::size_t width, bool right);

/// `label`, filled up to a column that all labels share, and `text` wrapped beside it to `width` columns in
/// all; each line ends. Where `end_of_line` is given it marks each line that goes on.
std::string labelled(std::string_view label, std::string_view text, std::size_t width,
                     std::string_view end_of_line = "");

}  // namespace hone::tools
