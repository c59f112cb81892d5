// LayerNormalization(words[ids] + segments[0 or types] + positions[0, 1, ...]) -> EmbedLayerNormalization, for ONNX
// Runtime. Ids must not be negative, which Gather would count from the end of the table.
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// Summands of the embedding; null where there is none.
struct Summands {
  Value *ids = nullptr, *words = nullptr, *positions = nullptr, *segments = nullptr;
  Value* types = nullptr;  ///< the segment of each token; null: `segment` of all
  int64_t segment = 0;
};

const Tensor* table_of(const Node* gather, const Builder& builder) {
  const Tensor* table = gather ? gather->input(0)->known_constant() : nullptr;
  const bool rows = table && table->rank() == 2 && table->dtype() == DType::kF32;
  return rows && builder.view(*gather).get_int("axis", 0) == 0 ? table : nullptr;
}

/// Puts the operand of a sum where it belongs; false where it has no place.
bool take(Value* v, Summands& s, const Builder& builder) {
  const Node* gather = v->producer && v->producer->is("Gather") && v->single_use() ? v->producer : nullptr;
  if (!table_of(gather, builder)) return false;
  Value *table = gather->input(0), *index = gather->input(1);
  const auto number = only_number(index);
  const auto axis = number ? std::nullopt : counts_along(index, builder);
  Value** place = number ? &s.segments : axis && *axis + 1 == index->type.dims->size() ? &s.positions : &s.words;
  if (place == &s.words && s.words && !s.segments) {
    place = &s.segments;  // a sum is the same in either order
    s.types = index;
  }
  if (*place) return false;
  *place = table;
  if (place == &s.words) s.ids = index;
  if (number) s.segment = static_cast<int64_t>(*number);
  return true;
}

bool take_all(Value* v, Summands& s, const Builder& builder, int depth = 0) {
  if (take(v, s, builder)) return true;
  const Node* sum = v->producer;
  if (depth == 2 || !sum || !sum->is("Add") || !v->single_use()) return false;
  return take_all(sum->input(0), s, builder, depth + 1) && take_all(sum->input(1), s, builder, depth + 1);
}

/// positions + segments[segment], or nothing where that row is not there.
std::optional<Tensor> with_segment(const Tensor& positions, const Tensor& segments, int64_t segment) {
  const int64_t width = positions.dim(1);
  if (segment < 0 || segment >= segments.dim(0) || segments.dim(1) != width) return std::nullopt;
  Tensor sum(DType::kF32, positions.dims());
  const Tensor aligned = cast(positions, DType::kF32), rows = cast(segments, DType::kF32);
  const std::vector<double> row = to_doubles(rows);
  const std::vector<double> old = to_doubles(aligned);
  float* out = sum.mutable_data<float>();
  for (int64_t i = 0; i < sum.size(); ++i)
    out[i] = static_cast<float>(old[static_cast<size_t>(i)] + row[static_cast<size_t>(segment * width + i % width)]);
  return sum;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.target != Target::kOrt) return Decline{"only ONNX Runtime has it"};
  const Node* norm = m.root;
  Summands s;
  if (!take_all(norm->input(0), s, builder) || !s.words || !s.positions)
    return Decline{"not a sum of words and positions from tables"};
  const auto &ids = s.ids->type.dims, &out = norm->output(0)->type.dims;
  if (!ids || ids->size() != 2 || !out || out->size() != 3 || !((*ids)[0] == (*out)[0]) || !((*ids)[1] == (*out)[1]))
    return Decline{"the ids are no matrix of tokens"};
  const Dims width{s.words->known_constant()->dim(1)};
  const int64_t axis = builder.view(*norm).get_int("axis", -1);
  const auto is_row = [&](const Value* v) { return v && v->type.static_dims() == width; };
  if ((axis != -1 && axis != 2) || norm->outputs().size() != 1 || !is_row(norm->input(1)) || !is_row(norm->input(2)) ||
      s.positions->known_constant()->dim(1) != width[0])
    return Decline{"the normalization is not over one row with scale and bias"};
  if (s.types && (s.types->type.dims != ids || s.segments->known_constant()->dim(1) != width[0]))
    return Decline{"the segments are not those of each token"};
  Value* positions = s.positions;
  if (s.segments && !s.types) {
    const auto sum = with_segment(*positions->known_constant(), *s.segments->known_constant(), s.segment);
    if (!sum || !positions->single_use()) return Decline{"the table of positions is used elsewhere too"};
    positions = builder.successor(positions, *sum);
  }
  const auto as_int32 = [&](Value* v) {
    if (!v || v->type.dtype == DType::kI32) return v;
    return builder.op("Cast", {v}, {{"to", static_cast<int64_t>(DType::kI32), ""}});
  };
  std::vector<Value*> inputs{as_int32(s.ids), as_int32(s.types), s.words, positions, s.types ? s.segments : nullptr,
                             norm->input(1),  norm->input(2)};
  const float epsilon = builder.view(*norm).get_float("epsilon", 1e-5f);
  Value* y = builder.contrib("EmbedLayerNormalization", std::move(inputs), {{"epsilon", epsilon, ""}},
                             norm->output(0)->type, 2);  // the second must be there, read or not
  return Replacement{y};
}

std::vector<Rule> rules() {
  Pattern sum = Pattern::op("Add", {Pattern::any("a"), Pattern::any("b")}).single_use();
  return {{Pattern::op("LayerNormalization", {std::move(sum), Pattern::any("scale"), Pattern::any("bias")}), rewrite}};
}

}  // namespace

const Pass fuse_embed_norm = {"fuse_embed_norm", "looked up embeddings, their sum and its normalization (--target ort)",
                              rules};

}  // namespace mlopt::fusion
