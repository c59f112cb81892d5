#include "prune/amc/agent.h"

#include <algorithm>
#include <cmath>

namespace mlopt::prune {
namespace {

constexpr size_t kBatch = 64, kMemories = 2000;
constexpr float kActorRate = 1e-3F, kCriticRate = 1e-3F, kFollow = 0.01F;
constexpr float kUsual = 0.5F;  // of a batch's mean in the moving average that rewards are seen against

/// Rows of states, each with the action behind it where there are actions.
std::vector<float> rows_of(const std::vector<std::span<const float>>& states, std::span<const float> actions) {
  std::vector<float> rows;
  for (size_t i = 0; i < states.size(); ++i) {
    rows.insert(rows.end(), states[i].begin(), states[i].end());
    if (!actions.empty()) rows.push_back(actions[i]);
  }
  return rows;
}

}  // namespace

Agent::Agent(size_t state, float most, uint64_t seed)
    : state_(state),
      most_(most),
      rng_(seed),
      actor_(state, Network::Output::kSigmoid, rng_),
      critic_(state + 1, Network::Output::kLinear, rng_),
      slow_actor_(actor_),
      slow_critic_(critic_) {}

float Agent::act(std::span<const float> state, double deviation) {
  const double wanted = most_ * actor_.forward(state)[0];
  if (deviation == 0) return static_cast<float>(wanted);
  for (;;) {  // what lies outside is drawn again: the normal distribution, truncated
    const double drawn = wanted + deviation * rng_.normal();
    if (drawn >= 0 && drawn <= most_) return static_cast<float>(drawn);
  }
}

void Agent::remember(const std::vector<Transition>& episode, float reward) {
  for (const Transition& one : episode) {
    if (memories_.size() < kMemories) {
      memories_.push_back({one, reward});
    } else {
      memories_[oldest_] = {one, reward};
      oldest_ = (oldest_ + 1) % kMemories;
    }
  }
}

std::vector<const Agent::Memory*> Agent::draw() {
  std::vector<const Memory*> batch;
  for (size_t i = 0; i < kBatch; ++i)
    batch.push_back(&memories_[static_cast<size_t>(rng_.integer(0, static_cast<int64_t>(memories_.size()) - 1))]);
  return batch;
}

/// Towards the reward, less the usual one, and what the policy is expected to get from there on.
void Agent::teach_critic(const std::vector<const Memory*>& batch) {
  float mean = 0;
  for (const Memory* m : batch) mean += m->reward / static_cast<float>(batch.size());
  usual_reward_ = rewarded_ ? usual_reward_ + kUsual * (mean - usual_reward_) : mean;
  rewarded_ = true;
  const std::vector<float> nowhere(state_);
  std::vector<std::span<const float>> states, next;
  std::vector<float> actions;
  for (const Memory* m : batch) {
    states.emplace_back(m->transition.state);
    actions.push_back(m->transition.action);
    next.emplace_back(m->transition.next.empty() ? nowhere : m->transition.next);
  }
  std::vector<float> then = slow_actor_.forward(rows_of(next, {}));
  for (float& a : then) a *= most_;
  const std::vector<float> expected = slow_critic_.forward(rows_of(next, then));
  const std::vector<float>& said = critic_.forward(rows_of(states, actions));
  std::vector<float> slopes;
  for (size_t i = 0; i < batch.size(); ++i) {
    const float rest = batch[i]->transition.next.empty() ? 0 : expected[i];
    slopes.push_back(2 * (said[i] - (batch[i]->reward - usual_reward_ + rest)) / static_cast<float>(batch.size()));
  }
  critic_.backward(slopes);
  critic_.step(kCriticRate);
}

/// Towards what the critic thinks better.
void Agent::teach_actor(const std::vector<const Memory*>& batch) {
  std::vector<std::span<const float>> states;
  for (const Memory* m : batch) states.emplace_back(m->transition.state);
  std::vector<float> actions = actor_.forward(rows_of(states, {}));
  for (float& a : actions) a *= most_;
  critic_.forward(rows_of(states, actions));
  const std::vector<float> below =
      critic_.backward(std::vector<float>(batch.size(), -1 / static_cast<float>(batch.size())));
  critic_.forget();
  std::vector<float> slopes;
  for (size_t i = 0; i < batch.size(); ++i) slopes.push_back(most_ * below[i * (state_ + 1) + state_]);
  actor_.backward(slopes);
  actor_.step(kActorRate);
}

void Agent::learn() {
  if (memories_.empty()) return;
  const std::vector<const Memory*> batch = draw();
  teach_critic(batch);
  teach_actor(batch);
  slow_actor_.follow(actor_, kFollow);
  slow_critic_.follow(critic_, kFollow);
}

}  // namespace mlopt::prune
