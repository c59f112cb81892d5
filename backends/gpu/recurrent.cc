#include "backends/gpu/recurrent.h"

#include "backends/gpu/kernels.h"

namespace mlopt::gpu {
namespace {

bool has_activations(const NodeView& view, const std::vector<std::string>& wanted) {
  const std::vector<std::string> given = view.has("activations") ? view.get_strings("activations") : wanted;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != wanted[i % wanted.size()]) return false;
  return !view.has("clip");
}

}  // namespace

void Recurrent::multiply(const Buffers& b, const std::byte* a, const std::byte* w, const std::byte* bias_at,
                         std::byte* out, int64_t m, int64_t n, int64_t k, float beta) const {
  ProductArgs args{};
  args.type = type;
  args.tf32 = tf32;
  args.b_transposed = true;
  args.batch = 1;
  args.m = m, args.n = n, args.k = k;
  args.alpha = 1, args.beta = beta;
  args.a = a, args.b = w, args.bias = bias_at, args.out = out;
  launch(b, &Kernels::product, args);
}

void Recurrent::multiply_input(const Buffers& b, int64_t direction, std::byte* out) const {
  multiply(b, b.in<std::byte>(kSource), b.in<std::byte>(kWeights) + bytes(direction * gates * size),
           bias ? b.in<std::byte>(kBias) + bytes(2 * direction * gates) : nullptr, out, steps * batch, gates, size, 0);
}

void Recurrent::copy(const Buffers& b, const std::byte* from, std::byte* to) const {
  queue_of(b).transfer(to, from, bytes(state()));
}

void Recurrent::keep_ended(const Buffers& b, int64_t t, const std::byte* made, std::byte* state, std::byte* out) const {
  launch(b, &Kernels::keep_ended, KeepEndedArgs{type, batch, hidden, t, b.in<int32_t>(kLengths), made, state, out});
}

void Recurrent::start(const Buffers& b, bool given, int i, int64_t direction, std::byte* to) const {
  if (given) return copy(b, b.in<std::byte>(i) + bytes(direction * state()), to);
  launch(b, &Kernels::fill, FillArgs{static_cast<int>(width), nullptr, to, state()});
}

Expected<Recurrent> recurrent_of(const Site& site, int64_t gates, const std::vector<std::string>& activations) {
  const Dims &x = site.desc(Recurrent::kSource).dims, &w = site.desc(Recurrent::kWeights).dims,
             &r = site.desc(Recurrent::kRecurrence).dims;
  const DType dtype = site.desc(Recurrent::kSource).dtype;
  const auto type = float_of(dtype);
  if (!type) return type.error();
  for (size_t i = 0; i < site.in.size(); ++i)
    if (i != Recurrent::kLengths && site.in[i] && site.in[i]->dtype != dtype) return Decline{"operands of two types"};
  if (site.view.get_int("layout", 0) != 0 || !has_activations(site.view, activations))
    return Decline{"another layout, or other activations"};
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return Decline{"the operands do not fit"};
  Recurrent made{};
  made.type = *type;
  made.tf32 = site.context.precision == Precision::kTF32;
  made.steps = x[0], made.batch = x[1], made.size = x[2], made.hidden = r[2], made.directions = r[0];
  made.gates = gates * made.hidden;
  const std::string direction = site.view.get_string("direction", "forward");
  made.reverse = direction == "reverse";
  if (made.directions != (direction == "bidirectional" ? 2 : 1)) return Decline{"the directions do not fit"};
  if (w != Dims{made.directions, made.gates, made.size} || r != Dims{made.directions, made.gates, made.hidden})
    return Decline{"the weights do not fit"};
  made.bias = site.has(Recurrent::kBias);
  made.lengths = site.has(Recurrent::kLengths);
  made.hidden_given = site.has(Recurrent::kHidden);
  const Dims state{made.directions, made.batch, made.hidden};
  if (made.bias && site.desc(Recurrent::kBias).dims != Dims{made.directions, 2 * made.gates})
    return Decline{"the bias"};
  if (made.lengths && site.desc(Recurrent::kLengths) != TensorDesc{DType::kI32, {made.batch}})
    return Decline{"the lengths do not fit"};
  if (made.hidden_given && site.desc(Recurrent::kHidden).dims != state) return Decline{"the first state does not fit"};
  made.width = static_cast<size_t>(bits(dtype)) / 8;
  const auto& outputs = site.view.node().outputs();
  made.wants_all = !outputs.empty() && outputs[0];
  made.wants_hidden = outputs.size() > 1 && outputs[1];
  return made;
}

Expected<PlannedStep> recurrent_step(const Site& site, const Recurrent& r) {
  const DType type = site.desc(Recurrent::kSource).dtype;
  const TensorDesc all{type, {r.steps, r.directions, r.batch, r.hidden}},
      state{type, {r.directions, r.batch, r.hidden}};
  const int64_t gates = r.steps * r.batch * r.gates;
  if (all.size() == 0 || gates >= int64_t{1} << 31 || !is_countable(all) ||
      !is_countable(site.desc(Recurrent::kSource)))
    return Decline{"no elements, or more than kernels count"};
  PlannedStep step{.out = {all}};
  for (size_t i = 1; i < site.view.node().outputs().size(); ++i) step.out.push_back(state);
  return step;
}

}  // namespace mlopt::gpu
