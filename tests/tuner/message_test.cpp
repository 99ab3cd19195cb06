#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "tuner/protocol.hpp"

using namespace hone;
using namespace hone::tuner;

TEST_CASE("messages come out as they went in") {
  rc::prop("look requests", [] {
    LookRequest request;
    request.slot = *rc::gen::arbitrary<std::uint32_t>();
    request.configuration.family = *rc::gen::arbitrary<std::string>();
    request.configuration.variant = *rc::gen::arbitrary<std::string>();
    for (const auto& [name, number] : *rc::gen::arbitrary<std::map<std::string, std::int64_t>>()) {
      if (number % 2 == 0)
        request.configuration.parameters[name] = number;
      else
        request.configuration.parameters[name] = std::to_string(number);
    }
    for (const auto byte : *rc::gen::arbitrary<std::vector<unsigned char>>())
      request.object.push_back(std::byte{byte});
    request.extents = *rc::gen::arbitrary<bool>();
    request.large = *rc::gen::arbitrary<bool>();
    const auto back = decode<LookRequest>(encode(request));
    RC_ASSERT(back.slot == request.slot);
    RC_ASSERT(back.configuration == request.configuration);
    RC_ASSERT(back.object == request.object);
    RC_ASSERT(back.extents == request.extents);
    RC_ASSERT(back.large == request.large);
  });
  rc::prop("replies with samples", [] {
    LookReply reply;
    reply.outcome = db::Outcome::wrote_outside;
    reply.reason = *rc::gen::arbitrary<std::string>();
    for (const auto n : *rc::gen::arbitrary<std::vector<int>>()) reply.samples.push_back(n / 7.0);
    reply.condition.clock_mhz = *rc::gen::arbitrary<int>();
    const auto back = decode<LookReply>(encode(reply));
    RC_ASSERT(back.outcome == reply.outcome);
    RC_ASSERT(back.reason == reply.reason);
    RC_ASSERT(back.samples == reply.samples);
    RC_ASSERT(back.condition.clock_mhz == reply.condition.clock_mhz);
  });
}

TEST_CASE("a message cut short is an error at any length, never a read past its end") {
  OpenRequest request;
  request.manifest = "relu.toml";
  request.sources = {{"simt", db::Id::random()}};
  request.check_object.resize(100);
  const Bytes whole = encode(request);
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK_THROWS_AS(decode<OpenRequest>(std::span(whole).first(n)), std::runtime_error);
  CHECK_NOTHROW(decode<OpenRequest>(whole));
}
