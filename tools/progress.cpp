#include "tools/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/terminal.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

using namespace std::chrono_literals;

constexpr auto live_interval = 100ms;
constexpr auto plain_interval = 5s;
constexpr std::string_view clear_line = "\r\x1b[K";

/// To at most `width` columns; a cut is marked.
std::string cut(std::string text, std::size_t width) {
  std::size_t columns = 0;
  std::size_t end_of_kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (columns + 1 == width) end_of_kept = i;
    if (++columns > width) {
      text.resize(end_of_kept);
      return text + "…";
    }
  }
  return text;
}

void raw_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string progress_text(const tuner::Progress& progress, double seconds, int width, bool bar) {
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
  return cut(std::move(text), static_cast<std::size_t>(std::max(width, 1)));
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
    if (drawn_ && now - shown_ < live_interval && progress.done < progress.total) return;
    // One column less than there are, so that no terminal wraps the line.
    const std::string text = progress_text(progress, seconds, width_of(Stream::error) - 1, true);
    const bool colour = wants_colour(Stream::error);
    raw_error(fmt::format("{}{}{}{}", clear_line, colour ? "\x1b[36m" : "", text, colour ? "\x1b[0m" : ""));
    drawn_ = true;
  } else {
    if (now - shown_ < plain_interval) return;
    write_error(fmt::format("{}: {}", clock_text(seconds), progress_text(progress, seconds, 160, false)));
  }
  shown_ = now;
}

void ProgressBar::note(const std::string& line) {
  if (quiet_) return;
  clear();
  write_error(line);
}

void ProgressBar::clear() {
  if (!drawn_) return;
  raw_error(clear_line);
  drawn_ = false;
}

}  // namespace hone::tools
