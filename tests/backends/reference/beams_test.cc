#include "backends/reference/beams.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

namespace mlopt::reference {
namespace {

constexpr float kNever = std::numeric_limits<float>::lowest();
using Scores = std::vector<float>;

Scores penalized(const Penalties& p, const std::vector<int32_t>& sequence, Scores scores) {
  penalize(p, sequence, scores);
  return scores;
}

}  // namespace

TEST_CASE("the best sequences are kept, by their score for a token") {
  Hypotheses h(2, 1.0f, false);
  h.add({1, 2}, -4);
  h.add({3, 4, 5, 6}, -4);
  h.add({7}, -3);
  REQUIRE(h.list().size() == 2);
  CHECK(h.list()[0].tokens == std::vector<int32_t>{3, 4, 5, 6});
  CHECK(h.list()[0].score == -1);
  CHECK(h.list()[1].tokens == std::vector<int32_t>{1, 2});
}

TEST_CASE("a list is final when it is full and nothing can enter it") {
  Hypotheses patient(1, 1.0f, false), early(1, 1.0f, true);
  CHECK(!patient.is_final(-100, 2));
  CHECK(!early.is_final(-100, 2));
  patient.add({1, 2}, -4);
  early.add({1, 2}, -4);
  CHECK(patient.is_final(-8, 4));
  CHECK(!patient.is_final(-7, 4));
  CHECK(early.is_final(-7, 4));
}

TEST_CASE("repeated tokens are made less likely") {
  CHECK(penalized({.repetition = 2}, {0, 1, 1}, {-1, 3, -5}) == Scores{-2, 1.5f, -5});
}

TEST_CASE("an n-gram may not come twice") {
  CHECK(penalized({.ngram = 2}, {0, 1, 2, 0}, {-1, -1, -1}) == Scores{-1, kNever, -1});
  CHECK(penalized({.ngram = 1}, {2}, {-1, -1, -1}) == Scores{-1, -1, kNever});
  CHECK(penalized({.ngram = 4}, {0, 1}, {-1, -1, -1}) == Scores{-1, -1, -1});
}

TEST_CASE("the end waits for the least length, and tokens may be forbidden") {
  CHECK(penalized({.least = 3, .end = 1}, {0, 2}, {-1, -1, -1}) == Scores{-1, kNever, -1});
  CHECK(penalized({.least = 2, .end = 1}, {0, 2}, {-1, -1, -1}) == Scores{-1, -1, -1});
  CHECK(penalized({.allowed = {true, false, true}}, {}, {-1, -1, -1}) == Scores{-1, kNever, -1});
}

}  // namespace mlopt::reference
