// The hot path's table: answers by problem and alignment. Readers take no lock and wait for nobody; one
// writer at a time adds answers. Replaced tables are kept, since a reader may still be in one; each is half
// of its successor.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/answer.hpp"

namespace hone {

class AnswerTable {
 public:
  AnswerTable() {
    tables_.push_back(std::make_unique<Slots>(kInitial));
    current_.store(tables_.back().get(), std::memory_order_release);
  }

  /// Null for what was never answered, or was marked stale.
  const Answer* find(const Problem& problem, unsigned alignment_log) const noexcept {
    const Slots* table = current_.load(std::memory_order_acquire);
    const std::uint64_t hash = hash_of(problem, alignment_log);
    for (std::size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
      const Slot& slot = table->slots[at];
      const std::uintptr_t word = slot.word.load(std::memory_order_acquire);
      if (word == 0) return nullptr;
      if (slot.hash != hash) continue;
      if (const Answer* answer = pointer(word); answer->answers(problem, alignment_log))
        return (word & kStale) == 0 ? answer : nullptr;
    }
  }

  // For one thread at a time:

  /// The answer to the same as `other`, though it is stale.
  const Answer* find_stale(const Answer& other) const noexcept {
    const Slot* slot = occupied(*tables_.back(), other);
    return slot == nullptr ? nullptr : pointer(slot->word.load(std::memory_order_relaxed));
  }

  /// Publishes an answer, in place of a former one to the same problem and alignment.
  void put(const Answer* answer) {
    if (Slot* slot = occupied(*tables_.back(), *answer)) {
      slot->word.store(reinterpret_cast<std::uintptr_t>(answer), std::memory_order_release);
      return;
    }
    if ((count_ + 1) * 2 > tables_.back()->mask + 1) grow();
    place(*tables_.back(), answer->hash, reinterpret_cast<std::uintptr_t>(answer));
    ++count_;
  }

  /// From now on nothing is found until it is put again.
  void mark_stale() noexcept {
    const Slots& table = *tables_.back();
    for (std::size_t at = 0; at <= table.mask; ++at) {
      Slot& slot = table.slots[at];
      if (const auto word = slot.word.load(std::memory_order_relaxed); word != 0)
        slot.word.store(word | kStale, std::memory_order_release);
    }
  }

 private:
  static constexpr std::size_t kInitial = 1024;
  static constexpr std::uintptr_t kStale = 1;  ///< in the pointer's lowest bit

  struct Slot {
    std::uint64_t hash = 0;  ///< written once, before `word` is published
    std::atomic<std::uintptr_t> word{0};
  };
  struct Slots {
    explicit Slots(std::size_t size) : mask(size - 1), slots(std::make_unique<Slot[]>(size)) {}
    std::size_t mask;
    std::unique_ptr<Slot[]> slots;
  };

  static const Answer* pointer(std::uintptr_t word) noexcept {
    return reinterpret_cast<const Answer*>(word &
                                           ~kStale);  // NOLINT(performance-no-int-to-ptr): a tagged pointer
  }

  static Slot* occupied(const Slots& table, const Answer& other) noexcept {
    for (std::size_t at = other.hash & table.mask;; at = (at + 1) & table.mask) {
      Slot& slot = table.slots[at];
      const std::uintptr_t word = slot.word.load(std::memory_order_relaxed);
      if (word == 0) return nullptr;
      if (slot.hash == other.hash && pointer(word)->answers(other.problem, other.alignment_log)) return &slot;
    }
  }

  static void place(Slots& table, std::uint64_t hash, std::uintptr_t word) noexcept {
    std::size_t at = hash & table.mask;
    while (table.slots[at].word.load(std::memory_order_relaxed) != 0) at = (at + 1) & table.mask;
    table.slots[at].hash = hash;
    table.slots[at].word.store(word, std::memory_order_release);
  }

  void grow() {
    const Slots& old = *tables_.back();
    auto bigger = std::make_unique<Slots>((old.mask + 1) * 2);
    for (std::size_t at = 0; at <= old.mask; ++at)
      if (const auto word = old.slots[at].word.load(std::memory_order_relaxed); word != 0)
        place(*bigger, old.slots[at].hash, word);
    tables_.push_back(std::move(bigger));
    current_.store(tables_.back().get(), std::memory_order_release);
  }

  std::atomic<const Slots*> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> tables_;
  std::size_t count_ = 0;
};

}  // namespace hone
