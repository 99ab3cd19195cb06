// How a long operation tells whoever watches: progress, and lines worth reading.
#pragma once

#include <cstdint>
#include <string>

namespace hone::tuner {

struct Progress {
  std::string what;       ///< the problem or the step: `relu f16 numel=4194304`
  std::string stage;      ///< `compile`, `look`, `race`, `verify`
  std::int64_t done = 0;  ///< of `total`, over the whole operation
  std::int64_t total = 0;
  std::int64_t failed = 0;
  std::string best;  ///< the best so far, as text: `simt block=256 … 12.3 us`; empty: none
};

/// Called from the thread that runs the operation.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress& progress) = 0;
  virtual void note(const std::string& line) = 0;
};

/// Watches nothing.
class Silent final : public Observer {
 public:
  void progress(const Progress&) override {}
  void note(const std::string&) override {}
};

}  // namespace hone::tuner
