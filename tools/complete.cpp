// hone complete: what may stand where the cursor is, for the scripts of `hone completion`.
#include <algorithm>

#include "tools/complete_values.hpp"
#include "tools/describe.hpp"
#include "tools/exit_code.hpp"
#include "tools/terminal.hpp"

namespace hone::tools {
namespace {

/// The verb that the words begin with, and how many of them name it.
const Verb* find_verb(const Arguments& words, const Verbs*& among, std::size_t& used) {
  among = &command_verbs();
  for (used = 0; used + 1 < words.size();) {  // the last one is still being written
    const auto verb = std::find_if(among->verbs.begin(), among->verbs.end(),
                                   [&](const Verb& each) { return each.name == words[used]; });
    if (verb == among->verbs.end()) return nullptr;
    ++used;
    if (verb->verbs == nullptr) return &*verb;
    among = &verb->verbs();
  }
  return nullptr;
}

/// The option that takes a value and is written so, in its long or its short form; null: there is none.
const Options::Declared* option_of(const Options::Description& description, const std::string& word) {
  const auto found = std::find_if(
      description.options.begin(), description.options.end(), [&](const Options::Declared& option) {
        return !option.placeholder.empty() &&
               (word == "--" + option.name || (!option.letter.empty() && word == "-" + option.letter));
      });
  return found == description.options.end() ? nullptr : &*found;
}

/// `words` are what follows the verb, without the last one.
Written read_written(const Options::Description& description, const Arguments& words) {
  Written written{description.verb, {}, {}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const Options::Declared* option = option_of(description, words[i])) {
      if (i + 1 < words.size()) written.options[option->name] = words[i + 1];
      ++i;
    } else if (!words[i].starts_with('-')) {
      written.positional.push_back(words[i]);
    }
  }
  return written;
}

/// Of a list with commas the last part is still being written.
std::vector<std::string> behind_commas(std::vector<std::string> values, const std::string& current) {
  const std::string before = current.substr(0, current.rfind(',') + 1);
  for (std::string& value : values) value.insert(0, before);
  return values;
}

/// `bash` and `zsh` of `bash|zsh`.
std::vector<std::string> alternatives(const std::string& arguments) {
  std::vector<std::string> words;
  for (std::size_t from = 0; arguments.find('|') != std::string::npos && from <= arguments.size();) {
    const std::size_t to = std::min(arguments.find('|', from), arguments.size());
    words.push_back(arguments.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

std::vector<std::string> candidates(const Arguments& words) {
  const Verbs* among = nullptr;
  std::size_t used = 0;
  const Verb* verb = find_verb(words, among, used);
  std::vector<std::string> result;
  if (verb == nullptr) {
    if (used + 1 < words.size()) return result;  // no such verb
    for (const Verb& each : among->verbs)
      if (!each.summary.empty()) result.push_back(each.name);
    return result;
  }
  const Options::Description description = describe(*verb);
  const std::string& current = words.back();
  const Written written =
      read_written(description, {words.begin() + static_cast<std::ptrdiff_t>(used), words.end() - 1});
  if (const Options::Declared* option = option_of(description, words[words.size() - 2])) {
    std::vector<std::string> values = values_for(written, *option, current);
    return option->name == "columns" ? behind_commas(std::move(values), current) : values;
  }
  if (current.starts_with('-')) {
    for (const Options::Declared& option : description.options) result.push_back("--" + option.name);
    result.emplace_back("--help");
  } else if (description.arguments.find("FAMILY") != std::string::npos && written.positional.empty()) {
    result = families_for(written);
  } else if (written.positional.empty()) {
    result = alternatives(description.arguments);
  }
  return result;
}

/// What stands before the cursor as hone's own words, and how candidates for the last one are written.
struct Line {
  Arguments words;
  std::string attached;  ///< stays before the value: zsh has `--db=FILE` as one word
  std::string detached;  ///< is written already: bash has `store=nt` as three words
};

Line line_of(const Arguments& words) {
  Line line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const bool is_last = i + 1 == words.size();
    const bool behind_option = line.words.empty() || line.words.back().starts_with("--");
    if (words[i] == "=" && behind_option) {
      if (is_last) line.words.emplace_back();
    } else if (words[i] == "=") {
      std::string& word = line.words.back() += '=';
      if (i + 2 >= words.size()) line.detached = word;
      if (!is_last) word += words[++i];
    } else if (words[i].starts_with("--") && equals != std::string::npos) {
      line.words.insert(line.words.end(), {words[i].substr(0, equals), words[i].substr(equals + 1)});
      if (is_last) line.attached = words[i].substr(0, equals + 1);
    } else {
      line.words.push_back(words[i]);
    }
  }
  return line;
}

}  // namespace

int complete(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return exit_usage;
  const Line line = line_of({dashes + 1, arguments.end()});
  std::string text;
  for (const std::string& word : candidates(line.words))
    text += line.attached + word.substr(word.starts_with(line.detached) ? line.detached.size() : 0) + "\n";
  write_out(text);
  return exit_done;
}

}  // namespace hone::tools
