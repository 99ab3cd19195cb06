// `hone verify`: the checks alone, over the whole space (or a covering set), on a device.
#pragma once

#include "tuner/compile_space.hpp"

namespace hone::tuner {

struct VerifySettings {
  std::string family;
  std::vector<TemplateFolder> folders;
  bool trust = false;
  std::string device;
  std::vector<std::string> element_types;
  std::vector<Shape> shapes;  ///< besides the manifest's extents
  bool large = false;         ///< the manifest's extents over 2^31 too
  std::int64_t limit = 0;     ///< 0: the whole space; else a covering set
  Limits limits;
};

struct VerifySummary {
  db::Device device;
  std::int64_t space = 0, right = 0;
  std::vector<CompileFailure> failures;
  double seconds = 0;
  bool interrupted = false;
};

/// One summary a device.
std::vector<VerifySummary> verify(const VerifySettings& settings, Observer& observer,
                                  const std::atomic<bool>& stop);

}  // namespace hone::tuner
