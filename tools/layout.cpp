#include "tools/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "tools/text.hpp"

namespace hone::tools {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest_yielding = 40;  ///< of a text that yields, within its column
constexpr std::size_t narrowest_text = 16;      ///< of another one
constexpr std::size_t indent = 4;               ///< of lines below a row

struct Placed : TextColumn {
  std::size_t width = 0;
  std::size_t least = 0;  ///< to which it may shrink
};
using Columns = std::vector<Placed>;

std::size_t widest_word(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    widest = std::max(widest, width_of_text(std::string_view(text).substr(from, to - from)));
    from = to + 1;
  }
  return widest;
}

Placed placed(TextColumn column) {
  std::size_t widest = 0;
  for (const std::string& text : column.texts) widest = std::max(widest, width_of_text(text));
  const std::size_t least = column.right ? widest : std::min(widest, narrowest_text);
  const std::size_t title = width_of_text(column.title), title_word = widest_word(column.title);
  return {std::move(column), std::max(widest, title), std::max(least, title_word)};
}

std::size_t total(const Columns& columns, std::size_t Placed::*width) {
  const std::size_t gaps = columns.empty() ? 0 : gap * (columns.size() - 1);
  return std::accumulate(columns.begin(), columns.end(), gaps,
                         [&](std::size_t sum, const Placed& column) { return sum + column.*width; });
}

bool same_as_before(const std::vector<TextColumn>& columns, std::size_t row) {
  return row > 0 && std::all_of(columns.begin(), columns.end(), [&](const TextColumn& column) {
           return column.texts[row] == column.texts[row - 1];
         });
}

std::size_t blocks_of(const std::vector<TextColumn>& columns, std::size_t rows) {
  std::size_t blocks = 0;
  for (std::size_t row = 0; row < rows; ++row) blocks += same_as_before(columns, row) ? 0 : 1;
  return blocks;
}

/// `type: f16, shape: numel=64` as lines, broken between the two where there is room; empty texts are left
/// out.
std::vector<std::string> heading(const std::vector<TextColumn>& columns, std::size_t row, std::size_t width) {
  std::vector<std::string> lines;
  for (const TextColumn& column : columns) {
    if (column.texts[row].empty()) continue;
    const std::string text = column.title + ": " + column.texts[row];
    if (!lines.empty()) lines.back() += ',';
    if (lines.empty() || width_of_text(lines.back()) + 2 + width_of_text(text) >= width)
      lines.push_back(text);
    else
      lines.back() += ' ' + text;
  }
  return lines;
}

constexpr const char* bold = "1";

/// The terminal's code for it.
const char* light_of(Mark mark) {
  switch (mark) {
    case Mark::none:
      return "";
    case Mark::best:
      return "1;32";
    case Mark::good:
      return "32";
    case Mark::doubtful:
      return "33";
    case Mark::bad:
      return "31";
  }
  return "";
}

/// The text within its blanks in this light.
std::string lighted(const std::string& padded, std::string_view light) {
  const std::size_t first = padded.find_first_not_of(' ');
  if (light.empty() || first == std::string::npos) return padded;
  const std::size_t end = padded.find_last_not_of(' ') + 1;
  return fmt::format("{}\x1b[{}m{}\x1b[0m{}", padded.substr(0, first), light,
                     padded.substr(first, end - first), padded.substr(end));
}

class Layout {
 public:
  Layout(std::vector<TextColumn> columns, std::size_t width, bool lit)
      : rows_(columns.empty() ? 0 : columns[0].texts.size()), width_(width), lit_(lit) {
    for (TextColumn& column : columns) {
      const auto& texts = column.texts;
      const bool same = std::all_of(texts.begin(), texts.end(), [&](const auto& t) { return t == texts[0]; });
      if (column.lifts && same)
        head_.push_back(std::move(column));
      else
        beside_.push_back(placed(std::move(column)));
    }
    if (!fits()) head_blocks();
    if (!fits()) yield();
    while (beside_.size() > 1 && total(beside_, &Placed::least) > width_) fold_last();
    shrink();
  }

  std::string text() {
    put(heading(head_, 0, width_), 0);
    if (beside_.empty()) return out_;
    put_row([](const Placed& column) -> const std::string& { return column.title; },
            [](const Placed&) { return bold; });
    for (std::size_t row = 0; row < rows_; ++row) {
      if (!heads_.empty() && !same_as_before(heads_, row)) {
        out_ += '\n';
        put(heading(heads_, row, width_), 0);
      }
      put_row([&](const Placed& column) -> const std::string& { return column.texts[row]; },
              [&](const Placed& column) { return column.marks.empty() ? "" : light_of(column.marks[row]); });
      put(heading(folded_, row, width_ - indent), indent);
      for (const TextColumn& column : below_) {
        const bool titled = column.obscure || below_.size() + folded_.size() > 1;
        const std::string title = titled ? column.title + ": " : "";
        if (!column.texts[row].empty()) put({title + column.texts[row]}, indent);
      }
    }
    return std::move(out_);
  }

 private:
  bool fits() const { return total(beside_, &Placed::width) <= width_; }

  /// Headings over blocks of rows are worth it where blocks have several rows.
  void head_blocks() {
    for (std::size_t i = 0; i < beside_.size() && beside_.size() > 1;) {
      std::vector<TextColumn> with = heads_;
      with.push_back(beside_[i]);
      if (!beside_[i].lifts || 2 * blocks_of(with, rows_) > rows_) {
        ++i;
        continue;
      }
      heads_ = std::move(with);
      beside_.erase(beside_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void yield() {
    for (std::size_t i = 0; i < beside_.size() && !fits() && beside_.size() > 1;) {
      Placed& column = beside_[i];
      const std::size_t beyond = total(beside_, &Placed::width) - width_;
      if (!column.yields) {
        ++i;
      } else if (column.width >= beyond + narrowest_yielding) {
        column.width -= beyond;
      } else {
        below_.push_back(std::move(column));
        beside_.erase(beside_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  void fold_last() {
    folded_.insert(folded_.begin(), std::move(beside_.back()));
    beside_.pop_back();
  }

  /// The widest give way first.
  void shrink() {
    while (!fits()) {
      const auto slack = [](const Placed& column) {
        return column.width - std::min(column.width, column.least);
      };
      const auto widest =
          std::max_element(beside_.begin(), beside_.end(),
                           [&](const Placed& a, const Placed& b) { return slack(a) < slack(b); });
      if (slack(*widest) == 0) {  // one column alone is wider than the terminal
        widest->width = width_;
        return;
      }
      --widest->width;
    }
  }

  void put(const std::vector<std::string>& texts, std::size_t indented) {
    for (const std::string& text : texts)
      for (const std::string& line : wrapped(text, width_ - indented))
        put_line(std::string(indented, ' ') + line);
  }

  /// `light` gives a column's light, empty for none.
  template <typename TextOf, typename LightOf>
  void put_row(const TextOf& text_of, const LightOf& light) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const Placed& column : beside_) {
      const std::string& text = text_of(column);
      // What goes on in the first column is set in, or it would look like a row.
      const std::size_t hang = cells.empty() && beside_.size() > 1 && column.width > narrowest_text ? gap : 0;
      const bool whole = width_of_text(text) <= column.width;
      cells.push_back(whole ? std::vector{text} : wrapped(text, column.width - hang));
      for (std::size_t l = 1; l < cells.back().size(); ++l) cells.back()[l].insert(0, hang, ' ');
      height = std::max(height, cells.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line;
      for (std::size_t i = 0; i < beside_.size(); ++i) {
        line += std::string(i == 0 ? 0 : gap, ' ');
        const std::string& text = l < cells[i].size() ? cells[i][l] : "";
        const std::string placed = padded(text, beside_[i].width, beside_[i].right);
        line += lit_ ? lighted(placed, light(beside_[i])) : placed;
      }
      put_line(std::move(line));
    }
  }

  void put_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + '\n';
  }

  std::size_t rows_;
  std::size_t width_;
  bool lit_;
  std::vector<TextColumn> head_;    ///< above the table
  std::vector<TextColumn> heads_;   ///< above blocks of rows
  Columns beside_;                  ///< side by side
  std::vector<TextColumn> folded_;  ///< below each row, on one line
  std::vector<TextColumn> below_;   ///< below each row, on lines of their own
  std::string out_;
};

}  // namespace

std::string lines_of(std::vector<TextColumn> columns, std::size_t width, bool lit) {
  if (columns.empty() || columns[0].texts.empty()) return {};
  return Layout(std::move(columns), width, lit).text();
}

}  // namespace hone::tools
