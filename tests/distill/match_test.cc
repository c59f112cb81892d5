#include "distill/match.h"

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt::test {

TEST_CASE("pairs and weights are read") {
  const distill::Match match = distill::parse_match("t=/layer3/out, s=/layer1/out,loss=hint,w=2.5");
  CHECK(match.teacher == "/layer3/out");
  CHECK(match.student == "/layer1/out");
  CHECK(match.loss->name == "hint");
  CHECK(match.weight == 2.5);
  const distill::Match same = distill::parse_match("loss=at,t=/layer*/out");
  CHECK(same.student == "/layer*/out");
  CHECK(!same.weight);
  const auto weights = distill::parse_weights({"kl=0.5", "hard=0"});
  CHECK(weights.at("kl") == 0.5);
  CHECK(weights.at("hard") == 0);
}

TEST_CASE("pairs and weights that mean nothing are refused") {
  const auto refused = [](const char* text, const char* part) {
    const Error error = thrown_by([&] { distill::parse_match(text); });
    INFO(error.what());
    CHECK(error.code == Code::kUsage);
    CHECK(says(error, part));
  };
  refused("t=a,s=b", "needs a loss");
  refused("loss=mse", "needs names");
  refused("t=a,loss=attn", "no loss is called 'attn'");
  refused("t=a,loss=mse,weight=1", "a pair has no 'weight'");
  refused("t=a,loss=mse,w=-1", "no weight of at least 0");
  refused("t=a,loss=mse,w=nan", "no weight of at least 0");
  refused("a", "no KEY=VALUE");
  CHECK(says(thrown_by([] { distill::parse_weights({"klk=1"}); }), "did you mean 'kl'?"));
}

}  // namespace mlopt::test
