#include "core/rewrite/fusion/projection.h"

#include <cstring>

namespace mlopt::fusion {
namespace {

const Tensor* floats_in(const Value* v, int rank) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  return t && t->rank() == rank && is_float(t->dtype()) ? t : nullptr;
}

/// Copies in rows of `width` elements, `to` with a step of `step`; what is copied may lie unaligned in a file.
void copy_rows(const Tensor& from, int64_t width, std::byte* to, int64_t step) {
  const std::byte* bytes = from.raw_bytes().data();
  const size_t row = packed_bytes(from.dtype(), width), stride = packed_bytes(from.dtype(), step);
  for (int64_t i = 0; i < from.size() / width; ++i, to += stride, bytes += row) std::memcpy(to, bytes, row);
}

int64_t width_of(std::span<const Projection> all) {
  int64_t width = 0;
  for (const Projection& p : all) width += p.weight->known_constant()->dim(1);
  return width;
}

}  // namespace

std::optional<Projection> projection_of(Value* v, size_t rank) {
  Projection p;
  const Node* node = v->single_use() ? v->producer : nullptr;
  if (node && node->is("Add")) {
    const int at = floats_in(node->input(0), 1) ? 0 : 1;
    if (!floats_in(node->input(at), 1)) return std::nullopt;
    p.bias = node->input(at);
    node = node->input(1 - at)->single_use() ? node->input(1 - at)->producer : nullptr;
  }
  if (!node || !node->is("MatMul") || !floats_in(node->input(1), 2) || !node->input(1)->single_use())
    return std::nullopt;
  p.x = node->input(0);
  p.weight = node->input(1);
  if (!p.x->type.dims || p.x->type.dims->size() != rank) return std::nullopt;
  if (p.bias && p.bias->known_constant()->dim(0) != p.weight->known_constant()->dim(1)) return std::nullopt;
  return p;
}

Value* joined_weights(std::span<const Projection> all, Builder& builder) {
  const Tensor& first = *all.front().weight->known_constant();
  Tensor joined = Tensor::zeros(first.dtype(), {first.dim(0), width_of(all)});
  std::byte* to = joined.mutable_raw();
  for (const Projection& p : all) {
    const Tensor& weight = *p.weight->known_constant();
    copy_rows(weight, weight.dim(1), to, joined.dim(1));
    to += packed_bytes(weight.dtype(), weight.dim(1));
  }
  return builder.constant(all.front().weight->name + "_joined", std::move(joined));
}

Value* joined_biases(std::span<const Projection> all, Builder& builder) {
  Tensor joined = Tensor::zeros(all.front().weight->known_constant()->dtype(), {width_of(all)});
  std::byte* to = joined.mutable_raw();
  for (const Projection& p : all) {
    const int64_t length = p.weight->known_constant()->dim(1);
    if (p.bias) copy_rows(*p.bias->known_constant(), length, to, length);
    to += packed_bytes(joined.dtype(), length);
  }
  return builder.constant(all.front().weight->name + "_bias", std::move(joined));
}

}  // namespace mlopt::fusion
