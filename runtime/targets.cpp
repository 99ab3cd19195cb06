// The devices that a variant runs on.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/architectures.hpp"
#include "runtime/manifest.hpp"
#include "runtime/spelling.hpp"

namespace hone {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string checked(Backend backend, std::string_view architecture) {
  const bool right = backend == Backend::cuda ? compute_capability(architecture) > 0
                                              : architecture.starts_with("gfx") && is_name(architecture);
  if (!right)
    throw Error(ErrorCode::invalid,
                fmt::format("`{}` is no {} architecture (like {})", architecture, name(backend),
                            backend == Backend::cuda ? "sm_90" : "gfx90a"));
  return std::string(architecture);
}

}  // namespace

Target parse_target(std::string_view text) {
  text = trimmed(text);
  Target target;
  const auto word = text.substr(0, text.find_first_of(" \t=>"));
  if (word == "host")
    target.backend = Backend::host;
  else if (word == "cuda")
    target.backend = Backend::cuda;
  else if (word == "hip")
    target.backend = Backend::hip;
  else
    throw Error(ErrorCode::invalid, fmt::format("`{}` does not start with host, cuda or hip", text));

  std::string_view rest = trimmed(text.substr(word.size()));
  if (rest.empty()) return target;
  if (target.backend == Backend::host)
    throw Error(ErrorCode::invalid, fmt::format("`{}`: host stands alone", text));
  if (rest.starts_with(">=") && target.backend == Backend::cuda) {
    const auto architecture = checked(target.backend, trimmed(rest.substr(2)));
    target.at_least_sm = compute_capability(architecture);
    target.specific = architecture.back() == 'a';
  } else if (rest.starts_with("==")) {
    target.architectures.push_back(checked(target.backend, trimmed(rest.substr(2))));
  } else if (rest.starts_with("in") && rest.ends_with(']') && trimmed(rest.substr(2)).starts_with('[')) {
    rest = trimmed(rest.substr(2));
    rest = rest.substr(1, rest.size() - 2);
    while (true) {
      const auto comma = rest.find(',');
      target.architectures.push_back(checked(target.backend, trimmed(rest.substr(0, comma))));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  } else {
    throw Error(ErrorCode::invalid,
                fmt::format("`{}` is none of `host`, `cuda`, `cuda >= sm_80`, `cuda == sm_90a`, `hip`, "
                            "`hip == gfx90a`, `hip in [gfx90a, gfx942]`",
                            text));
  }
  return target;
}

bool Target::matches(const DeviceInfo& device) const {
  if (device.backend != backend) return false;
  if (at_least_sm > 0) {
    const int number = compute_capability(device.architecture);
    return specific ? number == at_least_sm && device.architecture.back() == 'a' : number >= at_least_sm;
  }
  if (architectures.empty()) return true;
  const std::string architecture = without_flags(device.architecture);
  return std::any_of(architectures.begin(), architectures.end(), [&](const std::string& wanted) {
    if (wanted == architecture) return true;
    // `sm_90` is that capability whichever of its architectures the compiler was asked for; `sm_90a` is
    // itself.
    return backend == Backend::cuda && wanted.find_last_not_of("af") == wanted.size() - 1 &&
           compute_capability(wanted) == compute_capability(architecture);
  });
}

}  // namespace hone
