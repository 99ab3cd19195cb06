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
  Written written{description.verb, {}, ""};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const Options::Declared* option = option_of(description, words[i])) {
      if (option->name == "db" && i + 1 < words.size()) written.database = words[i + 1];
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
    std::vector<std::string> values = values_for(written, *option);
    return option->name == "columns" ? behind_commas(std::move(values), current) : values;
  }
  if (current.starts_with('-')) {
    for (const Options::Declared& option : description.options) result.push_back("--" + option.name);
    result.emplace_back("--help");
  } else if (description.arguments.find("FAMILY") != std::string::npos && written.positional.empty()) {
    result = families_for(written);
  }
  return result;
}

/// `--db=FILE` as two words, however the shell divides it: bash makes three of it, zsh one. `attached` gets
/// what stays before the value that is still being written.
Arguments divided(const Arguments& words, std::string& attached) {
  Arguments result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const bool is_last = i + 1 == words.size();
    if (words[i] == "=") {
      if (is_last) result.emplace_back();
    } else if (words[i].starts_with("--") && equals != std::string::npos) {
      result.insert(result.end(), {words[i].substr(0, equals), words[i].substr(equals + 1)});
      if (is_last) attached = words[i].substr(0, equals + 1);
    } else {
      result.push_back(words[i]);
    }
  }
  return result;
}

}  // namespace

int complete(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return exit_usage;
  std::string attached, text;
  for (const std::string& word : candidates(divided({dashes + 1, arguments.end()}, attached)))
    text += attached + word + "\n";
  write_out(text);
  return exit_done;
}

}  // namespace hone::tools
