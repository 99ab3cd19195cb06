// Flags that several verbs share, and what they give.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/options.hpp"
#include "tuner/tune.hpp"

namespace hone::tools {

/// --templates and --trust.
void add_template_flags(Options& options);
/// The folders searched. Throws Error{invalid} for one that was given and does not exist.
std::vector<TemplateFolder> template_folders_of(const Options& options);

/// --device, --dtype.
void add_device_flag(Options& options);
void add_type_flag(Options& options);
/// Known element types only; whether a family has them is for the family to say.
std::vector<std::string> element_types_of(const Options& options);

/// --jobs and --time-limit.
void add_limit_flags(Options& options);
tuner::Limits limits_of(const Options& options);

/// --db.
void add_database_flag(Options& options);
std::filesystem::path database_of(const Options& options);

/// --shape, once a problem.
void add_shape_flag(Options& options);
std::vector<tuner::Shape> shapes_of(const Options& options);

/// `M=1024,N=1024`: what --shape of `family` looks like.
std::string example_shape(const Family& family);

/// The command line as a shell would take it.
std::string command_line(const std::string& verb, const Arguments& arguments);

/// The same about this database: with --db where it is not the one that is opened without.
std::string command_line_on(const std::filesystem::path& file, const std::string& verb, Arguments arguments);

}  // namespace hone::tools
