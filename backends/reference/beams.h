#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mlopt::reference {

/// A finished sequence: the sum of its tokens' log-probabilities divided by length ^ penalty.
struct Hypothesis {
  std::vector<int32_t> tokens;
  float score;
};

/// The best finished sequences of one prompt, best first.
class Hypotheses {
 public:
  Hypotheses(size_t most, float length_penalty, bool stops_early)
      : most_(most), length_penalty_(length_penalty), stops_early_(stops_early) {}

  void add(std::vector<int32_t> tokens, float sum);
  /// Can no unfinished sequence of `length` tokens, whose log-probabilities add up to at most `sum`, enter the list?
  bool is_final(float sum, size_t length) const;
  const std::vector<Hypothesis>& list() const { return list_; }

 private:
  float score_of(float sum, size_t length) const;

  size_t most_;
  float length_penalty_;
  bool stops_early_;
  std::vector<Hypothesis> list_;
};

/// What makes tokens less likely than the model says.
struct Penalties {
  float repetition = 1;  ///< for tokens that the sequence holds
  int64_t ngram = 0;     ///< no sequence of so many tokens may occur twice; 0: any may
  int64_t least = 0;     ///< tokens before which `end` may not come
  int32_t end = -1;
  std::vector<bool> allowed = {};  ///< of the vocabulary; empty: all
};

/// Applies the penalties to the scores of the tokens that may follow `sequence`.
void penalize(const Penalties& penalties, std::span<const int32_t> sequence, std::span<float> scores);

}  // namespace mlopt::reference
