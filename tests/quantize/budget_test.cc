#include "quantize/budget.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using namespace mlopt::quantize;

TEST_CASE("budgets are printed as they are read") {
  CHECK(to_string(parse_budget("size", "40%")) == "size=40%");
  CHECK(to_string(parse_budget("size", "12.5%")) == "size=12.5%");
  CHECK(to_string(parse_budget("bits", "4.5")) == "bits=4.5");
  CHECK(to_string(parse_budget("latency", "0.6x")) == "latency=0.6x");
  CHECK(parse_budget("size", "2M").amount == Approx(2e6).epsilon(0.05));
}

TEST_CASE("budgets that are none are refused") {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"size", "0%"},
                                                                                   {"size", "120%"},
                                                                                   {"size", "-3"},
                                                                                   {"size", "x"},
                                                                                   {"bits", "0"},
                                                                                   {"bits", "99"},
                                                                                   {"bits", ""}})
    CHECK_THROWS_AS(parse_budget(key, value), Error);
  for (const char* share : {"0.6", "0x", "1.5x", "fast", ""})
    CHECK(test::contains(test::error_of([&] { parse_budget("latency", share); }), "mixed:latency"));
}
