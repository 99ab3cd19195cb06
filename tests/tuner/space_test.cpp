#include "tuner/space.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <set>

#include "tuner/candidates.hpp"
#include "tuner/search.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

std::vector<db::Configuration> product(const std::vector<std::int64_t>& sizes) {
  std::vector<db::Configuration> all{{"f", "v", {}}};
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    std::vector<db::Configuration> next;
    for (const auto& c : all)
      for (std::int64_t v = 0; v < sizes[p]; ++v) {
        next.push_back(c);
        next.back().parameters["p" + std::to_string(p)] = v;
      }
    all = std::move(next);
  }
  return all;
}

using Pair = std::pair<std::pair<std::string, db::Value>, std::pair<std::string, db::Value>>;

std::set<Pair> pairs_of(const db::Configuration& c) {
  std::set<Pair> result;
  for (auto a = c.parameters.begin(); a != c.parameters.end(); ++a)
    for (auto b = std::next(a); b != c.parameters.end(); ++b) result.insert({*a, *b});
  return result;
}

}  // namespace

TEST_CASE("a covering set holds every pair of values that occurs") {
  rc::prop("over random products with holes", [] {
    const auto sizes =
        *rc::gen::container<std::vector<std::int64_t>>(4, rc::gen::inRange<std::int64_t>(1, 5));
    auto all = product(sizes);
    const auto holes = *rc::gen::inRange<std::size_t>(2, 7);
    for (std::size_t i = all.size(); i-- > 0;)
      if (all.size() > 1 && (i * 2654435761U) % holes == 0)
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    std::set<Pair> wanted, got;
    for (const auto& c : all) wanted.merge(pairs_of(c));
    const Cover cover = covering_set(all, 0);
    for (const std::size_t i : cover.indices) got.merge(pairs_of(all[i]));
    RC_ASSERT(got == wanted);
    RC_ASSERT(cover.covered == cover.pairs);
    RC_ASSERT(cover.pairs == static_cast<std::int64_t>(wanted.size()));
    RC_ASSERT(std::set(cover.indices.begin(), cover.indices.end()).size() == cover.indices.size());
  });
}

TEST_CASE("a limited covering set covers what it can and says how much") {
  const auto all = product({5, 5, 5});
  const Cover cover = covering_set(all, 4);
  CHECK(cover.indices.size() == 4);
  CHECK(cover.pairs == 75);
  CHECK(cover.covered == 12);  // three pairs each, none twice
}

TEST_CASE("searches visit each configuration once, the first ones first") {
  for (const char* name : {"auto", "exhaustive", "random"}) {
    for (const bool cut : {false, true}) {
      auto search = make_search(name, 50, {7, 3, 7}, cut, 42);
      std::vector<std::size_t> order;
      while (const auto index = search->ask()) order.push_back(*index);
      CHECK(order.size() == 50);
      CHECK(std::set(order.begin(), order.end()).size() == 50);
      CHECK(order[0] == 7);
      CHECK(order[1] == 3);
    }
  }
  CHECK_THROWS_WITH(make_search("annealing", 1, {}, false, 1),
                    Catch::Contains("annealing") && Catch::Contains("random"));
}

TEST_CASE("the fastest of a ladder point's values is kept for the race") {
  Family family;
  family.ladder = {{"one", "v", {{"p0", std::int64_t{0}}, {"p1", std::int64_t{0}}}, {}},
                   {"best", "v", {{"p0", std::int64_t{1}}, {"p1", std::int64_t{0}}}, {"p1"}}};
  std::vector<Candidate> candidates;
  for (const db::Configuration& configuration : product({2, 4})) {
    Candidate candidate;
    candidate.configuration = configuration;
    candidate.outcome = db::Outcome::ok;
    candidate.look.minimum = 10 - static_cast<double>(candidates.size());
    candidates.push_back(std::move(candidate));
  }
  candidates.back().outcome = db::Outcome::wrong_result;
  keep_best_of_ladder(family, candidates);
  for (const Candidate& candidate : candidates) {
    INFO(candidate.configuration.text());
    CHECK(candidate.kept == (candidate.configuration.text() == "v p0=1 p1=2"));
  }
}
