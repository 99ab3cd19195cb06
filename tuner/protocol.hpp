// What the coordinator and its workers say to each other. Requests are answered in order; a worker that ends
// or is ended instead of answering costs the request in flight.
#pragma once

#include <string>
#include <vector>

#include "db/records.hpp"
#include "runtime/compiler.hpp"
#include "tuner/message.hpp"

namespace hone::tuner {

enum class Kind : std::uint8_t { compile, open, problem, look, load, round, recheck, drop, sample, reply };

struct CompileRequest {
  CompileJob job;
};
struct CompileReply {
  bool compiler_usable = true;
  bool ok = false;
  Bytes object;
  std::string log;
  Resources resources;
  std::string compiler;
  db::Id build_key;
};

/// Opens the device and gets ready to check: the family's manifest is read again by the worker and must still
/// have the same sources.
struct OpenRequest {
  int backend = 0, index = 0;
  std::string architecture;
  std::string manifest;
  std::vector<std::pair<std::string, db::Id>> sources;  ///< variant and source hash
  Bytes check_object;                                   ///< common/check.cpp built for the device
  Bytes reference_object;                               ///< the family's reference built for the host
  std::uint64_t seed = 0;
  std::int64_t cache_bytes = 0;  ///< last-level cache; what the cold regime has to overflow
};

/// What every request but a look is answered with.
struct Reply {
  bool ok = true;
  std::string why;
};

struct ProblemRequest {
  db::Problem problem;
  db::Regime regime = db::Regime::steady;
};
struct ProblemReply {
  bool ok = true;
  std::string why;
  std::int64_t rotated_bytes = 0;  ///< cold: bytes touched between two uses of the same buffer
};

/// Loads a configuration, checks it (on the manifest's extents when `extents`, on the large ones when
/// `large`, and on the problem), and times it a little when `timed`. It stays loaded under `slot` when it
/// passes.
struct LookRequest {
  std::uint32_t slot = 0;
  db::Configuration configuration;
  Bytes object;
  bool extents = true, large = false, timed = true;
};
struct LookReply {
  db::Outcome outcome = db::Outcome::ok;
  std::string reason;
  std::int64_t alignment = 1;
  std::int64_t launches = 0;
  std::vector<double> samples;  ///< nanoseconds a launch
  db::Condition condition;
  std::string not_checked;  ///< a large extent that memory did not allow to try; told once
};

/// Loads without checks: what had passed before its worker was lost.
struct LoadRequest {
  std::uint32_t slot = 0;
  db::Configuration configuration;
  Bytes object;
};

/// One sample of each slot, in this order; each is answered by a Sample as soon as it is taken.
struct RoundRequest {
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> launches;  ///< in the sample of each slot
  std::uint32_t warm_ups = 0;           ///< launches before each sample
  std::uint32_t placement = 0;          ///< which of the problem's sets of buffers; any number will do
};
struct Sample {
  std::uint32_t slot = 0;
  double nanoseconds = 0;  ///< a launch
  db::Condition condition;
};

/// Checks the outputs of many more launches of a slot that was timed, on the problem and on the manifest's
/// extents: what is wrong only now and then shows late.
struct RecheckRequest {
  std::uint32_t slot = 0;
  bool large = false;
  bool brief = false;  ///< once, on the problem itself: a finalist that was checked at length before
};
struct DropRequest {
  std::vector<std::uint32_t> slots;
};

template <class A>
void fields(A& a, db::Problem& m) {
  a(m.family, m.element_type, m.layout, m.dimensions);
}
template <class A>
void fields(A& a, db::Configuration& m) {
  a(m.family, m.variant, m.parameters);
}
template <class A>
void fields(A& a, db::Condition& m) {
  a(m.clock_mhz, m.temperature_c, m.throttled, m.discarded);
}
template <class A>
void fields(A& a, Resources& m) {
  a(m.registers, m.spill_bytes, m.shared_bytes);
}
template <class A>
void fields(A& a, CompileJob& m) {
  a(m.backend, m.architecture, m.source, m.entry);
}
template <class A>
void fields(A& a, CompileRequest& m) {
  a(m.job);
}
template <class A>
void fields(A& a, CompileReply& m) {
  a(m.compiler_usable, m.ok, m.object, m.log, m.resources, m.compiler, m.build_key);
}
template <class A>
void fields(A& a, OpenRequest& m) {
  a(m.backend, m.index, m.architecture, m.manifest, m.sources, m.check_object, m.reference_object, m.seed,
    m.cache_bytes);
}
template <class A>
void fields(A& a, Reply& m) {
  a(m.ok, m.why);
}
template <class A>
void fields(A& a, ProblemRequest& m) {
  a(m.problem, m.regime);
}
template <class A>
void fields(A& a, ProblemReply& m) {
  a(m.ok, m.why, m.rotated_bytes);
}
template <class A>
void fields(A& a, LookRequest& m) {
  a(m.slot, m.configuration, m.object, m.extents, m.large, m.timed);
}
template <class A>
void fields(A& a, LookReply& m) {
  a(m.outcome, m.reason, m.alignment, m.launches, m.samples, m.condition, m.not_checked);
}
template <class A>
void fields(A& a, LoadRequest& m) {
  a(m.slot, m.configuration, m.object);
}
template <class A>
void fields(A& a, RoundRequest& m) {
  a(m.slots, m.launches, m.warm_ups, m.placement);
}
template <class A>
void fields(A& a, Sample& m) {
  a(m.slot, m.nanoseconds, m.condition);
}
template <class A>
void fields(A& a, RecheckRequest& m) {
  a(m.slot, m.large, m.brief);
}
template <class A>
void fields(A& a, DropRequest& m) {
  a(m.slots);
}

}  // namespace hone::tuner
