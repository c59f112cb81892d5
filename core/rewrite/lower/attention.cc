// MatMul(Softmax(scale MatMul(q, Transpose(k)) + mask), v), its scores capped or not, -> Attention(q, k, v, mask),
// which keeps the scores in the cache. It gives zeros for rows whose keys are all hidden, which exporters put in the
// place of NaN.
#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/attention_ending.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

/// Do q [..., M, d], k^T [..., d, N], v [..., N, e] and the mask fit without repeating any but the mask?
bool fit(const fusion::Scores& parts, const Value* v) {
  const auto &q = parts.q->type.dims, &values = v->type.dims;
  auto k = parts.k->type.dims;
  if (!q || !k || !values || q->size() != k->size() || q->size() != values->size()) return false;
  const size_t rank = q->size();
  if (!parts.turned && rank > 1) std::swap((*k)[rank - 2], (*k)[rank - 1]);
  if ((rank != 3 && rank != 4) || !fusion::same_but(*q, *k, {rank - 2, rank - 1}) ||
      !fusion::same_but(*q, *values, {rank - 2, rank - 1}))
    return false;
  if (!(q->back() == (*k)[rank - 2]) || !(k->back() == (*values)[rank - 2])) return false;
  if (!parts.mask) return true;
  const auto& mask = parts.mask->type.dims;
  return mask && !mask->empty() && mask->size() <= rank && mask->back() == k->back();
}

std::vector<int64_t> swapped_end(std::vector<int64_t> perm) {
  std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  return perm;
}

/// The keys [b, h, N, d] of k^T = Reshape(Transpose(x), [b, h, d, N]), where x [b, N, h * d] has its heads side by
/// side; null where it is something else.
Value* split_heads(const std::optional<Dims>& turned, const Node* transpose, Builder& builder) {
  if (!turned || turned->size() != 4 || !transpose || !transpose->is("Transpose") ||
      builder.view(*transpose).get_ints("perm") != std::vector<int64_t>{0, 2, 1})
    return nullptr;
  const int64_t batch = (*turned)[0], heads = (*turned)[1], size = (*turned)[2], rows = (*turned)[3];
  if (transpose->input(0)->type.static_dims() != Dims{batch, rows, heads * size}) return nullptr;
  Value* split = make_reshape(builder, transpose->input(0), {batch, rows, heads, size}, {});
  return builder.op("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}});
}

/// The keys [..., N, d] of k^T [..., d, N].
Value* keys_of(Value* turned, Builder& builder) {
  const auto transposed = [&](Value* v, const std::vector<int64_t>& perm) {
    return std::is_sorted(perm.begin(), perm.end()) ? v : builder.op("Transpose", {v}, {{"perm", perm, ""}});
  };
  const auto undone = [&](const Node& transpose) {
    return transposed(transpose.input(0), swapped_end(builder.view(transpose).get_ints("perm")));
  };
  const Node* node = turned->producer;
  if (node && node->is("Transpose")) return undone(*node);
  const Node* inner = node && node->is("Reshape") ? node->input(0)->producer : nullptr;
  auto dims = turned->type.static_dims();
  const auto matrices = inner && inner->is("Transpose") ? inner->output(0)->type.static_dims() : std::nullopt;
  if (dims && matrices && matrices->size() > 2 && std::equal(dims->end() - 2, dims->end(), matrices->end() - 2)) {
    // The batch of transposed matrices got other axes afterwards: the matrices may as well.
    std::swap(dims->end()[-1], dims->end()[-2]);
    return builder.op("Reshape", {undone(*inner), builder.constant("shape", Tensor::ints(*dims))});
  }
  if (Value* heads = split_heads(dims, inner, builder)) return heads;
  std::vector<int64_t> perm(turned->type.dims->size());
  std::iota(perm.begin(), perm.end(), 0);
  return transposed(turned, swapped_end(perm));
}

template <int64_t kMostElements>
Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value* probabilities = m.node("softmax")->output(0);
  if (m.has("given") && fusion::unguarded(m.value("given")) != probabilities) return Decline{"no guard against NaN"};
  if (!probabilities->type.dims || probabilities->type.dtype != DType::kF32 || builder.opset() < 13)
    return Decline{"it is not float32 of known rank"};
  const auto rank = static_cast<int64_t>(probabilities->type.dims->size());
  const int64_t axis = builder.view(*m.node("softmax")).get_int("axis", -1);
  if (axis != -1 && axis != rank - 1) return Decline{"another axis than the keys"};
  const fusion::Scores parts = fusion::scores_of(m.value("scores"));
  if (!parts.q) return Decline{"the scores are not a product"};
  Value* v = m.value("v");
  if (!fit(parts, v)) return Decline{"queries, keys and values are not known to fit"};
  for (const Value* head : {static_cast<const Value*>(parts.q), static_cast<const Value*>(v)})
    if (head->type.dims->back().value().value_or(0) > kMostElements) return Decline{"its heads are too wide"};
  std::vector<Value*> inputs{parts.q, parts.turned ? keys_of(parts.k, builder) : parts.k, v};
  Value* first = rank == 3 ? builder.constant("axes", Tensor::ints({0})) : nullptr;
  if (first)
    for (Value*& input : inputs) input = builder.op("Unsqueeze", {input, first});
  if (parts.mask) inputs.push_back(parts.mask);
  std::vector<Attr> attrs{{"scale", static_cast<float>(parts.scale), ""}};
  if (parts.cap != 0) attrs.push_back({"softcap", static_cast<float>(parts.cap), ""});
  Value* y = builder.op("Attention", std::move(inputs), std::move(attrs));
  return Replacement{first ? builder.op("Squeeze", {y, first}) : y};
}

template <int64_t kMostElements>
std::vector<Rule> rules() {
  const auto softmax = [] { return Pattern::op("Softmax", {Pattern::any("scores")}).as("softmax"); };
  Pattern given = Pattern::op("Where", {Pattern::any("test"), Pattern::any("zero"), softmax()}).as("given");
  return {{Pattern::op("MatMul", {softmax().single_use(), Pattern::any("v")}), rewrite<kMostElements>},
          {Pattern::op("MatMul", {std::move(given), Pattern::any("v")}), rewrite<kMostElements>}};
}

}  // namespace

const Pass attention = {"attention", "two products and the softmax between them as one operator", rules<INT64_MAX>};
const Pass attention_to_256 = {"attention_to_256", "the same where heads have at most 256 elements", rules<256>};

}  // namespace mlopt::lower
