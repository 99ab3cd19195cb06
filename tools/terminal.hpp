// What stdout and stderr are: a terminal or not, how wide, whether colour is wanted; and the one way to
// stdout.
#pragma once

#include <string_view>

namespace hone::tools {

enum class Stream { out, error };

/// A terminal that can move its cursor.
bool is_terminal(Stream stream);

/// A terminal, and NO_COLOR is not set.
bool wants_colour(Stream stream);

/// The terminal's columns, else COLUMNS, else 80.
int width_of(Stream stream);

/// Writes data to stdout. A reader that has gone away is quiet: the rest is dropped. Any other failure throws
/// Error{environment}, so that a full disk never looks like success.
void write_out(std::string_view text);

/// Writes what people should know to stderr, in lines that fit it.
void write_error(std::string_view text);

/// Writes why a verb ends to stderr, as one line for whoever looks for it there.
void write_fault(std::string_view line);

}  // namespace hone::tools
