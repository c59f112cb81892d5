#include "quantize/split_embeddings.h"

namespace mlopt::quantize {
namespace {

enum Input { kIds, kSegments, kWords, kPositionTable, kSegmentTable, kScale, kBias, kMask, kPositions };
enum Output { kResult, kMaskIndex, kSum };

/// The first rows of the table of positions, as many as there are ids for a sample.
Value* first_rows(Value* table, Value* ids, Builder& builder) {
  Value* rows = builder.op("Shape", {ids}, {{"start", int64_t{1}, ""}, {"end", int64_t{2}, ""}});
  return builder.op("Slice", {table, builder.constant("begin", Tensor::ints({0})), rows,
                              builder.constant("axis", Tensor::ints({0}))});
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kSince = 17;  // LayerNormalization, and Shape of some axes before it
  const Node& node = *m.root;
  if (builder.opset() < kSince) return Decline{"LayerNormalization needs opset 17"};
  const std::vector<Value*>& outputs = node.outputs();
  const auto read = [&](size_t i) {
    return outputs.size() > i && outputs[i] && (!outputs[i]->uses.empty() || outputs[i]->is_output());
  };
  if (read(kMaskIndex)) return Decline{"its lengths are read"};
  for (const int i : {kIds, kWords, kPositionTable, kScale, kBias})
    if (!node.input(i)) return Decline{};
  if (node.input(kSegments) && !node.input(kSegmentTable)) return Decline{};
  Value *ids = node.input(kIds), *positions = node.input(kPositions), *table = node.input(kPositionTable);
  Value* sum = builder.op("Gather", {node.input(kWords), ids});
  sum =
      builder.op("Add", {sum, positions ? builder.op("Gather", {table, positions}) : first_rows(table, ids, builder)});
  if (node.input(kSegments))
    sum = builder.op("Add", {sum, builder.op("Gather", {node.input(kSegmentTable), node.input(kSegments)})});
  const float epsilon = builder.view(node).get_float("epsilon", 1e-12F);
  Replacement made(outputs.size(), nullptr);
  made[kResult] = builder.op("LayerNormalization", {sum, node.input(kScale), node.input(kBias)},
                             {{"epsilon", epsilon, ""}}, outputs[kResult]->type);
  if (read(kSum)) made[kSum] = sum;
  return made;
}

std::vector<Rule> rules() {
  return {{Pattern::op("EmbedLayerNormalization", {}).open().domain("com.microsoft"), rewrite}};
}

}  // namespace

const Pass split_embeddings = {"split_embeddings", "the tables inside of EmbedLayerNormalization by themselves", rules};

}  // namespace mlopt::quantize
