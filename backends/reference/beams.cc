#include "backends/reference/beams.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace mlopt::reference {
namespace {

constexpr float kNever = std::numeric_limits<float>::lowest();

void forbid_repeated_ngrams(int64_t ngram, std::span<const int32_t> sequence, std::span<float> scores) {
  const auto n = static_cast<size_t>(ngram);
  if (sequence.size() < n) return;
  const std::span<const int32_t> last = sequence.last(n - 1);
  for (size_t i = 0; i + n <= sequence.size(); ++i)
    if (std::equal(last.begin(), last.end(), sequence.begin() + static_cast<std::ptrdiff_t>(i)))
      scores[static_cast<size_t>(sequence[i + n - 1])] = kNever;
}

}  // namespace

float Hypotheses::score_of(float sum, size_t length) const {
  return sum / std::pow(static_cast<float>(length), length_penalty_);
}

void Hypotheses::add(std::vector<int32_t> tokens, float sum) {
  const float score = score_of(sum, tokens.size());
  const auto place = std::find_if(list_.begin(), list_.end(), [score](const Hypothesis& h) { return h.score < score; });
  list_.insert(place, {std::move(tokens), score});
  if (list_.size() > most_) list_.pop_back();
}

bool Hypotheses::is_final(float sum, size_t length) const {
  if (list_.size() < most_) return false;
  return stops_early_ || list_.back().score >= score_of(sum, length);
}

void penalize(const Penalties& p, std::span<const int32_t> sequence, std::span<float> scores) {
  if (p.repetition != 1)
    for (const int32_t token : std::set<int32_t>(sequence.begin(), sequence.end())) {
      float& score = scores[static_cast<size_t>(token)];
      score = score < 0 ? score * p.repetition : score / p.repetition;
    }
  if (p.ngram > 0) forbid_repeated_ngrams(p.ngram, sequence, scores);
  for (size_t i = 0; i < p.allowed.size(); ++i)
    if (!p.allowed[i]) scores[i] = kNever;
  if (p.end >= 0 && static_cast<int64_t>(sequence.size()) < p.least) scores[static_cast<size_t>(p.end)] = kNever;
}

}  // namespace mlopt::reference
