#include "quantize/latency_plan.h"

#include <map>

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// Times are injected: nothing is measured here. Layers cost what they say, and together `shared` of it less.
struct Clock {
  std::map<std::string, double> costs = {{"a", 0.1}, {"b", 0.1}, {"c", 0.2}, {"d", 0.0}, {"e", 0.05}};
  double all = 0.5, factor = 1;
  int calls = 0;

  double run(const std::vector<std::string>& floats) {
    ++calls;
    double time = all;
    for (const std::string& layer : floats) time += factor * costs.at(layer);
    return time;
  }

  std::vector<std::string> choose(double allowed) {
    const std::map<std::string, double> errors = {{"a", 4}, {"b", 1}, {"c", 4}, {"d", 0.1}, {"e", 0}};
    std::vector<LayerTrial> trials;
    for (const auto& [layer, error] : errors) trials.push_back({layer, all + costs.at(layer), error});
    LatencyPlanner planner(trials, allowed, [&](const std::vector<std::string>& floats) { return run(floats); });
    std::vector<std::string> floats = planner.choose();
    CHECK(planner.time() <= allowed);
    CHECK(planner.time() == Approx(run(floats)));
    return floats;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("layers stay float where that gains most for the time, as far as it is allowed") {
  CHECK(Clock().choose(0.5) == Names{"d"});
  CHECK(Clock().choose(0.61) == Names{"d", "a"});
  CHECK(Clock().choose(0.75) == Names{"d", "a"});  // c does not fit, and what gains less does not pass it
  CHECK(Clock().choose(0.81) == Names{"d", "a", "c"});
  CHECK(Clock().choose(1.0) == Names{"d", "a", "c", "b", "e"});
}

TEST_CASE("what was chosen is measured: fewer stay float where together they cost more, more where they cost less") {
  Clock slow, quick;
  slow.factor = 1.5;
  quick.factor = 0.5;
  CHECK(slow.choose(0.85) == Names{"d", "a"});
  CHECK(quick.choose(0.76) == Names{"d", "a", "c", "b", "e"});
  CHECK(slow.calls < 8);
}

TEST_CASE("the same measurements give the same choice") {
  for (const double allowed : {0.5, 0.6, 0.7, 0.8, 0.9}) CHECK(Clock().choose(allowed) == Clock().choose(allowed));
}

TEST_CASE("a time that integers do not reach is refused, with the least that they do") {
  const std::string error = test::error_of([] { Clock().choose(0.4); });
  CHECK(test::contains(error, "0.50"));
  CHECK(test::contains(error, "0.40"));
}
