// LSTM and GRU with constant weights and the standard's default activations.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/planned.h"

namespace mlopt::cpu {
namespace {

enum Input { kX, kW, kR, kBias, kLengths, kState, kCell, kPeepholes };
enum Output { kY, kLastState, kLastCell };
enum class Layer { kLstm, kGru, kLinearGru };  ///< kLinearGru: linear_before_reset

/// oneDNN's gates in terms of ONNX's: its input, forget, candidate, output where ONNX has i, o, f, c; GRU's are alike.
constexpr int kLstmOrder[] = {0, 2, 3, 1};
constexpr int kGruOrder[] = {0, 1, 2};

struct Shared {
  Layer layer;
  dnnl::rnn_direction direction = dnnl::rnn_direction::unidirectional_left2right;
  int64_t directions = 1, hidden = 0, inputs = 0;
  std::shared_ptr<Packed> w = {}, r = {};  ///< [1, D, in, gates, H]
  Tensor bias = {};                        ///< [1, D, gates, H]
};

std::span<const int> order_of(Layer layer) {
  if (layer == Layer::kLstm) return kLstmOrder;
  return kGruOrder;
}

/// ONNX's [D, gates H, in] as [1, D, in, gates, H].
Tensor by_gate(const Tensor& w, std::span<const int> order, int64_t hidden) {
  const auto gates = static_cast<int64_t>(order.size());
  const int64_t directions = w.dim(0), in = w.dim(2);
  const Tensor stored = w.aligned();
  Tensor out(DType::kF32, {1, directions, in, gates, hidden});
  float* y = out.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t i = 0; i < in; ++i)
      for (const int gate : order)
        for (int64_t h = 0; h < hidden; ++h) *y++ = stored.data<float>()[((d * gates + gate) * hidden + h) * in + i];
  return out;
}

/// ONNX's [D, 2 gates H], of W and then of R, added up; a linear GRU keeps the candidate's of R as a gate of its own.
Tensor bias_by_gate(const Tensor* b, Layer layer, int64_t directions, int64_t hidden) {
  const std::span<const int> order = order_of(layer);
  const auto gates = static_cast<int64_t>(order.size());
  const bool linear = layer == Layer::kLinearGru;
  Tensor out = Tensor::zeros(DType::kF32, {1, directions, gates + (linear ? 1 : 0), hidden});
  if (!b) return out;
  const Tensor stored = b->aligned();
  float* y = out.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d) {
    const float *of_w = stored.data<float>() + d * 2 * gates * hidden, *of_r = of_w + gates * hidden;
    for (const int gate : order)
      for (int64_t h = 0; h < hidden; ++h) {
        const int64_t at = gate * hidden + h;
        *y++ = of_w[at] + (linear && gate == 2 ? 0 : of_r[at]);
      }
    if (linear) y = std::copy_n(of_r + 2 * hidden, hidden, y);
  }
  return out;
}

/// The primitive and the descs of its weights.
struct Made {
  Op op;
  Desc w, r;
};

template <class Primitive>
Expected<Made> made(const typename Primitive::primitive_desc& pd) {
  if (!pd) return Decline{"oneDNN has no primitive for it"};
  return Made{Op::make<Primitive>(pd), pd.weights_layer_desc(), pd.weights_iter_desc()};
}

struct Sizes {
  int64_t steps, batch;
};

Expected<Made> make(const Shared& s, const Sizes& z, bool state, bool cell) {
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  const auto gates = static_cast<int64_t>(order_of(s.layer).size());
  const Desc x = plain(Elem::f32, {z.steps, z.batch, s.inputs}),
             y = plain(Elem::f32, {z.steps, z.batch, s.directions * s.hidden});
  const Desc h = plain(Elem::f32, {1, s.directions, z.batch, s.hidden}), none;
  const Desc w = any(Elem::f32, {1, s.directions, s.inputs, gates, s.hidden});
  const Desc r = any(Elem::f32, {1, s.directions, s.hidden, gates, s.hidden}), bias = plain(s.bias);
  const Desc from = state ? h : none;
  if (s.layer == Layer::kLstm)
    return made<dnnl::lstm_forward>(dnnl::lstm_forward::primitive_desc(
        engine(), kKind, s.direction, x, from, cell ? h : none, w, r, bias, y, h, h, new_attr(), true));
  if (s.layer == Layer::kGru)
    return made<dnnl::gru_forward>(
        dnnl::gru_forward::primitive_desc(engine(), kKind, s.direction, x, from, w, r, bias, y, h, new_attr(), true));
  return made<dnnl::lbr_gru_forward>(
      dnnl::lbr_gru_forward::primitive_desc(engine(), kKind, s.direction, x, from, w, r, bias, y, h, new_attr(), true));
}

/// [steps, batch, D H] -> [steps, D, batch, H].
void split_directions(const float* in, float* out, const Sizes& z, int64_t directions, int64_t hidden) {
  for (int64_t t = 0; t < z.steps; ++t)
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t b = 0; b < z.batch; ++b, out += hidden)
        std::copy_n(in + ((t * z.batch + b) * directions + d) * hidden, hidden, out);
}

/// Output i, or memory that nobody reads.
Memory state_memory(Call& call, int i, const Desc& desc, const Dims& dims, Workspace& space) {
  return call.wants(i) ? wrap(desc, call.make(i, DType::kF32, dims)) : space.memory(desc);
}

struct Plan {
  std::shared_ptr<const Shared> shared;
  Sizes sizes;
  Op op;
  Memory w, r;
  bool state, cell;

  void run(Call& call) const {
    const Shared& s = *shared;
    Workspace space;
    const Dims state_dims{s.directions, sizes.batch, s.hidden},
        y_dims{sizes.steps, s.directions, sizes.batch, s.hidden};
    const Desc h = plain(Elem::f32, {1, s.directions, sizes.batch, s.hidden});
    const Desc y = plain(Elem::f32, {sizes.steps, sizes.batch, s.directions * s.hidden});
    const bool in_place = call.wants(kY) && (s.directions == 1 || sizes.batch == 1);
    const Memory out = in_place ? wrap(y, call.make(kY, DType::kF32, y_dims)) : space.memory(y);
    Args args{{DNNL_ARG_SRC_LAYER, wrap(plain(call.in(kX)), call.in(kX))},
              {DNNL_ARG_WEIGHTS_LAYER, w},
              {DNNL_ARG_WEIGHTS_ITER, r},
              {DNNL_ARG_BIAS, wrap(plain(s.bias), s.bias)},
              {DNNL_ARG_DST_LAYER, out},
              {DNNL_ARG_DST_ITER, state_memory(call, kLastState, h, state_dims, space)}};
    if (state) args.emplace(DNNL_ARG_SRC_ITER, wrap(h, call.in(kState)));
    if (cell) args.emplace(DNNL_ARG_SRC_ITER_C, wrap(h, call.in(kCell)));
    if (s.layer == Layer::kLstm) args.emplace(DNNL_ARG_DST_ITER_C, state_memory(call, kLastCell, h, state_dims, space));
    op.run(std::move(args), space);
    if (in_place || !call.wants(kY)) return;
    split_directions(static_cast<const float*>(out.get_data_handle()),
                     call.make(kY, DType::kF32, y_dims).mutable_data<float>(), sizes, s.directions, s.hidden);
  }
};

Expected<Step> plan(const std::shared_ptr<const Shared>& s, const Call& call) {
  const Tensor& x = call.in(kX);
  if (x.dtype() != DType::kF32 || x.rank() != 3 || x.dim(2) != s->inputs)
    return Decline{"the input does not fit the weights"};
  const Sizes sizes{x.dim(0), x.dim(1)};
  const Dims state_dims{s->directions, sizes.batch, s->hidden};
  const bool state = call.has(kState), cell = s->layer == Layer::kLstm && call.has(kCell);
  for (const int i : {kState, kCell})
    if (call.has(i) && (call.in(i).dtype() != DType::kF32 || call.in(i).dims() != state_dims))
      return Decline{"the state does not fit"};
  if (cell && !state) return Decline{"a cell without a state"};
  const auto m = make(*s, sizes, state, cell);
  if (!m) return m.error();
  Plan p{s, sizes, m->op, s->w->as(m->w), s->r->as(m->r), state, cell};
  return Step([p = std::move(p)](Call& c) { p.run(c); });
}

bool has_default_activations(const NodeView& view, bool lstm) {
  const std::vector<std::string> given = view.get_strings("activations");
  const std::vector<std::string> one =
      lstm ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"} : std::vector<std::string>{"Sigmoid", "Tanh"};
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != one[i % one.size()]) return false;
  return view.get_float("clip", 0) == 0;
}

Expected<Shared> shared_of(const NodeView& view, const CompileContext& context) {
  const bool lstm = view.node().op == "LSTM";
  const Tensor *w = packable(view, kW, context), *r = packable(view, kR, context), *b = packable(view, kBias, context);
  if (!w || !r || (view.node().input(kBias) && !b)) return Decline{"the weights are not constant"};
  if (view.node().input(kLengths) || view.node().input(kPeepholes)) return Decline{"sequence lengths or peepholes"};
  if (!has_default_activations(view, lstm)) return Decline{"other activations"};
  if (view.get_int("input_forget", 0) != 0 || view.get_int("layout", 0) != 0)
    return Decline{"coupled gates or batches first"};
  const bool linear = view.get_int("linear_before_reset", 0) != 0;
  Shared s{.layer = lstm ? Layer::kLstm : linear ? Layer::kLinearGru : Layer::kGru};
  const std::string direction = view.get_string("direction", "forward");
  if (direction == "reverse") s.direction = dnnl::rnn_direction::unidirectional_right2left;
  if (direction == "bidirectional") s.direction = dnnl::rnn_direction::bidirectional_concat, s.directions = 2;
  const auto gates = static_cast<int64_t>(order_of(s.layer).size());
  if (w->dtype() != DType::kF32 || r->dtype() != DType::kF32 || w->rank() != 3 || r->rank() != 3 || w->size() == 0 ||
      r->size() == 0)
    return Decline{"not float32 weights"};
  s.hidden = r->dim(2);
  s.inputs = w->dim(2);
  const Dims w_dims{s.directions, gates * s.hidden, s.inputs}, r_dims{s.directions, gates * s.hidden, s.hidden};
  if (w->dims() != w_dims || r->dims() != r_dims) return Decline{"the weights do not fit together"};
  if (b && (b->dtype() != DType::kF32 || b->dims() != Dims{s.directions, 2 * gates * s.hidden}))
    return Decline{"the bias does not fit"};
  const Tensor by_w = by_gate(*w, order_of(s.layer), s.hidden), by_r = by_gate(*r, order_of(s.layer), s.hidden);
  s.w = std::make_shared<Packed>(by_w, plain(by_w));
  s.r = std::make_shared<Packed>(by_r, plain(by_r));
  s.bias = bias_by_gate(b, s.layer, s.directions, s.hidden);
  return s;
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, kX, {DType::kF32})) return *no;
  Expected<Shared> found = shared_of(view, context);
  if (!found) return found.error();
  const auto shared = std::make_shared<const Shared>(std::move(*found));
  return planned(view, context, [shared](const Call& call) { return plan(shared, call); });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "LSTM", .compile = compile},
    {.domain = "", .op = "GRU", .compile = compile},
};

}  // namespace

std::span<const Kernel> rnn_kernels() { return kKernels; }

}  // namespace mlopt::cpu
