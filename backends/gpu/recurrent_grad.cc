#include "backends/gpu/recurrent_grad.h"

#include "backends/gpu/kernels.h"

namespace mlopt::gpu {

RecurrentGrad::RecurrentGrad(const Site& site, const Recurrent& layer) : layer_(layer) {
  for (size_t i = 0; i < site.in.size(); ++i) given_ |= site.in[i] ? uint32_t{1} << i : 0;
  const auto& outputs = site.view.node().outputs();
  for (size_t i = 0; i < outputs.size(); ++i) wanted_ |= outputs[i] ? uint32_t{1} << i : 0;
}

Expected<PlannedStep> RecurrentGrad::step(const Site& site, int64_t numbers) const {
  const Recurrent& l = layer_;
  const TensorDesc& x = site.desc(Recurrent::kSource);
  const DType type = x.dtype;
  const TensorDesc state{type, {l.directions, l.batch, l.hidden}},
      all{type, {l.steps, l.directions, l.batch, l.hidden}};
  for (const int i : {kOut, kLastHidden, kLastCell})
    if (site.has(i) && site.desc(i) != (i == kOut ? all : state)) return Decline{"a gradient does not fit its output"};
  if (numbers == 0 || l.steps * l.batch * l.gates >= int64_t{1} << 31 || !is_countable(x) || !is_countable(all))
    return Decline{"no elements, or more than kernels count"};
  PlannedStep made{.out = {x,
                           site.desc(Recurrent::kWeights),
                           site.desc(Recurrent::kRecurrence),
                           {type, {l.directions, 2 * l.gates}},
                           state,
                           state,
                           {type, {l.directions, 3 * l.hidden}}}};
  made.out.resize(site.view.node().outputs().size());
  made.scratch_bytes = l.bytes(numbers);
  return made;
}

void RecurrentGrad::start(const Buffers& b, bool given, int input, int64_t direction, std::byte* all) const {
  layer_.start(b, given, input, direction, before(all, direction, layer_.at(0, direction)));
}

const std::byte* RecurrentGrad::out_at(const Buffers& b, int64_t direction, int64_t place) const {
  if (!gives(kOut)) return nullptr;
  return b.in<std::byte>(kOut) + layer_.bytes((place * layer_.directions + direction) * layer_.state());
}

void RecurrentGrad::multiply(const Buffers& b, bool a_transposed, const std::byte* a, const std::byte* x,
                             std::byte* out, int64_t m, int64_t n, int64_t k, float beta) const {
  ProductArgs args{};
  args.type = layer_.type;
  args.tf32 = layer_.tf32;
  args.a_transposed = a_transposed;
  args.batch = 1;
  args.m = m, args.n = n, args.k = k;
  args.alpha = 1, args.beta = beta;
  args.a = a, args.b = x, args.out = out;
  launch(b, &Kernels::product, args);
}

void RecurrentGrad::add_rows(const Buffers& b, const std::byte* sums, int64_t rows, std::byte* out) const {
  launch(b, &Kernels::reduce,
         ReduceArgs{layer_.type, Fold::kSum, Before::kNothing, After::kNothing, 1, 1, layer_.steps * layer_.batch, rows,
                    sums, out});
}

void RecurrentGrad::back(const Buffers& b, int64_t d, int64_t row, int64_t rows, const std::byte* sums,
                         std::byte* d_hidden, float beta) const {
  multiply(b, false, sums, layer_.recurrence(b, d, row), d_hidden, layer_.batch, layer_.hidden, rows, beta);
}

void RecurrentGrad::recur(const Buffers& b, int64_t d, int64_t row, int64_t rows, const std::byte* sums,
                          const std::byte* states) const {
  const Recurrent& l = layer_;
  if (wants(kRecurrence))
    multiply(b, true, sums, states, b.out<std::byte>(kRecurrence) + l.bytes((d * l.gates + row) * l.hidden), rows,
             l.hidden, l.steps * l.batch, 0);
  if (wants(kBias)) add_rows(b, sums, rows, b.out<std::byte>(kBias) + l.bytes((2 * d + 1) * l.gates + row));
}

void RecurrentGrad::project(const Buffers& b, int64_t d, int64_t row, int64_t rows, const std::byte* sums) const {
  const Recurrent& l = layer_;
  const int64_t count = l.steps * l.batch, first = (d * l.gates + row) * l.size;
  if (wants(kSource))
    multiply(b, false, sums, b.in<std::byte>(Recurrent::kWeights) + l.bytes(first), b.out<std::byte>(kSource), count,
             l.size, rows, first == 0 ? 0 : 1);
  if (wants(kWeights))
    multiply(b, true, sums, b.in<std::byte>(Recurrent::kSource), b.out<std::byte>(kWeights) + l.bytes(first), rows,
             l.size, count, 0);
  if (wants(kBias)) add_rows(b, sums, rows, b.out<std::byte>(kBias) + l.bytes(2 * d * l.gates + row));
}

void RecurrentGrad::finish(const Buffers& b, Output output, int64_t d, const std::byte* from) const {
  if (wants(output)) layer_.copy(b, from, b.out<std::byte>(output) + layer_.bytes(d * layer_.state()));
}

void RecurrentGrad::clear(const Buffers& b, Output output, int64_t count) const {
  if (wants(output))
    launch(b, &Kernels::fill, FillArgs{static_cast<int>(layer_.width), nullptr, b.out<void>(output), count});
}

}  // namespace mlopt::gpu
