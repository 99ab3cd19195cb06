// `hone compile`: every configuration of a family for an architecture, no GPU needed.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/family.hpp"
#include "tuner/observer.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

struct CompileSettings {
  std::string family;
  std::vector<TemplateFolder> folders;
  bool trust = false;
  std::string architecture;
  std::vector<std::string> element_types;  ///< empty: all
  std::int64_t limit = 0;  ///< 0: all; else a covering set of at most so many (every pair of values first)
  std::filesystem::path keep;  ///< folder for the code objects; empty: none kept
  Limits limits;
};

struct CompileFailure {
  db::Configuration configuration;
  std::string element_type;
  db::Outcome outcome;
  std::string reason;  ///< the log's first line
};

struct CompileSummary {
  std::int64_t space = 0, compiled = 0;
  std::int64_t pairs = 0,
               pairs_covered = 0;  ///< pairs of values of parameters, element type, layout in the space
  std::vector<CompileFailure> failures;
  double seconds = 0;
  std::string compiler;
  bool interrupted = false;
};

CompileSummary compile_space(const CompileSettings& settings, Observer& observer,
                             const std::atomic<bool>& stop);

}  // namespace hone::tuner
