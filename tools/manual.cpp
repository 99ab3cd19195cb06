// hone man: manual pages from what the verbs declare.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "hone/error.hpp"
#include "tools/describe.hpp"
#include "tools/exit_code.hpp"

namespace hone::tools {
namespace {

/// A text as roff takes it literally, in ASCII, which it reads whatever the locale.
std::string roff(const std::string& text) {
  constexpr std::string_view ellipsis = "…";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, ellipsis.size(), ellipsis) == 0) {
      result += "...";
      i += ellipsis.size() - 1;
    } else if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += std::string("\\&") + c;
    } else {
      result += c;
    }
  }
  return result;
}

/// `hone-query-winners` of `query winners`.
std::string page_name(const std::string& verb) {
  std::string name = verb.empty() ? "hone" : "hone-" + verb;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string heading(const std::string& name) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH {} 1 \"\" \"hone {}\" \"hone\"\n", roff(title), HONE_VERSION);
}

std::string first_sentence(const std::string& about) {
  const std::size_t end = about.find_first_of(".;:");
  return about.substr(0, end);
}

std::string page(const Options::Description& description) {
  std::string text = heading(page_name(description.verb));
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name(description.verb)),
                      roff(first_sentence(description.about)));
  text += fmt::format(".SH SYNOPSIS\n.B hone {}\n{} [options]\n", roff(description.verb),
                      roff(description.arguments));
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n", roff(description.about));
  for (const Options::Declared& option : description.options)
    text += fmt::format(".TP\n.B \\-\\-{}{}{}{}\n{}{}\n", roff(option.name),
                        option.letter.empty() ? "" : fmt::format(", \\-{}", option.letter),
                        option.placeholder.empty() ? "" : " ", roff(option.placeholder), roff(option.text),
                        option.repeats ? " (repeatable)" : "");
  text +=
      fmt::format(".TP\n.B \\-\\-help\nshow this\n.SH EXAMPLE\n.nf\n{}\n.fi\n.SH SEE ALSO\n.BR hone (1)\n",
                  roff(description.example));
  return text;
}

/// The pages of verbs and of those below them, each with what it does.
std::string list_of(const Verbs& among) {
  std::string text;
  const auto add = [&](const std::string& verb, const std::string& what) {
    text += fmt::format(".TP\n.BR {} (1)\n{}\n", roff(page_name(verb)), roff(what));
  };
  for (const Verb& verb : among.verbs) {
    if (verb.summary.empty()) continue;
    if (verb.verbs != nullptr) {
      add(verb.name, verb.summary);
      text += list_of(verb.verbs());
    } else {
      const Options::Description description = describe(verb);
      add(description.verb, first_sentence(description.about));
    }
  }
  return text;
}

/// Of a word with verbs of its own: `hone query`.
std::string page(const Verb& verb) {
  const Verbs& among = verb.verbs();
  return heading(page_name(verb.name)) + fmt::format(
                                             ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B hone {}\nVERB "
                                             "[options]\n.SH DESCRIPTION\n{}\n.SH VERBS\n{}"
                                             ".SH EXAMPLE\n.nf\n{}\n.fi\n.SH SEE ALSO\n.BR hone (1)\n",
                                             roff(page_name(verb.name)), roff(verb.summary), roff(verb.name),
                                             roff(among.about), list_of(among), roff(among.example));
}

std::string overview() {
  return heading("hone") +
         fmt::format(
             ".SH NAME\nhone \\- tune GPU kernels and remember the answer\n.SH SYNOPSIS\n.B hone\nVERB "
             "[options]\n.SH DESCRIPTION\n{}\n.SH VERBS\n{}",
             roff(command_verbs().about), list_of(command_verbs())) +
         ".SH EXIT STATUS\n0: done. 1: it ran, but found nothing valid, or a check failed. 2: bad arguments, "
         "shapes or manifests. 3: no device, no compiler or an unusable database. 130, 143 or 129: "
         "interrupted by SIGINT, SIGTERM or SIGHUP; what was measured is kept.\n.SH ENVIRONMENT\n.TP\n.B "
         "HONE_DB\ndatabases, separated by colons; the first is written\n.TP\n.B HONE_TEMPLATES\nfolders "
         "with families, separated by colons\n";
}

void write_page(const std::filesystem::path& folder, const std::string& name, const std::string& text) {
  const std::filesystem::path file = folder / (name + ".1");
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw Error(ErrorCode::environment, fmt::format("{}: cannot be written", file.string()));
}

}  // namespace

int manual(const Arguments& arguments) {
  Options options(
      "man", "DIR", "hone man ~/.local/share/man/man1",
      "Writes the manual pages of hone and of each of its verbs into a folder, which is made where "
      "it is missing.");
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const std::filesystem::path folder = options.positional()[0];
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::environment,
                fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  write_page(folder, "hone", overview());
  for (const Verb& verb : command_verbs().verbs)
    if (verb.verbs != nullptr) write_page(folder, page_name(verb.name), page(verb));
  for (const Options::Description& each : describe_all())
    write_page(folder, page_name(each.verb), page(each));
  return exit_done;
}

}  // namespace hone::tools
