#include "backends/reference/inner_call.h"
#include "backends/reference/kernels.h"
#include "backends/reference/quantize.h"

// com.microsoft's embeddings with tables in codes: these are dequantized and the float operator runs.
namespace mlopt::reference {
namespace {

constexpr int kFirst = 2, kLast = 6;              // the tables, then the scale and shift of the normalization
constexpr int kMask = 7, kScale = 6, kZero = 11;  // from one of them to its scale and its zero point

Datum table(const Call& call, int i) {
  const Tensor &codes = call.in(i), &scale = call.in(i + kScale);
  const Tensor* zero = call.has(i + kZero) ? &call.in(i + kZero) : nullptr;
  const ScaleMap map(call, codes.dims(), scale.dims(), 0, 0);
  return dequantized(call, codes, scale, zero, map, compute_type(scale.dtype()));
}

void q_embed_layer_normalization(Call& call, PlainKernel embed) {
  std::vector<Datum> inputs{call.datum(0), call.has(1) ? call.datum(1) : Datum()};
  for (int i = kFirst; i <= kLast; ++i) inputs.push_back(call.has(i) ? table(call, i) : Datum());
  if (call.has(kMask)) inputs.push_back(call.datum(kMask));
  std::vector<Datum> outs = run_inner(call, embed, inputs, 2);
  for (int i = 0; i < 2; ++i) call.set(i, std::move(outs[static_cast<size_t>(i)]));
}

Expected<Step> compile(const NodeView&, const CompileContext&) {
  const PlainKernel embed = find_kernel("com.microsoft", "EmbedLayerNormalization");
  if (!embed) return Decline{"there is no float kernel of EmbedLayerNormalization"};
  return Step([embed](Call& call) { q_embed_layer_normalization(call, embed); });
}

constexpr Kernel kKernels[] = {{"com.microsoft", "QEmbedLayerNormalization", nullptr, compile}};

}  // namespace

std::span<const Kernel> contrib_qembed_kernels() { return kKernels; }

}  // namespace mlopt::reference
