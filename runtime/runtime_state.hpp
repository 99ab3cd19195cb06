// What a Runtime is made of. The table of answers is read without a lock; all else that changes is under one.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "db/expression.hpp"
#include "hone/hone.hpp"
#include "runtime/answer_table.hpp"
#include "runtime/code_cache.hpp"
#include "runtime/ladder.hpp"
#include "runtime/misses.hpp"
#include "runtime/process.hpp"
#include "runtime/winner_index.hpp"

namespace hone {

/// A family's signature under which problems were made. Never changes once handed out: a database whose
/// manifest has another signature later makes another one.
struct KnownFamily {
  std::uint32_t number = 0;
  std::shared_ptr<const Family> family;
  std::size_t required = 0;    ///< dimensions that have no default
  std::uint32_t pointers = 0;  ///< bit i: argument i is a pointer
  /// Per dimension, the earlier one that its default names; none: the default is an expression.
  std::vector<std::optional<std::size_t>> default_is;
};

struct RuntimeState {
  explicit RuntimeState(const OpenOptions& options);
  /// On a device that the caller opened, whatever `options` says of one.
  RuntimeState(const OpenOptions& options, std::unique_ptr<Device> opened);

  static RuntimeState& of(Runtime& runtime) { return *runtime.state_; }
  static Runtime runtime_of(std::unique_ptr<RuntimeState> state) { return Runtime(std::move(state)); }

  // The hot path.
  Pick pick(const Problem& problem, std::size_t alignment);
  void launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream);
  Pick run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream);

  // Under the lock.
  FamilyHandle family(const std::string& name);
  Pick prepare(const Problem& problem, std::size_t alignment);
  bool refresh();
  void flush_misses();
  std::vector<std::string> families();
  Explanation explain(const Problem& problem, std::size_t alignment);
  Problem problem_by_name(const KnownFamily& known, const std::string& element_type,
                          const std::string& layout,
                          const std::vector<std::pair<std::string, std::int64_t>>& dimensions);
  /// The default of a stride, given the dimensions before it.
  std::int64_t stride(const KnownFamily& known, const Problem& problem, std::size_t index);

  static const Answer* answer_of(const Pick& pick) { return pick.answer_; }
  // For the C interface, which keeps the parts of a FamilyHandle and of a Pick.
  static const KnownFamily& known_of(const FamilyHandle& handle) { return *handle.family_; }
  static FamilyHandle handle_of(RuntimeState* state, const KnownFamily* known) { return {state, known}; }
  static Pick pick_of(const Answer* answer) {
    Pick pick;
    pick.answer_ = answer;
    return pick;
  }
  static Pick pick_of(std::shared_ptr<const Answer> own) {
    Pick pick;
    pick.answer_ = own.get();
    pick.own_ = std::move(own);
    return pick;
  }
  static const std::shared_ptr<const Answer>& own_of(const Pick& pick) { return pick.own_; }

  std::unique_ptr<Device> device;
  const Process& process() const noexcept { return process_; }

 private:
  using Indexes = std::vector<std::shared_ptr<const WinnerIndex>>;
  using Templates = std::map<std::string, std::shared_ptr<const Family>>;

  static constexpr std::size_t kMostFamilies = 1024;  ///< a changed signature counts again

  const KnownFamily& known_family(std::uint32_t number) const;
  Pick resolve(const Problem& problem, unsigned alignment_log);
  void require_no_capture(const Answer& answer, Stream stream);
  void load(const Answer& answer);
  Indexes read_indexes() const;

  // With `mutex_` held.
  Pick resolve_locked(const Problem& problem, unsigned alignment_log);
  Answer climb(const Problem& problem, unsigned alignment_log, std::vector<LadderStep>* steps);
  db::Problem complete(const KnownFamily& known, const Problem& problem);
  const Served* serve(const Climbed& climbed);
  Pick publish(Answer answer);
  void note_miss(const Answer& answer);
  const KnownFamily& know(const std::shared_ptr<const Family>& family);
  std::string stale(const Variant& variant, const std::string& family, const db::Id& source_hash);
  std::shared_ptr<const Family> given_template(const std::string& name);
  std::shared_ptr<const Family> stored_template(const std::string& name) const;

  const Process process_;
  const OpenOptions options_;
  const db::Regime regime_;
  const db::Id device_id_;
  std::vector<std::string> files_;
  AnswerTable answers_;

  std::mutex refreshing_;  ///< taken before `mutex_`
  std::mutex mutex_;
  db::Evaluator evaluator_;
  Indexes indexes_;
  std::optional<CodeCache> codes_;
  std::deque<KnownFamily> known_;
  std::array<std::atomic<const KnownFamily*>, kMostFamilies> known_by_number_{};  ///< read without the lock
  Templates templates_;  ///< from the given folders; null: not there
  std::vector<std::unique_ptr<const Answer>> owned_;
  std::map<std::tuple<std::string, std::string, db::Id, bool>, std::unique_ptr<const Served>> served_;
  MissWriter misses_;
};

}  // namespace hone
