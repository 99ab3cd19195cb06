// hone completion: the scripts by which shells ask `hone complete` what may stand where the cursor is.
#include "tools/exit_code.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

// What a device is called may have spaces, so that words are quoted; zsh does it by itself.
constexpr const char* bash_script = R"script(# hone's completions for bash: source <(hone completion bash)
_hone() {
  local word quoted current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  [[ $current != = ]] || current=
  while IFS= read -r word; do
    printf -v quoted %q "$word"
    quoted=${quoted//\\,/,}
    [[ $quoted != "$current"* ]] || COMPREPLY+=("$quoted")
  done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null
  [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _hone hone
)script";

constexpr const char* zsh_script = R"script(#compdef hone
# hone's completions for zsh: source <(hone completion zsh)
_hone() {
  local -a candidates
  candidates=(${(f)"$("${words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ ${candidates[1]} == *= ]]; then compadd -S '' -a candidates
  elif (( ${#candidates} )); then compadd -a candidates; else _files; fi
}
compdef _hone hone
)script";

}  // namespace

int completion(const Arguments& arguments) {
  Options options("completion", "bash|zsh", "source <(hone completion bash)",
                  "Writes the shell's completions of verbs, options, families, devices, element types, "
                  "parameters and columns.");
  if (!options.parse(arguments, 1, 1)) return exit_done;
  write_out(parse_choice("completion", options.positional()[0], {"bash", "zsh"}) == "bash" ? bash_script
                                                                                           : zsh_script);
  return exit_done;
}

}  // namespace hone::tools
