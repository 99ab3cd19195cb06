#include "tuner/statistics.hpp"

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "db/ties.hpp"

using namespace hone;
using namespace hone::tuner;

TEST_CASE("quartiles are order statistics with linear interpolation") {
  const double samples[] = {4, 1, 3, 2, 5};
  const db::Statistics s = summarise(samples);
  CHECK(s.n == 5);
  CHECK(s.minimum == 1);
  CHECK(s.q1 == 2);
  CHECK(s.median == 3);
  CHECK(s.q3 == 4);
  const double pair[] = {10, 20};
  CHECK(summarise(pair).median == 15);
  CHECK(summarise(pair).q1 == 12.5);
  CHECK(summarise({}).n == 0);
}

TEST_CASE("statistics are ordered whatever the samples") {
  rc::prop("minimum <= q1 <= median <= q3 <= maximum", [] {
    const auto raw = *rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<unsigned short>>());
    const std::vector<double> samples(raw.begin(), raw.end());
    const db::Statistics s = summarise(samples);
    RC_ASSERT(s.minimum == *std::min_element(samples.begin(), samples.end()));
    RC_ASSERT(s.minimum <= s.q1);
    RC_ASSERT(s.q1 <= s.median);
    RC_ASSERT(s.median <= s.q3);
    RC_ASSERT(s.q3 <= *std::max_element(samples.begin(), samples.end()));
  });
}

TEST_CASE("quiet measurements tie within two per cent, noisy ones within their noise") {
  const db::Statistics quiet{15, 100, 100, 100, 100};
  db::Statistics near = quiet, far = quiet;
  near.median = 102;
  far.median = 102.1;
  CHECK(ties(quiet, near));
  CHECK_FALSE(ties(quiet, far));
  db::Statistics noisy{15, 95, 95, 110, 125};
  CHECK(tie_bound(quiet, noisy) == Approx(15.0 / 110));
  CHECK(ties(quiet, noisy));
}
