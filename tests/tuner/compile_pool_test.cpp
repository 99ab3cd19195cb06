// The pool of compile workers: shared results, turns, and a compiler that takes its process down with it.
#include "tuner/compile_pool.hpp"

#include <catch2/catch.hpp>

#include "runtime/host_device.hpp"

using namespace hone;
using namespace hone::tuner;
using Catch::Matchers::Contains;

namespace {

Limits limits() {
  Limits result;
  result.jobs = 2;
  result.worker = HONE_BINARY_DIR "/bin/hone";
  return result;
}

CompileJob host_job(const std::string& body) {
  return {Backend::host, host_device_info().architecture, "extern \"C\" int answer() { " + body + " }",
          "answer"};
}

std::vector<FinishedJob> wait_for(CompileQueue& queue, std::size_t count) {
  std::vector<FinishedJob> all;
  while (all.size() < count)
    for (FinishedJob& one : queue.wait(10)) all.push_back(std::move(one));
  return all;
}

}  // namespace

TEST_CASE("users of one pool share the result of one job") {
  CompilePool pool(limits());
  CompileQueue first(pool), second(pool);
  first.submit(1, host_job("return 1;"));
  second.submit(7, host_job("return 1;"));
  second.submit(8, host_job("return nothing_of_that_name;"));
  const auto a = wait_for(first, 1);
  const auto b = wait_for(second, 2);
  const auto& shared = b[0].tag == 7 ? b[0] : b[1];
  const auto& failed = b[0].tag == 7 ? b[1] : b[0];
  CHECK(a[0].tag == 1);
  CHECK(a[0].compiled->outcome == db::Outcome::ok);
  CHECK(a[0].compiled.get() == shared.compiled.get());
  CHECK(failed.compiled->outcome == db::Outcome::compile_failed);
  CHECK_THAT(failed.compiled->reason, Contains("nothing_of_that_name"));
  second.submit(9, host_job("return 1;"));
  CHECK(wait_for(second, 1)[0].compiled.get() == a[0].compiled.get());
}

TEST_CASE("jobs that no worker has begun can be dropped") {
  CompilePool pool(limits());
  CompileQueue queue(pool);
  for (std::uint64_t tag = 0; tag < 40; ++tag)
    queue.submit(tag, host_job("return " + std::to_string(tag) + ";"));
  const std::size_t dropped = queue.forget_queued().size();
  CHECK(dropped >= 36);
  CHECK(wait_for(queue, 40 - dropped).size() == 40 - dropped);
  CHECK(queue.idle());
  CHECK(queue.wait(0).empty());
}

TEST_CASE("a compiler that aborts costs its own job alone") {
  // hipRTC ends its process on an architecture newer than itself.
  const auto job = [](const std::string& architecture, int i) {
    return CompileJob{Backend::hip, architecture,
                      "extern \"C\" __global__ void k(int* p) { *p = " + std::to_string(i) + "; }", "k"};
  };
  CompilePool pool(limits());
  CompileQueue queue(pool);
  for (int i = 0; i < 6; ++i)
    queue.submit(static_cast<std::uint64_t>(i), job(i % 2 == 0 ? "gfx90a" : "gfx9999", i));
  std::vector<FinishedJob> finished;
  try {
    finished = wait_for(queue, 6);
  } catch (const Error& error) {
    WARN("skipped: " << error.what());
    return;
  }
  for (const FinishedJob& one : finished) {
    INFO(one.tag << ": " << one.compiled->reason);
    if (one.tag % 2 == 0) {
      CHECK(one.compiled->outcome == db::Outcome::ok);
    } else {  // a hipRTC that knows better refuses it
      CHECK((one.compiled->outcome == db::Outcome::crashed ||
             one.compiled->outcome == db::Outcome::compile_failed));
      CHECK_FALSE(one.compiled->reason.empty());
    }
  }
}
