#include "cli/verb/trial.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// y = factor * x.
Model scaled(double factor) {
  return test::fixture("g (float[N,3] x) => (float[N,3] y) <float f = {" + std::to_string(factor) +
                       "}> { y = Mul (x, f) }");
}

}  // namespace

TEST_CASE("each result that is tried is compared with the same source, and timed") {
  cli::Session session{{}, Console(false, false), {}};
  session.common.threads = 1;
  session.common.device = "reference";
  cli::VerbOptions verb;
  verb.bench = 0.02;
  const Model source = scaled(1);
  cli::Trials trials(verb, source, session);
  for (const double error : {0.1, 0.01, 0.001}) {
    const Model made = scaled(1 + error);
    const cli::Trial trial = trials.look_at(made);
    REQUIRE(trial.difference);
    CHECK(trials.quality(trial) == Approx(-20 * std::log10(error)).margin(0.05));
    CHECK(trial.latency.left_out.empty());
    CHECK(trial.latency.source.runs > 0);
  }
  CHECK(trials.look_at(scaled(1)).difference->max_abs == 0);
  CHECK_FALSE(trials.source_score());
}
