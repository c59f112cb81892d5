#include "prune/amc/network.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace mlopt;
using prune::Network;

namespace {

double sum_of(Network& network, const std::vector<float>& rows) {
  double sum = 0;
  for (const float y : network.forward(rows)) sum += y;
  return sum;
}

}  // namespace

TEST_CASE("slopes of a network are those of differences") {
  for (const auto output : {Network::Output::kLinear, Network::Output::kSigmoid}) {
    Rng rng(3);
    Network network(5, output, rng);
    std::vector<float> rows(2 * 5);
    for (float& x : rows) x = static_cast<float>(rng.uniform(-1, 1));
    network.forward(rows);
    const std::vector<float> slopes = network.backward(std::vector<float>{1, 1});
    REQUIRE(slopes.size() == rows.size());
    constexpr float kStep = 1e-2F;
    double off = 0, all = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<float> more = rows, less = rows;
      more[i] += kStep;
      less[i] -= kStep;
      const double difference = (sum_of(network, more) - sum_of(network, less)) / (2 * kStep);
      off += std::abs(slopes[i] - difference);
      all += std::abs(difference);
    }
    CHECK(all > 1e-3);
    CHECK(off < 0.15 * all);  // float32, and kinks of ReLU between the two
  }
}

TEST_CASE("a network learns a function, and another follows it") {
  Rng rng(5);
  Network network(2, Network::Output::kLinear, rng);
  Network slow = network;
  const auto wanted = [](float a, float b) { return a * b; };
  const auto lesson = [&](bool learn) {
    std::vector<float> rows, slopes;
    for (int i = 0; i < 64; ++i) rows.push_back(static_cast<float>(rng.uniform(-1, 1)));
    const std::vector<float>& said = network.forward(rows);
    double error = 0;
    for (size_t i = 0; i < said.size(); ++i) {
      slopes.push_back(said[i] - wanted(rows[2 * i], rows[2 * i + 1]));
      error += slopes.back() * slopes.back() / static_cast<float>(said.size());
      slopes.back() /= static_cast<float>(said.size());
    }
    network.backward(slopes);
    if (learn)
      network.step(3e-3F);
    else
      network.forget();
    return error;
  };
  const double before = lesson(false);
  for (int i = 0; i < 400; ++i) lesson(true);
  CHECK(lesson(false) < 0.05 * before);
  const std::vector<float> point = {0.5F, -0.7F};
  CHECK(slow.forward(point)[0] != Approx(network.forward(point)[0]));
  for (int i = 0; i < 2000; ++i) slow.follow(network, 0.01F);
  CHECK(slow.forward(point)[0] == Approx(network.forward(point)[0]).margin(1e-4));
}
