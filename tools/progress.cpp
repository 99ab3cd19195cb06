#include "tools/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/terminal.hpp"
#include "tools/text.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

using namespace std::chrono_literals;

constexpr auto live_interval = 100ms;
constexpr auto plain_interval = 5s;
constexpr std::string_view clear_line = "\r\x1b[K";
constexpr std::string_view clear_line_above = "\x1b[A\x1b[K";

void raw_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string progress_text(const tuner::Progress& progress, double seconds, bool bar) {
  constexpr int cells = 16;
  const std::int64_t total = std::max(progress.total, progress.done);
  const double share = total > 0 ? static_cast<double>(progress.done) / static_cast<double>(total) : 0;
  std::string text;
  if (bar) {
    const int full = static_cast<int>(share * cells);
    for (int i = 0; i < cells; ++i) text += i < full ? "━" : "─";
    text += ' ';
  }
  text += fmt::format("{:3.0f} % {}/{}", 100 * share, progress.done, total);
  if (progress.done > 0 && seconds > 0) {
    const double rate = static_cast<double>(progress.done) / seconds;
    text += fmt::format("  {}/s", number_text(rate));
    if (progress.done < total) {
      text += fmt::format("  {} left", clock_text(static_cast<double>(total - progress.done) / rate));
    }
  }
  if (progress.failed > 0) text += fmt::format("  {} failed", progress.failed);
  if (!progress.stage.empty()) text += fmt::format("  {}", progress.stage);
  if (!progress.what.empty()) text += fmt::format("  {}", progress.what);
  if (!progress.best.empty()) text += fmt::format("  best {}", progress.best);
  return text;
}

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), live_(is_terminal(Stream::error)) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::progress(const tuner::Progress& progress) {
  if (quiet_) return;
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - started_).count();
  if (live_) {
    if (drawn_lines_ > 0 && now - shown_ < live_interval && progress.done < progress.total) return;
    // One column less than there are, so that no terminal wraps a line.
    const std::string text =
        folded(progress_text(progress, seconds, true), static_cast<std::size_t>(width_of(Stream::error) - 1));
    const bool colour = wants_colour(Stream::error);
    raw_error(clearing() + fmt::format("{}{}{}", colour ? "\x1b[36m" : "", text, colour ? "\x1b[0m" : ""));
    drawn_lines_ = 1 + std::count(text.begin(), text.end(), '\n');
  } else {
    if (now - shown_ < plain_interval) return;
    write_error(fmt::format("{}: {}", clock_text(seconds), progress_text(progress, seconds, false)));
  }
  shown_ = now;
}

void ProgressBar::note(const std::string& line) {
  if (quiet_) return;
  clear();
  write_error(line);
}

void ProgressBar::clear() {
  raw_error(clearing());
  drawn_lines_ = 0;
}

std::string ProgressBar::clearing() const {
  std::string text;
  for (std::ptrdiff_t line = 0; line < drawn_lines_; ++line)
    text += line == 0 ? clear_line : clear_line_above;
  return text;
}

}  // namespace hone::tools
