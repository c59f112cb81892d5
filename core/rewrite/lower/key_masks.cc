#include "core/rewrite/lower/key_masks.h"

#include <algorithm>
#include <limits>

namespace mlopt::lower {
namespace {

constexpr int64_t kMostHidden = int64_t{1} << 24;  // elements of a mask that says no more than positions do
constexpr float kHidden = -std::numeric_limits<float>::infinity();

}  // namespace

Expected<Tensor> hidden_keys(const KeyWindow& window, int64_t queries, int64_t keys, int64_t past) {
  if (window.left < -1 || window.right < -1) return Decline{"a window is below -1"};
  if (queries > 0 && keys > kMostHidden / queries) return Decline{"a mask of so many keys is too large"};
  Tensor mask = Tensor::zeros(DType::kF32, {queries, keys});
  float* row = mask.mutable_data<float>();
  for (int64_t i = 0; i < queries; ++i, row += keys) {
    const int64_t at = i + past;
    const int64_t first = window.left < 0 ? 0 : std::clamp<int64_t>(at - window.left, 0, keys);
    const int64_t end =
        window.right < 0 ? keys : std::clamp<int64_t>(at + 1 + std::min(window.right, keys), first, keys);
    std::fill(row, row + first, kHidden);
    std::fill(row + end, row + keys, kHidden);
  }
  return mask;
}

Value* mask_numbers(Value* mask, Builder& b) {
  if (!mask || mask->type.dtype != DType::kBool) return mask;
  return b.op("Where",
              {mask, b.constant("shown", Tensor::scalar(0.0F)), b.constant("hidden", Tensor::scalar(kHidden))});
}

bool covers_keys(const Value& mask, int64_t keys) {
  return mask.type.dims && !mask.type.dims->empty() && mask.type.dims->back().is(keys);
}

Value* joined_masks(Value* one, Value* other, Builder& b) {
  return one && other ? b.op("Add", {one, other}) : one ? one : other;
}

}  // namespace mlopt::lower
