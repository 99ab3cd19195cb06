// hone completion: scripts for shells; hone complete: what may stand where the cursor is, for those scripts.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/device.hpp"
#include "runtime/element_type.hpp"
#include "runtime/family.hpp"
#include "tools/describe.hpp"
#include "tools/exit_code.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"

namespace hone::tools {
namespace {

constexpr const char* bash_script = R"script(# hone's completions for bash: source <(hone completion bash)
_hone() {
  local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$current"))
  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _hone hone
)script";

constexpr const char* zsh_script = R"script(#compdef hone
# hone's completions for zsh: source <(hone completion zsh)
_hone() {
  local -a candidates
  candidates=(${(f)"$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#candidates} )); then compadd -a candidates; else _files; fi
}
compdef _hone hone
)script";

std::vector<std::string> device_words() {
  std::vector<std::string> words{"all"};
  const DeviceList list = list_devices();
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    words.push_back(std::to_string(i));
    words.push_back(name(list.devices[i].backend));
    words.push_back(list.devices[i].architecture);
  }
  return words;
}

std::vector<std::string> element_types() {
  std::vector<std::string> names;
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8,
                                 ElementType::f64, ElementType::i32, ElementType::i64, ElementType::u8})
    names.emplace_back(name(type));
  return names;
}

/// What may follow a verb's flag; empty: only its reader knows.
std::vector<std::string> values_of(const std::string& verb, const std::string& flag) {
  if (flag == "as" && verb == "db export") return {"jsonl", "csv", "t4"};
  if (flag == "as") return {"records", "kernel-tuner"};
  if (flag == "device") return device_words();
  if (flag == "dtype") return element_types();
  if (flag == "family") return list_families(template_folders({}));
  if (flag == "regime") return {"steady", "cold"};
  if (flag == "format") return {"table", "json", "csv"};
  return {};
}

/// The verb that the words begin with, and how many of them name it.
const Verb* find_verb(const Arguments& words, const Verbs*& among, std::size_t& used) {
  among = &command_verbs();
  used = 0;
  const Verb* found = nullptr;
  while (used + 1 < words.size()) {  // the last one is still being written
    const auto verb = std::find_if(among->verbs.begin(), among->verbs.end(),
                                   [&](const Verb& each) { return each.name == words[used]; });
    if (verb == among->verbs.end()) return found;
    ++used;
    found = &*verb;
    if (verb->name == "query" && among == &command_verbs())
      among = &query_verbs(), found = nullptr;
    else if (verb->name == "db" && among == &command_verbs())
      among = &database_verbs(), found = nullptr;
    else
      return found;
  }
  return found;
}

/// Whether `word` is the option, in its long or its short form.
bool is_written(const Options::Declared& option, const std::string& word) {
  return word == "--" + option.name || (!option.letter.empty() && word == "-" + option.letter);
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
  const std::string& previous = words[words.size() - 2];
  for (const Options::Declared& option : description.options)
    if (!option.placeholder.empty() && is_written(option, previous)) return values_of(description.verb, option.name);
  if (current.starts_with('-')) {
    for (const Options::Declared& option : description.options) result.push_back("--" + option.name);
    result.emplace_back("--help");
  } else if (description.arguments.find("FAMILY") != std::string::npos) {
    result = list_families(template_folders({}));
  }
  return result;
}

}  // namespace

int completion(const Arguments& arguments) {
  Options options("completion", "bash|zsh", "source <(hone completion bash)",
                  "Writes the shell's completions of verbs, options, families, devices and element types.");
  if (!options.parse(arguments, 1, 1)) return exit_done;
  write_out(parse_choice("completion", options.positional()[0], {"bash", "zsh"}) == "bash" ? bash_script
                                                                                           : zsh_script);
  return exit_done;
}

int complete(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const Arguments words(dashes == arguments.end() ? dashes : dashes + 1, arguments.end());
  if (words.empty()) return exit_usage;
  std::string text;
  for (const std::string& word : candidates(words)) text += word + "\n";
  write_out(text);
  return exit_done;
}

}  // namespace hone::tools
