#include "backends/reference/inner_call.h"
#include "backends/reference/kernels.h"
#include "backends/reference/quantize.h"

// com.microsoft's LSTM with quantized weights: they are dequantized and the float layer runs. (Runtimes also quantize
// its input and state, each in its own way; without that error the result is closer to the layer that was quantized.)
namespace mlopt::reference {
namespace {

const Tensor* optional_input(const Call& call, int i) { return call.has(i) ? &call.in(i) : nullptr; }

Datum optional_datum(const Call& call, int i) { return call.has(i) ? call.datum(i) : Datum(); }

/// [directions, inputs, gates] with a scale for each direction, or for each gate of it, as float [directions, gates,
/// inputs].
Tensor recurrent_weights(const Call& call, int weights, int scales, DType type) {
  const Tensor &w = call.in(weights), &scale = call.in(scales);
  const Tensor* zero = optional_input(call, scales + 1);
  require(call, w.rank() == 3, "the weights must be [directions, inputs, 4 * hidden]");
  const int64_t directions = w.dim(0), inputs = w.dim(1), gates = w.dim(2);
  const bool by_gate = scale.size() == directions * gates && scale.size() != directions;
  require(call, by_gate || scale.size() == directions, "there must be a scale for each direction or for each gate");
  // As [directions, inputs, gates] with inputs as one block, the scales of the gates are blocked; else one each
  // direction.
  const Dims dims = by_gate ? Dims{directions, 1, gates} : Dims{directions};
  const ScaleMap map(call, w.dims(), dims, by_gate ? 1 : 0, by_gate ? std::max<int64_t>(1, inputs) : 0);
  const Tensor real = dequantized(call, w, scale, zero, map, type);
  Tensor out(type, {directions, gates, inputs});
  with_float(call, type, [&](auto tag) {
    using T = decltype(tag);
    T* o = out.mutable_data<T>();
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t g = 0; g < gates; ++g)
          o[(d * gates + g) * inputs + i] = real.data<T>()[(d * inputs + i) * gates + g];
  });
  return out;
}

void dynamic_quantize_lstm(Call& call, PlainKernel lstm) {
  const DType type = compute_type(call.in(0).dtype());
  std::vector<Datum> inputs{call.datum(0), recurrent_weights(call, 1, 8, type), recurrent_weights(call, 2, 10, type)};
  for (int i = 3; i < 8; ++i) inputs.push_back(optional_datum(call, i));
  std::vector<Datum> outs = run_inner(call, lstm, inputs, 3);
  for (int i = 0; i < 3; ++i) call.set(i, std::move(outs[static_cast<size_t>(i)]));
}

Expected<Step> compile(const NodeView&, const CompileContext&) {
  const PlainKernel lstm = find_kernel("", "LSTM");
  if (!lstm) return Decline{"there is no float kernel of LSTM"};
  return Step([lstm](Call& call) { dynamic_quantize_lstm(call, lstm); });
}

constexpr Kernel kKernels[] = {{"com.microsoft", "DynamicQuantizeLSTM", nullptr, compile}};

}  // namespace

std::span<const Kernel> contrib_qlstm_kernels() { return kKernels; }

}  // namespace mlopt::reference
