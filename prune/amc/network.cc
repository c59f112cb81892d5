#include "prune/amc/network.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mlopt::prune {
namespace {

constexpr size_t kHidden = 64;
constexpr double kLastRange = 3e-3;  // Lillicrap et al. 2016: the first outputs are all about the same

void add(float* to, const float* from, float times, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += times * from[i];
}

/// In lanes, so that the order of the sum is the same however it is compiled, and quick.
float dot(const float* a, const float* b, size_t n) {
  std::array<float, 8> lanes{};
  size_t i = 0;
  for (; i + lanes.size() <= n; i += lanes.size())
    for (size_t k = 0; k < lanes.size(); ++k) lanes[k] += a[i + k] * b[i + k];
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Network::Network(size_t inputs, Output output, Rng& rng) : output_(output) {
  const std::array<size_t, 4> widths = {inputs, kHidden, kHidden, 1};
  for (size_t l = 0; l + 1 < widths.size(); ++l) {
    Layer& layer = layers_.emplace_back();
    layer.inputs = widths[l];
    layer.outputs = widths[l + 1];
    layer.weights.resize((layer.inputs + 1) * layer.outputs);
    const double range = l + 2 < widths.size() ? 1 / std::sqrt(static_cast<double>(layer.inputs)) : kLastRange;
    for (float& w : layer.weights) w = static_cast<float>(rng.uniform(-range, range));
    layer.slopes.resize(layer.weights.size());
    layer.means.resize(layer.weights.size());
    layer.squares.resize(layer.weights.size());
  }
}

void Network::run(Layer& layer, std::span<const float> rows) {
  const size_t count = rows.size() / layer.inputs;
  const float* biases = layer.weights.data() + layer.inputs * layer.outputs;
  layer.given.assign(rows.begin(), rows.end());
  layer.made.resize(count * layer.outputs);
  for (size_t r = 0; r < count; ++r) {
    float* made = layer.made.data() + r * layer.outputs;
    std::copy_n(biases, layer.outputs, made);
    for (size_t i = 0; i < layer.inputs; ++i)
      if (const float x = rows[r * layer.inputs + i]; x != 0)
        add(made, layer.weights.data() + i * layer.outputs, x, layer.outputs);
  }
}

const std::vector<float>& Network::forward(std::span<const float> rows) {
  for (Layer& layer : layers_) {
    run(layer, rows);
    if (&layer != &layers_.back())
      for (float& y : layer.made) y = std::max(y, 0.0F);
    rows = layer.made;
  }
  if (output_ == Output::kSigmoid)
    for (float& y : layers_.back().made) y = 1 / (1 + std::exp(-y));
  return layers_.back().made;
}

std::vector<float> Network::back(Layer& layer, std::span<const float> slopes) {
  const size_t count = layer.given.size() / layer.inputs;
  std::vector<float> below(layer.given.size());
  for (size_t r = 0; r < count; ++r) {
    const float* up = slopes.data() + r * layer.outputs;
    for (size_t i = 0; i < layer.inputs; ++i) {
      if (const float x = layer.given[r * layer.inputs + i]; x != 0)
        add(layer.slopes.data() + i * layer.outputs, up, x, layer.outputs);
      below[r * layer.inputs + i] = dot(layer.weights.data() + i * layer.outputs, up, layer.outputs);
    }
    add(layer.slopes.data() + layer.inputs * layer.outputs, up, 1, layer.outputs);
  }
  return below;
}

std::vector<float> Network::backward(std::span<const float> slopes) {
  std::vector<float> now(slopes.begin(), slopes.end());
  const std::vector<float>& outputs = layers_.back().made;
  if (output_ == Output::kSigmoid)
    for (size_t i = 0; i < now.size(); ++i) now[i] *= outputs[i] * (1 - outputs[i]);
  for (size_t l = layers_.size(); l-- > 0;) {
    now = back(layers_[l], now);
    for (size_t i = 0; l > 0 && i < now.size(); ++i)
      if (layers_[l].given[i] <= 0) now[i] = 0;  // of the ReLU below
  }
  return now;
}

void Network::step(float rate) {
  constexpr float kMean = 0.9F, kSquare = 0.999F, kSmall = 1e-8F;
  ++steps_;
  const float means = 1 - std::pow(kMean, static_cast<float>(steps_));
  const float squares = 1 - std::pow(kSquare, static_cast<float>(steps_));
  for (Layer& layer : layers_)
    for (size_t i = 0; i < layer.weights.size(); ++i) {
      const float slope = layer.slopes[i];
      layer.means[i] += (1 - kMean) * (slope - layer.means[i]);
      layer.squares[i] += (1 - kSquare) * (slope * slope - layer.squares[i]);
      layer.weights[i] -= rate * (layer.means[i] / means) / (std::sqrt(layer.squares[i] / squares) + kSmall);
    }
  forget();
}

void Network::forget() {
  for (Layer& layer : layers_) std::fill(layer.slopes.begin(), layer.slopes.end(), 0.0F);
}

void Network::follow(const Network& other, float share) {
  for (size_t l = 0; l < layers_.size(); ++l)
    for (size_t i = 0; i < layers_[l].weights.size(); ++i)
      layers_[l].weights[i] += share * (other.layers_[l].weights[i] - layers_[l].weights[i]);
}

}  // namespace mlopt::prune
