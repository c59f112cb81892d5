// Attention, with earlier keys and values in front of the given ones.
#include <algorithm>
#include <cmath>

#include "backends/gpu/attention_product.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };
enum Output { kResult, kPresentKey, kPresentValue, kProducts };

/// [batch, heads, rows, size], or [batch, rows, heads * size] where packed.
struct Shape {
  int64_t batch, heads, rows, size;
  HeadsAt at;
  int64_t count() const { return batch * heads * rows * size; }
};

Shape outside(int64_t batch, int64_t heads, int64_t rows, int64_t size) {
  return {batch, heads, rows, size, {heads * rows * size, rows * size, size}};
}
Shape inside(int64_t batch, int64_t heads, int64_t rows, int64_t size) {
  return {batch, heads, rows, size, {heads * rows * size, size, heads * size}};
}

Expected<Shape> shape_of(const Site& site, int i, std::string_view heads_attr) {
  const Dims& d = site.desc(i).dims;
  if (site.desc(i).dtype != site.desc(kQuery).dtype) return Decline{"operands of two types"};
  if (!is_countable(site.desc(i)) || site.desc(i).size() == 0) return Decline{"no elements, or more than are counted"};
  if (d.size() == 4) return outside(d[0], d[1], d[2], d[3]);
  const int64_t heads = site.view.get_int(heads_attr, 0);
  if (d.size() != 3 || heads < 1 || d[2] % heads != 0) return Decline{"the heads do not fit"};
  return inside(d[0], heads, d[1], d[2] / heads);
}

/// Copies of what was there and of what is new into [batch, heads, past + rows, size].
struct Present {
  Walk<2> past, added;
  int64_t offset;  ///< in elements, of what is new
  Shape shape;
  int width;

  void run(const Buffers& b, int past_input, int input, std::byte* to) const {
    if (past_input >= 0) launch(b, &Kernels::copy, CopyArgs{width, past, b.in<void>(past_input), to});
    launch(b, &Kernels::copy, CopyArgs{width, added, b.in<void>(input), to + offset * width});
  }
};

Expected<Present> present_of(const Shape& added, int64_t past, int width) {
  const Shape all = outside(added.batch, added.heads, past + added.rows, added.size);
  const auto dims = [&](int64_t rows) { return Dims{added.batch, added.heads, rows, added.size}; };
  const auto strides = [](const HeadsAt& at) { return Dims{at.batch, at.head, at.row, 1}; };
  const auto new_ones = walk_over<2>(dims(added.rows), {strides(added.at), strides(all.at)});
  if (!new_ones) return new_ones.error();
  Present present{{}, *new_ones, past * added.size, all, width};
  if (past == 0) return present;
  const auto old_ones = walk_over<2>(dims(past), {row_major_strides(dims(past)), strides(all.at)});
  if (!old_ones) return old_ones.error();
  present.past = *old_ones;
  return present;
}

/// The mask broadcasts to [batch, heads, queries, keys]; its last axis may be shorter.
Expected<bool> read_mask(const Site& site, AttentionArgs& args) {
  if (!site.has(kMask)) return false;
  const TensorDesc& mask = site.desc(kMask);
  const auto type = mask.dtype == DType::kBool ? elem_of(mask.dtype) : float_of(mask.dtype);
  if (!type) return type.error();
  const int64_t full[4] = {args.batch, args.heads, args.queries, args.keys};
  if (mask.dims.empty() || mask.dims.size() > 4 || !is_countable(mask)) return Decline{"the mask does not fit"};
  args.mask_type = *type;
  args.mask_width = args.keys;
  int64_t step = 1;
  for (size_t back = 1; back <= mask.dims.size(); ++back) {
    const int64_t dim = mask.dims[mask.dims.size() - back], wanted = full[4 - back];
    if (back == 1 && dim < wanted)
      args.mask_width = dim;
    else if (dim != wanted && dim != 1)
      return Decline{"the mask does not fit"};
    args.mask_strides[4 - back] = dim == 1 ? 0 : step;
    step *= dim;
  }
  return true;
}

Expected<AttentionArgs> args_of(const Site& site, const Shape& q, const Shape& k, const Shape& v, int64_t past) {
  const auto type = float_of(site.desc(kQuery).dtype);
  if (!type) return type.error();
  if (k.batch != q.batch || v.batch != q.batch || q.heads % k.heads != 0 || v.heads != k.heads || k.rows != v.rows ||
      k.size != q.size || std::max(k.size, v.size) > AttentionArgs::kMostDepth)
    return Decline{"queries, keys and values do not fit together, or heads of more than 256 elements"};
  const NodeView& view = site.view;
  AttentionArgs args{};
  args.type = *type;
  args.batch = q.batch, args.heads = q.heads, args.kv_heads = k.heads, args.queries = q.rows;
  args.keys = past + k.rows, args.depth = q.size, args.value_depth = v.size, args.past = past;
  args.scale = view.get_float("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(q.size))));
  args.softcap = view.get_float("softcap", 0);
  args.causal = view.get_int("is_causal", 0) != 0;
  args.left = view.get_int("left_window_size", -1);
  args.right = view.get_int("right_window_size", -1);
  args.hidden_are_nan = view.get_int("hidden_are_nan", 0) != 0;
  args.q_at = q.at, args.k_at = k.at, args.v_at = v.at;
  return args;
}

bool wants(const Site& site, size_t output) {
  const auto& outputs = site.view.node().outputs();
  return outputs.size() > output && outputs[output];
}

/// Keys and values of one kind before those of this call: 0 where there are none.
Expected<int64_t> past_of(const Site& site, const Shape& k, const Shape& v) {
  if (!site.has(kPastKey) && !site.has(kPastValue)) return int64_t{0};
  const TensorDesc &keys = site.desc(kPastKey), &values = site.desc(kPastValue);
  const DType type = site.desc(kQuery).dtype;
  if (keys.dtype != type || values.dtype != type || keys.dims.size() != 4 || site.has(kLengths))
    return Decline{"earlier keys of another kind"};
  const int64_t past = keys.dims[2];
  if (keys.dims != Dims{k.batch, k.heads, past, k.size} || values.dims != Dims{v.batch, v.heads, past, v.size})
    return Decline{"earlier keys do not fit"};
  return past;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto q = shape_of(site, kQuery, "q_num_heads"), k = shape_of(site, kKey, "kv_num_heads"),
             v = shape_of(site, kValue, "kv_num_heads");
  if (!q || !k || !v) return !q ? q.error() : !k ? k.error() : v.error();
  const auto past = past_of(site, *k, *v);
  if (!past) return past.error();
  auto args = args_of(site, *q, *k, *v, *past);
  if (!args) return args.error();
  const auto masked = read_mask(site, *args);
  if (!masked) return masked.error();
  if (wants(site, kProducts)) return Decline{"the scores are wanted"};
  if (site.has(kLengths) && (site.desc(kLengths).dtype != DType::kI64 || site.desc(kLengths).size() != q->batch))
    return Decline{"lengths that do not fit"};
  const bool packed = site.desc(kQuery).dims.size() == 3;
  const Shape out = (packed ? inside : outside)(q->batch, q->heads, q->rows, v->size);
  args->out_at = out.at;
  const DType type = site.desc(kQuery).dtype;
  PlannedStep step{.out = {{type, packed ? Dims{q->batch, q->rows, q->heads * v->size}
                                         : Dims{q->batch, q->heads, q->rows, v->size}}}};
  const int width = bits(type) / 8;
  const auto keys = present_of(*k, *past, width), values = present_of(*v, *past, width);
  if (!keys || !values || !is_countable(step.out[0])) return Decline{"more elements than kernels count"};
  for (const Shape* all : {&keys->shape, &values->shape})
    if (site.view.node().outputs().size() > step.out.size())
      step.out.push_back({type, {all->batch, all->heads, all->rows, all->size}});
  const bool joined = *past > 0 || wants(site, kPresentKey) || wants(site, kPresentValue);
  if (joined) args->k_at = keys->shape.at, args->v_at = values->shape.at;
  const size_t key_bytes = device_aligned(static_cast<size_t>(keys->shape.count() * width));
  if (joined) step.scratch_bytes = key_bytes + static_cast<size_t>(values->shape.count() * width);
  const bool tf32 = site.context.precision == Precision::kTF32;
  const auto products = site.has(kLengths) ? std::nullopt : attention_products(*args, tf32);
  const size_t products_at = device_aligned(step.scratch_bytes);
  if (products) step.scratch_bytes = products_at + products->bytes, step.label = "cublas, attention";
  step.run = [args = *args, products, tf32, products_at, keys = *keys, values = *values, joined, key_bytes,
              masked = *masked, lengths = site.has(kLengths), key_out = wants(site, kPresentKey),
              value_out = wants(site, kPresentValue)](const Buffers& b) {
    AttentionArgs now = args;
    now.q = b.in<void>(kQuery);
    now.k = b.in<void>(kKey);
    now.v = b.in<void>(kValue);
    now.mask = masked ? b.in<void>(kMask) : nullptr;
    now.lengths = lengths ? b.in<int64_t>(kLengths) : nullptr;
    now.out = b.out<void>(kResult);
    if (joined) {
      std::byte* all_keys = key_out ? b.out<std::byte>(kPresentKey) : b.scratch;
      std::byte* all_values = value_out ? b.out<std::byte>(kPresentValue) : b.scratch + key_bytes;
      keys.run(b, args.past > 0 ? kPastKey : -1, kKey, all_keys);
      values.run(b, args.past > 0 ? kPastValue : -1, kValue, all_values);
      now.k = all_keys;
      now.v = all_values;
    }
    if (products)
      run_products(b, now, *products, tf32, b.scratch + products_at);
    else
      launch(b, &Kernels::attention, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Attention", .plan = plan}};

}  // namespace

std::span<const Kernel> attention_kernels() { return kKernels; }

}  // namespace mlopt::gpu
