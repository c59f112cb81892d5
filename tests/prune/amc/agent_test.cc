#include "prune/amc/agent.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace mlopt;
using prune::Agent;
using prune::Transition;

TEST_CASE("an agent finds what is rewarded in each state") {
  const std::vector<std::vector<float>> states = {{1, 0}, {0, 1}};
  const float best[] = {0.2F, 0.7F};
  Agent agent(2, 0.9F, 1);
  for (int episode = 0; episode < 200; ++episode) {
    std::vector<Transition> made;
    float reward = 0;
    for (size_t i = 0; i < 2; ++i) {
      const float action = agent.act(states[i], 0.4);
      CHECK((action >= 0 && action <= 0.9F));
      made.push_back({states[i], i == 0 ? states[1] : std::vector<float>(), action});
      reward -= (action - best[i]) * (action - best[i]);
    }
    agent.remember(made, reward);
    for (int i = 0; i < 6; ++i) agent.learn();
  }
  CHECK(agent.act(states[0], 0) == Approx(best[0]).margin(0.2));
  CHECK(agent.act(states[1], 0) == Approx(best[1]).margin(0.2));
  CHECK(agent.act(states[1], 0) > agent.act(states[0], 0) + 0.2);
}
