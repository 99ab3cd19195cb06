#include "tools/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "hone/error.hpp"
#include "runtime/spelling.hpp"
#include "tools/terminal.hpp"
#include "tools/text.hpp"

namespace hone::tools {
namespace {

namespace po = boost::program_options;

constexpr const char* positional_name = "(positional)";

/// `output,o` as name and letter.
Options::Declared declare(const std::string& name, const std::string& placeholder, const std::string& text,
                          bool repeats, std::vector<std::string> values) {
  const std::size_t comma = std::min(name.find(','), name.size() - 1);
  const bool has_letter = name[comma] == ',';
  return {has_letter ? name.substr(0, comma) : name, placeholder,      text, repeats,
          has_letter ? name.substr(comma + 1) : "",  std::move(values)};
}

/// As Boost takes it.
std::string boost_name(const Options::Declared& option) {
  return option.letter.empty() ? option.name : option.name + "," + option.letter;
}

}  // namespace

Options::Options(std::string verb, std::string arguments, std::string example, std::string about)
    : verb_(std::move(verb)),
      arguments_(std::move(arguments)),
      example_(std::move(example)),
      about_(std::move(about)) {}

Options& Options::flag(const std::string& name, const std::string& text) {
  declared_.push_back(declare(name, "", text, false, {}));
  return *this;
}

Options& Options::value(const std::string& name, const std::string& placeholder, const std::string& text,
                        std::vector<std::string> values) {
  declared_.push_back(declare(name, placeholder, text, false, std::move(values)));
  return *this;
}

Options& Options::list(const std::string& name, const std::string& placeholder, const std::string& text,
                       std::vector<std::string> values) {
  declared_.push_back(declare(name, placeholder, text, true, std::move(values)));
  return *this;
}

Describing::Describing() {
  current() = this;
}
Describing::~Describing() {
  current() = nullptr;
}
Describing*& Describing::current() noexcept {
  thread_local Describing* current = nullptr;
  return current;
}

bool Options::parse(const Arguments& arguments, std::size_t at_least, std::size_t at_most) {
  if (Describing* describing = Describing::current()) {
    describing->description_ = {verb_, arguments_, example_, about_, declared_};
    return false;
  }
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end() ||
      std::find(arguments.begin(), arguments.end(), "-h") != arguments.end()) {
    write_out(help(std::min(width_of(Stream::out), 100)));
    return false;
  }
  po::options_description description;
  std::vector<std::string> known;
  for (const Declared& option : declared_) {
    known.push_back("--" + option.name);
    if (option.placeholder.empty()) {
      description.add_options()(boost_name(option).c_str(), "");
    } else {
      description.add_options()(boost_name(option).c_str(), po::value<std::vector<std::string>>(), "");
    }
  }
  description.add_options()(positional_name, po::value<std::vector<std::string>>(), "");
  po::positional_options_description positions;
  positions.add(positional_name, -1);

  const std::string remedy = fmt::format("; `hone {} --help` lists its options", verb_);
  const auto needs_value = [&](const std::string& option) {
    return fmt::format("{}: {} needs a value{}", verb_, option, remedy);
  };
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const auto parsed =
        po::command_line_parser(arguments).options(description).positional(positions).style(style).run();
    for (const auto& option : parsed.options) {
      if (option.string_key == positional_name) {
        positional_.insert(positional_.end(), option.value.begin(), option.value.end());
        continue;
      }
      const auto declared = std::find_if(declared_.begin(), declared_.end(),
                                         [&](const Declared& d) { return d.name == option.string_key; });
      auto& values = given_[option.string_key];
      if (!values.empty() && !declared->repeats) {
        throw Error(ErrorCode::invalid, fmt::format("--{} is given twice; give it once", option.string_key));
      }
      values.push_back(option.value.empty() ? "" : option.value.front());
      if (!declared->placeholder.empty() && values.back().empty()) {
        throw Error(ErrorCode::invalid, needs_value("--" + option.string_key));
      }
    }
  } catch (const po::invalid_command_line_syntax& error) {
    if (error.kind() != po::invalid_syntax::empty_adjacent_parameter)
      throw Error(ErrorCode::invalid, fmt::format("{}: {}{}", verb_, error.what(), remedy));
    throw Error(ErrorCode::invalid, needs_value(error.get_option_name()));
  } catch (const po::unknown_option& error) {
    throw Error(ErrorCode::invalid, fmt::format("{}: no option `{}`{}", verb_, error.get_option_name(),
                                                suggestion(error.get_option_name(), known)));
  } catch (const po::error& error) {
    throw Error(ErrorCode::invalid, fmt::format("{}: {}{}", verb_, error.what(), remedy));
  }
  // An unset variable of a script must not mean all.
  if (std::find(positional_.begin(), positional_.end(), "") != positional_.end()) {
    throw Error(ErrorCode::invalid,
                fmt::format("{}: an argument is empty; give {} or leave it out", verb_, arguments_));
  }
  if (positional_.size() < at_least) {
    throw Error(ErrorCode::invalid,
                fmt::format("{} needs {}; for example `{}`", verb_, arguments_, example_));
  }
  if (positional_.size() > at_most) {
    throw Error(ErrorCode::invalid,
                fmt::format("{}: unexpected argument `{}`{}", verb_, positional_[at_most], remedy));
  }
  return true;
}

bool Options::has(const std::string& name) const {
  return given_.contains(name);
}

std::string Options::get(const std::string& name, const std::string& otherwise) const {
  const auto found = given_.find(name);
  return found == given_.end() ? otherwise : found->second.front();
}

std::vector<std::string> Options::all(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::vector<std::string>{} : found->second;
}

std::string Options::help(int width) const {
  po::options_description description("Options", static_cast<unsigned>(width),
                                      static_cast<unsigned>(width) / 2);
  for (const Declared& option : declared_) {
    if (option.placeholder.empty()) {
      description.add_options()(boost_name(option).c_str(), option.text.c_str());
    } else {
      description.add_options()(boost_name(option).c_str(),
                                po::value<std::vector<std::string>>()->value_name(option.placeholder),
                                (option.text + (option.repeats ? " (repeatable)" : "")).c_str());
    }
  }
  description.add_options()("help", "show this");
  std::ostringstream text;
  text << folded("Example: " + example_, static_cast<std::size_t>(width), " \\") << "\n\n"
       << fmt::format("{}", fmt::join(wrapped(about_, static_cast<std::size_t>(width)), "\n")) << "\n\n"
       << "Usage: hone " << verb_ << (arguments_.empty() ? "" : " " + arguments_) << " [options]\n\n"
       << description;
  std::string help = text.str();
  if (!help.ends_with('\n')) help += '\n';
  return help;
}

}  // namespace hone::tools
