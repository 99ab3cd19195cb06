// The code objects of one device's configurations, compiled by a pool as they are asked for. They serve every
// problem of their element type and layout, so that a run's problems come ordered by those.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tuner/compile_pool.hpp"

namespace hone::tuner {

/// Used by one thread.
class CodeObjects {
 public:
  CodeObjects(CompileQueue& queue, const Family& family, const DeviceInfo& device)
      : queue_(queue), family_(family), device_(device) {}

  /// From now on requests are for this element type and layout; those of another are let go.
  void serve(const std::string& element_type, const std::string& layout);

  /// Has it compiled unless it is, or is under way.
  void request(const db::Configuration& configuration, const db::Id& id);
  /// Null until it is done. Whatever came of it: an object, or why there is none.
  std::shared_ptr<const Compiled> find(const db::Id& configuration);

  /// Until one more is done, none is under way, or `seconds` have passed.
  void wait(double seconds);
  /// Whether none is under way.
  bool idle() const { return queue_.idle(); }
  /// Drops the requests that no compiler has begun, and waits for those that one has.
  void settle();

  std::int64_t compiled() const noexcept { return compiled_; }

 private:
  struct Object {
    db::Id configuration;
    std::shared_ptr<const Compiled> compiled;  ///< null: under way
  };
  void receive(std::vector<FinishedJob> finished);

  CompileQueue& queue_;
  const Family& family_;
  const DeviceInfo& device_;
  std::string element_type_, layout_;
  std::map<db::Id, std::uint64_t> tags_;     ///< by configuration
  std::map<std::uint64_t, Object> objects_;  ///< by tag
  std::uint64_t next_tag_ = 1;
  std::int64_t compiled_ = 0;
};

}  // namespace hone::tuner
