#include "core/data/random.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/rng.h"
#include "core/data/fit.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr uint64_t kStride = 0x9e3779b97f4a7c15ULL;  // spreads the seeds of items and inputs

Tensor random_texts(const Dims& dims, Rng& rng) {
  std::vector<std::string> texts(static_cast<size_t>(element_count(dims)));
  for (std::string& text : texts) {
    for (int64_t i = rng.integer(1, 8); i > 0; --i) text += static_cast<char>('a' + rng.integer(0, 25));
  }
  return Tensor::of_strings(dims, std::move(texts));
}

/// Integers of which nothing is known: legal as indices, flags and counts alike.
constexpr double kMaxInteger = 9e18;
constexpr double kDefaultLow = 0, kDefaultHigh = 1;

/// The type in which random_tensor() makes the numbers that it casts.
DType made_in(DType type) { return type == DType::kString ? type : is_float(type) ? DType::kF32 : DType::kI64; }

Tensor random_tensor(DType type, const Dims& dims, const std::optional<ValueRange>& range, Rng& rng) {
  if (type == DType::kString) return random_texts(dims, rng);
  Tensor out(made_in(type), dims);
  if (!is_float(type)) {
    const ValueRange legal = range.value_or(ValueRange{kDefaultLow, kDefaultHigh});
    const auto low = static_cast<int64_t>(std::clamp(std::ceil(legal.low), -kMaxInteger, kMaxInteger));
    const auto high = static_cast<int64_t>(std::clamp(std::floor(legal.high), -kMaxInteger, kMaxInteger));
    auto* to = out.mutable_data<int64_t>();
    for (int64_t i = 0; i < out.size(); ++i) to[i] = rng.integer(low, std::max(low, high));
    return cast(out, type);
  }
  auto* to = out.mutable_data<float>();
  for (int64_t i = 0; i < out.size(); ++i) {
    to[i] = static_cast<float>(range ? rng.uniform(range->low, range->high) : rng.normal());
  }
  return cast(out, type);
}

/// The range in which the option --range puts an input's values.
ValueRange given_range(const InputSpec& input, const std::array<double, 2>& given) {
  if (!is_integer(input.dtype) && input.dtype != DType::kBool) return {.low = given[0], .high = given[1]};
  const ValueRange held = integers_of(input.dtype);
  ValueRange range = {.low = std::ceil(std::max(given[0], held.low)),
                      .high = std::floor(std::min(given[1], held.high))};
  if (range.low > range.high) {
    usage_error(fmt::format("no {} is from {} to {}", name(input.dtype), given[0], given[1]), "--range " + input.name,
                fmt::format("give a range that holds values of the input {}", to_string({input})));
  }
  return range;
}

size_t bytes_of(DType type, const Dims& dims) {
  const int64_t count = element_count(dims);
  return type == DType::kString ? static_cast<size_t>(count) * sizeof(std::string) : packed_bytes(type, count);
}

class RandomDataset final : public Dataset {
 public:
  RandomDataset(const std::vector<InputSpec>& inputs, const RandomOptions& options)
      : inputs_(inputs), count_(options.count), seed_(options.seed), shapes_(concrete_shapes(inputs, options)) {
    for (InputSpec& input : inputs_) {
      if (!input.tensor) {
        input_error(fmt::format("no random values for the input '{}': it is not a tensor of known rank", input.name),
                    {}, "give ONNX test data: --data test_data_set_0");
      }
      if (input.range && input.range->high_dim)
        input.range->high = static_cast<double>(size_of(*input.range->high_dim));
      const auto given = options.ranges.find(input.name);
      if (given != options.ranges.end()) input.range = given_range(input, given->second);
    }
  }

  int64_t size() const override { return count_; }
  int64_t batch_size() const override { return 1; }
  bool labelled() const override { return false; }
  std::string name_of(int64_t i) const override { return fmt::format("random:{}", i); }

  Batch batch(int64_t first, int64_t count) const override {
    if (first < 0 || first >= count_ || count != 1)
      internal_error(fmt::format("random item {}, {} at once", first, count));
    require_memory(bytes_of_item(), "generated inputs");
    Batch result;
    result.count = 1;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      Rng rng(seed_ + kStride * (static_cast<uint64_t>(first) * inputs_.size() + k + 1));
      result.inputs.emplace_back(random_tensor(inputs_[k].dtype, shapes_[k], inputs_[k].range, rng));
    }
    return result;
  }

 private:
  /// All inputs, and the largest of those that are cast before it is.
  size_t bytes_of_item() const {
    size_t kept = 0, cast_from = 0;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const DType type = inputs_[k].dtype, made = made_in(type);
      kept += bytes_of(type, shapes_[k]);
      if (made != type) cast_from = std::max(cast_from, bytes_of(made, shapes_[k]));
    }
    return kept + cast_from;
  }

  /// The size that a dimension got, wherever it stands among the inputs; at least 1.
  int64_t size_of(const Dim& dim) const {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      for (size_t d = 0; d < inputs_[k].dims.size(); ++d) {
        if (inputs_[k].dims[d] == dim) return std::max<int64_t>(shapes_[k][d], 1);
      }
    }
    return dim.value().value_or(1);
  }

  std::vector<InputSpec> inputs_;
  int64_t count_;
  uint64_t seed_;
  std::vector<Dims> shapes_;
};

}  // namespace

std::unique_ptr<Dataset> random_dataset(const std::vector<InputSpec>& inputs, const RandomOptions& options) {
  return std::make_unique<RandomDataset>(inputs, options);
}

}  // namespace mlopt
