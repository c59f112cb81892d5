// LSTM and GRU with constant weights and the standard's default activations.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/packed.h"
#include "backends/cpu/primitive.h"
#include "core/base/align.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

enum Input { kX, kW, kR, kBias, kLengths, kState, kCell, kPeepholes };
enum Output { kY, kLastState, kLastCell };
enum class Layer { kLstm, kGru, kLinearGru };  ///< kLinearGru: linear_before_reset

/// oneDNN's gates in terms of ONNX's: its input, forget, candidate, output where ONNX has i, o, f, c; GRU's are alike.
constexpr int kLstmOrder[] = {0, 2, 3, 1};
constexpr int kGruOrder[] = {0, 1, 2};

/// A layer for one size of input.
struct Shape {
  Layer layer;
  dnnl::rnn_direction direction = dnnl::rnn_direction::unidirectional_left2right;
  int64_t directions = 1, hidden = 0, inputs = 0, steps = 0, batch = 0;
  bool state = false, cell = false;  ///< are given

  Dims state_dims() const { return {directions, batch, hidden}; }
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

/// fn(primitive type, its primitive_desc).
template <class Fn>
Expected<PlannedStep> with_primitive(const Shape& s, const Desc& bias, const Fn& fn) {
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  const auto gates = static_cast<int64_t>(order_of(s.layer).size());
  const Desc x = plain(Elem::f32, {s.steps, s.batch, s.inputs}),
             y = plain(Elem::f32, {s.steps, s.batch, s.directions * s.hidden});
  const Desc h = plain(Elem::f32, {1, s.directions, s.batch, s.hidden}), none;
  const Desc w = any(Elem::f32, {1, s.directions, s.inputs, gates, s.hidden});
  const Desc r = any(Elem::f32, {1, s.directions, s.hidden, gates, s.hidden});
  const Desc from = s.state ? h : none;
  if (s.layer == Layer::kLstm)
    return fn.template operator()<dnnl::lstm_forward>(dnnl::lstm_forward::primitive_desc(
        engine(), kKind, s.direction, x, from, s.cell ? h : none, w, r, bias, y, h, h, new_attr(), true));
  if (s.layer == Layer::kGru)
    return fn.template operator()<dnnl::gru_forward>(
        dnnl::gru_forward::primitive_desc(engine(), kKind, s.direction, x, from, w, r, bias, y, h, new_attr(), true));
  return fn.template operator()<dnnl::lbr_gru_forward>(
      dnnl::lbr_gru_forward::primitive_desc(engine(), kKind, s.direction, x, from, w, r, bias, y, h, new_attr(), true));
}

/// [steps, batch, D H] -> [steps, D, batch, H].
void split_directions(const float* in, float* out, const Shape& s) {
  for (int64_t t = 0; t < s.steps; ++t)
    for (int64_t d = 0; d < s.directions; ++d)
      for (int64_t b = 0; b < s.batch; ++b, out += s.hidden)
        std::copy_n(in + ((t * s.batch + b) * s.directions + d) * s.hidden, s.hidden, out);
}

bool has_default_activations(const NodeView& view, bool lstm) {
  const std::vector<std::string> given = view.get_strings("activations");
  const std::vector<std::string> one =
      lstm ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"} : std::vector<std::string>{"Sigmoid", "Tanh"};
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != one[i % one.size()]) return false;
  return view.get_float("clip", 0) == 0;
}

Expected<Shape> shape_of(const Site& site) {
  const NodeView& view = site.view;
  const bool lstm = view.node().op == "LSTM";
  if (!site.constant(kW) || !site.constant(kR) || (site.has(kBias) && !site.constant(kBias)))
    return Decline{"the weights are not constant"};
  if (site.has(kLengths) || site.has(kPeepholes)) return Decline{"sequence lengths or peepholes"};
  if (!has_default_activations(view, lstm)) return Decline{"other activations"};
  if (view.get_int("input_forget", 0) != 0 || view.get_int("layout", 0) != 0)
    return Decline{"coupled gates or batches first"};
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  const bool linear = view.get_int("linear_before_reset", 0) != 0;
  Shape s{.layer = lstm ? Layer::kLstm : linear ? Layer::kLinearGru : Layer::kGru};
  const std::string direction = view.get_string("direction", "forward");
  if (direction == "reverse") s.direction = dnnl::rnn_direction::unidirectional_right2left;
  if (direction == "bidirectional") s.direction = dnnl::rnn_direction::bidirectional_concat, s.directions = 2;
  const auto gates = static_cast<int64_t>(order_of(s.layer).size());
  const Dims &x = site.desc(kX).dims, &w = site.desc(kW).dims, &r = site.desc(kR).dims;
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return Decline{"not sequences"};
  s.steps = x[0], s.batch = x[1], s.inputs = x[2], s.hidden = r[2];
  if (w != Dims{s.directions, gates * s.hidden, s.inputs} || r != Dims{s.directions, gates * s.hidden, s.hidden})
    return Decline{"the weights do not fit"};
  if (site.has(kBias) && site.desc(kBias).dims != Dims{s.directions, 2 * gates * s.hidden})
    return Decline{"the bias does not fit"};
  for (const int i : {kState, kCell})
    if (site.has(i) && site.desc(i).dims != s.state_dims()) return Decline{"the state does not fit"};
  s.state = site.has(kState);
  s.cell = lstm && site.has(kCell);
  if (s.cell && !s.state) return Decline{"a cell without a state"};
  return s;
}

/// The weights in input i by gate, as the primitive wants them; packed once for all plans of an executable.
Source packed_by_gate(const Site& site, int i, const Shape& s, const Desc& wanted) {
  const Tensor& w = *site.constant(i);
  const auto make = [&] {
    const Tensor gates = by_gate(w, order_of(s.layer), s.hidden);
    return std::make_shared<Packed>(gates, plain(gates));
  };
  const char* form = s.layer == Layer::kLstm ? "LSTM" : "GRU";
  return Source::of(shared_weights<Packed>(site.context.weights, w, form, make), wanted);
}

/// Where outputs go: those that the node lacks to the scratch, which grows.
Source output_or_scratch(const Site& site, int i, size_t bytes, size_t& scratch) {
  if (site.view.node().output(i)) return Source::out(i);
  const Source space = Source::scratch(scratch);
  scratch += aligned_size(bytes);
  return space;
}

template <class T>
Expected<PlannedStep> planned(const Site& site, const Shape& s, const Tensor& bias,
                              const typename T::primitive_desc& pd) {
  if (!pd) return Decline{"oneDNN has no primitive for it"};
  PlannedStep step{.out = {{DType::kF32, {s.steps, s.directions, s.batch, s.hidden}},
                           {DType::kF32, s.state_dims()},
                           {DType::kF32, s.state_dims()}}};
  const bool splits = site.view.node().output(kY) && s.directions > 1 && s.batch > 1;
  size_t scratch = splits ? aligned_size(step.out[kY].bytes()) : 0;
  const Source y = splits ? Source::scratch(0) : output_or_scratch(site, kY, step.out[kY].bytes(), scratch);
  const Desc h = plain(Elem::f32, {1, s.directions, s.batch, s.hidden});
  const size_t state_bytes = step.out[kLastState].bytes();
  std::vector<Primitive::Argument> args{
      {DNNL_ARG_SRC_LAYER, pd.src_layer_desc(), Source::in(kX)},
      {DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), packed_by_gate(site, kW, s, pd.weights_layer_desc())},
      {DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), packed_by_gate(site, kR, s, pd.weights_iter_desc())},
      {DNNL_ARG_BIAS, plain(bias), Source::of(wrap(plain(bias), bias))},
      {DNNL_ARG_DST_LAYER, pd.dst_layer_desc(), y},
      {DNNL_ARG_DST_ITER, h, output_or_scratch(site, kLastState, state_bytes, scratch)}};
  if (s.state) args.push_back({DNNL_ARG_SRC_ITER, h, Source::in(kState)});
  if (s.cell) args.push_back({DNNL_ARG_SRC_ITER_C, h, Source::in(kCell)});
  if (s.layer == Layer::kLstm)
    args.push_back({DNNL_ARG_DST_ITER_C, h, output_or_scratch(site, kLastCell, state_bytes, scratch)});
  auto op = Primitive::make<T>(pd, std::move(args), scratch);
  step.scratch_bytes = op.scratch_bytes();
  step.packed = {kW, kR, kBias};
  step.out.resize(site.view.node().outputs().size());
  step.run = [s, splits, bias, op = std::move(op)](const Buffers& b) {
    op.run(b);
    if (splits) split_directions(reinterpret_cast<const float*>(b.scratch), b.out<float>(kY), s);
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto s = shape_of(site);
  if (!s) return s.error();
  const Tensor bias =
      bias_by_gate(site.has(kBias) ? site.constant(kBias) : nullptr, s->layer, s->directions, s->hidden);
  return with_primitive(*s, plain(bias),
                        [&]<class T>(const typename T::primitive_desc& pd) { return planned<T>(site, *s, bias, pd); });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "LSTM", .plan = guarded<plan>},
    {.domain = "", .op = "GRU", .plan = guarded<plan>},
};

}  // namespace

std::span<const Kernel> rnn_kernels() { return kKernels; }

}  // namespace mlopt::cpu
