// The flags and arguments of one verb: declared once, parsed, and shown by --help.
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <string>
#include <vector>

namespace hone::tools {

using Arguments = std::vector<std::string>;

class Options {
 public:
  struct Declared {
    std::string name, placeholder, text;  ///< placeholder: empty for a flag
    bool repeats = false;
    std::string letter;               ///< of the short form; empty: there is none
    std::vector<std::string> values;  ///< what may stand for it, where that is known beforehand
  };
  /// What a verb declares, for completions and manual pages.
  struct Description {
    std::string verb, arguments, example, about;
    std::vector<Declared> options;
  };

  /// `verb` as typed (`query winners`), `arguments` its positional ones (`FAMILY`), an example and what it
  /// does. Every Options has --help.
  Options(std::string verb, std::string arguments, std::string example, std::string about);

  /// `name` may have a letter behind it: `output,o` is `--output` and `-o`. `values` are for completions.
  Options& flag(const std::string& name, const std::string& text);
  Options& value(const std::string& name, const std::string& placeholder, const std::string& text,
                 std::vector<std::string> values = {});
  /// May be given several times.
  Options& list(const std::string& name, const std::string& placeholder, const std::string& text,
                std::vector<std::string> values = {});

  /// False when --help was asked for, which is then printed, or a Describing is there. Throws Error{invalid}
  /// for anything that does not fit, among it positional arguments fewer than `at_least` or more than
  /// `at_most`.
  bool parse(const Arguments& arguments, std::size_t at_least, std::size_t at_most);

  bool has(const std::string& name) const;
  std::string get(const std::string& name, const std::string& otherwise) const;
  std::vector<std::string> all(const std::string& name) const;
  const std::vector<std::string>& positional() const noexcept { return positional_; }

  std::string help(int width) const;

 private:
  friend class Describing;
  std::string verb_, arguments_, example_, about_;
  std::vector<Declared> declared_;
  std::map<std::string, std::vector<std::string>> given_;
  std::vector<std::string> positional_;
};

/// While one lives on a thread, Options there do not parse: they give it what they declare, so that a verb
/// that is run does nothing else.
class Describing {
 public:
  Describing();
  ~Describing();
  Describing(const Describing&) = delete;
  Describing& operator=(const Describing&) = delete;
  const Options::Description& description() const noexcept { return description_; }

 private:
  friend class Options;
  static Describing*& current() noexcept;
  Options::Description description_;
};

}  // namespace hone::tools
