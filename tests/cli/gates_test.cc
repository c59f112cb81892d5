#include "cli/gates.h"

#include <limits>

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::cli;

namespace {

RunComparison comparison_of(std::vector<Difference> differences) {
  RunComparison comparison;
  for (const Difference& d : differences) comparison.outputs.push_back({"y", d, ""});
  return comparison;
}

}  // namespace

TEST_CASE("the worst output decides") {
  Difference good, bad;
  good.max_abs = 0.01;
  good.max_expected = 10;
  good.sqnr_db = 60;
  bad.max_abs = 0.5;
  bad.max_expected = 10;
  bad.sqnr_db = 20;
  bad.argmax_agreement = 0.9;
  good.rows = bad.rows = 10;
  const RunComparison comparison = comparison_of({good, bad});
  ResultGates gates;
  gates.tolerance = 0.05;
  gates.min_sqnr = 20.5;
  gates.min_agreement = parse_value<Percent>("90%");
  const std::vector<Gate> judged = judge(gates, {&comparison, {}, {}, 0, 0});
  REQUIRE(judged.size() == 3);
  CHECK(judged[0].holds);
  CHECK(judged[0].value.number() == Approx(0.05));
  CHECK_FALSE(judged[1].holds);
  CHECK(judged[2].holds);
}

TEST_CASE("agreement of nothing fails") {
  const RunComparison comparison = comparison_of({Difference()});
  ResultGates gates;
  gates.min_agreement = Percent{50};
  CHECK_FALSE(judge(gates, {&comparison, {}, {}, 0, 0})[0].holds);
}

TEST_CASE("what could not be compared fails") {
  ResultGates gates;
  gates.tolerance = 1;
  CHECK_FALSE(judge(gates, {})[0].holds);
  RunComparison comparison;
  comparison.outputs.push_back({"y", std::nullopt, "shapes 2 and 3"});
  CHECK_FALSE(judge(gates, {&comparison, {}, {}, 0, 0})[0].holds);
  Difference nan;
  nan.same_nonfinite = false;
  const RunComparison broken = comparison_of({nan});
  CHECK_FALSE(judge(gates, {&broken, {}, {}, 0, 0})[0].holds);
  ResultGates lenient;
  lenient.min_sqnr = -5;
  lenient.min_agreement = Percent{0};
  for (const Gate& gate : judge(lenient, {&broken, {}, {}, 0, 0})) CHECK_FALSE(gate.holds);
}

TEST_CASE("a size beyond all numbers is a limit that everything holds") {
  CHECK(SizeLimit{1e300, true}.bytes(1000) > int64_t{1} << 60);
}

TEST_CASE("a drop counts in points, in the direction of the metric") {
  ResultGates gates;
  gates.max_drop = Percent{0.5};
  const auto holds = [&](const char* metric, double source, double result) {
    return judge(gates, {nullptr, Score{metric, source, 200, 0}, Score{metric, result, 200, 0}, 0, 0})[0].holds;
  };
  CHECK(holds("top1", 0.750, 0.745));
  CHECK_FALSE(holds("top1", 0.750, 0.740));
  CHECK(holds("top1", 0.750, 0.900));
  CHECK(holds("ppl", 10, 10.5));
  CHECK_FALSE(holds("ppl", 10, 10.6));
  CHECK_THROWS_AS(judge(gates, {}), Error);
}

TEST_CASE("limits that nothing can hold are refused") {
  ResultGates below, above, scoreless, good;
  below.tolerance = -1;
  above.min_agreement = Percent{101};
  scoreless.max_drop = Percent{1};
  CHECK_THROWS_AS(check_gates(below, ""), Error);
  CHECK_THROWS_AS(check_gates(above, ""), Error);
  CHECK_THROWS_AS(check_gates(scoreless, ""), Error);
  CHECK_NOTHROW(check_gates(scoreless, "top1"));
  good.tolerance = 0;
  good.min_agreement = Percent{100};
  CHECK_NOTHROW(check_gates(good, ""));
}

TEST_CASE("limits are read with their units") {
  CHECK(parse_value<Percent>("99.5%").value == 99.5);
  CHECK(parse_value<Percent>("3").value == 3);
  CHECK(parse_value<SizeLimit>("2K").bytes(100) == 2048);
  CHECK(parse_value<SizeLimit>("40%").bytes(200) == 80);
  CHECK_THROWS_WITH(parse_value<Percent>("-1%"), Catch::Contains("a number from 0"));
  CHECK_THROWS_AS(parse_value<Percent>("nan"), Error);
  CHECK_THROWS_AS(parse_value<SizeLimit>("big"), Error);
  CHECK_THROWS_AS(parse_value<SizeLimit>("%"), Error);
}

TEST_CASE("a speed is reached when all of its interval is, and there are blocks enough") {
  const auto gate = [](double low, double high, size_t blocks) {
    return speedup_gate({.median = 1.5, .low = low, .high = high, .blocks = blocks}, 1.4, "b against a: ");
  };
  CHECK(gate(1.45, 1.6, 9).holds);
  CHECK(gate(1.45, 1.6, 9).words == "b against a: 1.50x faster (1.45 to 1.60), the limit is 1.4x");
  CHECK_FALSE(gate(1.3, 1.6, 9).holds);
  CHECK(gate(1.3, 1.6, 9).words.find(": inconclusive") != std::string::npos);
  CHECK(gate(1.1, 1.2, 9).words.find("inconclusive") == std::string::npos);
  CHECK_FALSE(gate(1.45, 1.6, 1).holds);
}
