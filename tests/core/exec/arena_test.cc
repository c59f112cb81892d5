#include "core/exec/arena.h"

#include <algorithm>

#include "core/base/rng.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

size_t most_alive(const std::vector<Lifetime>& lives, int steps) {
  size_t most = 0;
  for (int step = 0; step < steps; ++step) {
    size_t alive = 0;
    for (const Lifetime& l : lives)
      if (l.first <= step && step <= l.last) alive += (l.bytes + 63) / 64 * 64;
    most = std::max(most, alive);
  }
  return most;
}

void require_apart(const std::vector<Lifetime>& lives, const Arena& arena) {
  REQUIRE(arena.offsets.size() == lives.size());
  for (size_t a = 0; a < lives.size(); ++a) {
    REQUIRE(arena.offsets[a] % 64 == 0);
    REQUIRE(arena.offsets[a] + lives[a].bytes <= arena.bytes);
    for (size_t b = 0; b < a; ++b) {
      const bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
      const bool overlap =
          arena.offsets[a] < arena.offsets[b] + lives[b].bytes && arena.offsets[b] < arena.offsets[a] + lives[a].bytes;
      REQUIRE_FALSE((together && overlap && lives[a].bytes > 0 && lives[b].bytes > 0));
    }
  }
}

}  // namespace

TEST_CASE("a chain needs room for its two largest neighbours") {
  const std::vector<Lifetime> lives{{1000, 0, 1}, {4000, 1, 2}, {640, 2, 3}, {2000, 3, 4}};
  const Arena arena = place(lives);
  require_apart(lives, arena);
  CHECK(arena.bytes == 1024 + 4032);
}

TEST_CASE("lifetimes never overlap in place and time, and little is wasted") {
  Rng rng(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lives;
    for (int k = 0; k < 60; ++k) {
      const int first = static_cast<int>(rng.integer(0, 49));
      lives.push_back({static_cast<size_t>(rng.integer(0, 4999)), first, first + static_cast<int>(rng.integer(0, 7))});
    }
    const Arena arena = place(lives);
    require_apart(lives, arena);
    const size_t least = most_alive(lives, 60);
    REQUIRE(arena.bytes >= least);
    REQUIRE(static_cast<double>(arena.bytes) <= 1.5 * static_cast<double>(least));
  }
}

TEST_CASE("nothing needs nothing") { CHECK(place({}).bytes == 0); }
