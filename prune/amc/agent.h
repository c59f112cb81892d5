#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "prune/amc/network.h"

namespace mlopt::prune {

/// One decision of an episode: what was known, what was done, what was known then.
struct Transition {
  std::vector<float> state, next;  ///< next: empty behind the last
  float action = 0;
};

/// Chooses one number from 0 to `most` for each state, and learns from what came of it: the deterministic policy
/// gradient of Lillicrap et al. 2016 (DDPG), with the settings of He et al. 2018 (AMC).
class Agent {
 public:
  Agent(size_t state, float most, uint64_t seed);

  /// What the policy does, with noise of this deviation, truncated to what is allowed; 0: none.
  float act(std::span<const float> state, double deviation);
  /// All decisions of an episode share its reward.
  void remember(const std::vector<Transition>& episode, float reward);
  /// One update from decisions that were drawn from memory.
  void learn();

 private:
  struct Memory {
    Transition transition;
    float reward;
  };
  std::vector<const Memory*> draw();
  void teach_critic(const std::vector<const Memory*>& batch);
  void teach_actor(const std::vector<const Memory*>& batch);

  size_t state_;
  float most_;
  Rng rng_;
  Network actor_, critic_, slow_actor_, slow_critic_;
  std::vector<Memory> memories_;
  size_t oldest_ = 0;
  float usual_reward_ = 0;
  bool rewarded_ = false;
};

}  // namespace mlopt::prune
