#include "tools/flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "db/store.hpp"
#include "runtime/spelling.hpp"
#include "tools/parse.hpp"

namespace hone::tools {
namespace {

constexpr ElementType every_type[] = {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8,
                                      ElementType::f64, ElementType::i32, ElementType::i64,  ElementType::u8};

}  // namespace

void add_template_flags(Options& options) {
  options
      .list("templates", "DIR",
            "look for families in DIR first; then in HONE_TEMPLATES, the user's data folder and the "
            "installed ones")
      .flag("trust", "run templates from outside the installed and the user's own folders");
}

std::vector<TemplateFolder> template_folders_of(const Options& options) {
  for (const std::string& folder : options.all("templates")) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
      throw Error(ErrorCode::invalid,
                  fmt::format("--templates: {} is not a folder; name one that holds families", folder));
    }
  }
  return template_folders(options.all("templates"));
}

void add_device_flag(Options& options) {
  options.value("device", "D",
                "index, backend, architecture or part of a name, as `hone devices` lists them; several as "
                "`0,1`; `all`");
}

void add_type_flag(Options& options) {
  options.list("dtype", "T", "element type: f32, f16, bf16, i8, ...; without it, all of the family");
}

std::vector<std::string> element_types_of(const Options& options) {
  std::vector<std::string> types = split_list("--dtype", options.all("dtype"));
  for (const std::string& type : types) {
    if (parse_element_type(type)) continue;
    std::vector<std::string> known;
    for (const ElementType t : every_type) known.emplace_back(name(t));
    throw Error(ErrorCode::invalid,
                fmt::format("--dtype: no element type `{}`{}", type, suggestion(type, known)));
  }
  std::vector<std::string> once;
  for (std::string& type : types) {
    if (std::find(once.begin(), once.end(), type) == once.end()) once.push_back(std::move(type));
  }
  return once;
}

void add_limit_flags(Options& options) {
  options.value("jobs", "N", "compile in N processes; without it, one a core")
      .value(
          "time-limit", "S",
          "most seconds to compile one configuration, and for one step of checking or timing it (60 and 10)");
}

tuner::Limits limits_of(const Options& options) {
  tuner::Limits limits;
  if (options.has("jobs"))
    limits.jobs = static_cast<int>(parse_integer("--jobs", options.get("jobs", ""), 1, 1024));
  if (options.has("time-limit")) {
    limits.compile_seconds = parse_seconds("--time-limit", options.get("time-limit", ""));
    limits.measure_seconds = limits.compile_seconds;
  }
  return limits;
}

void add_database_flag(Options& options) {
  options.value("db", "PATH", "the database; without it HONE_DB, then the user's data folder");
}

std::filesystem::path database_of(const Options& options) {
  return options.has("db") ? std::filesystem::path(options.get("db", "")) : db::default_file();
}

void add_shape_flag(Options& options) {
  options.list("shape", "M=1024,N=64", "a problem's dimensions");
}

std::vector<tuner::Shape> shapes_of(const Options& options) {
  std::vector<tuner::Shape> shapes;
  for (const std::string& text : options.all("shape")) shapes.push_back(parse_shape("--shape", text));
  return shapes;
}

std::string example_shape(const Family& family) {
  std::vector<const Dimension*> asked;
  for (const Dimension& dimension : family.dimensions) {
    if (dimension.by_default.empty()) asked.push_back(&dimension);
  }
  const std::int64_t usual = asked.size() == 1 ? 1 << 24 : 1024;
  std::string text;
  for (const Dimension* dimension : asked) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : ",", dimension->name,
                    std::clamp(usual, dimension->minimum, std::max(dimension->minimum, dimension->maximum)));
  }
  return text;
}

std::string command_line(const std::string& verb, const Arguments& arguments) {
  std::string line = "hone " + verb;
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() && argument.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyz"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789-_=,.:/+@%") == std::string::npos;
    line += ' ';
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::string command_line_on(const std::filesystem::path& file, const std::string& verb, Arguments arguments) {
  if (file != db::default_file()) arguments.insert(arguments.end(), {"--db", file.string()});
  return command_line(verb, arguments);
}

}  // namespace hone::tools
