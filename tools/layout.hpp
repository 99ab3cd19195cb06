// Columns of texts as lines that fit a terminal, however many and however wide they are.
//
// What does not fit side by side gives way in this order, until it does: what rows next to each other share
// becomes a heading above them; what yields wraps, or goes below its row; texts wrap; and the last columns go
// below their rows, with their titles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::tools {

/// What a text is coloured for, where colour is wanted.
enum class Mark { none, best, good, doubtful, bad };

struct TextColumn {
  std::string title;
  std::vector<std::string> texts;  ///< one a row
  std::vector<Mark> marks;         ///< likewise; empty: none
  bool right = false;              ///< numbers, which never wrap
  bool lifts = false;              ///< said once above the rows that share it
  bool yields = false;             ///< wraps, or goes below the row, before others do
  bool obscure = false;            ///< its texts do not tell what they are: titled even alone below the row
};

/// Lines of at most `width` columns, each ended; empty where there are no rows. What lifts and is the same in
/// all rows is said above the table, whatever the width. `lit` makes the titles bold and colours what is
/// marked beside each other.
std::string lines_of(std::vector<TextColumn> columns, std::size_t width, bool lit);

}  // namespace hone::tools
