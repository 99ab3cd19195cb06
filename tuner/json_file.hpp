// JSON that other tuners write, plain or compressed by gzip.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hone::tuner {

/// The file's text. Throws Error{invalid} for one that cannot be read, is damaged, or holds more than 1 GiB.
std::string text_of(const std::filesystem::path& file);

/// Throws Error{invalid} that names the file.
nlohmann::json parse_json(const std::filesystem::path& file, const std::string& text);

/// Throws Error{invalid}: `<file>: <where>: <why>`.
[[noreturn]] void fail_in(const std::filesystem::path& file, const std::string& where,
                          const std::string& why);

}  // namespace hone::tuner
