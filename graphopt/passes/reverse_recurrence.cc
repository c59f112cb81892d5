// LSTM, GRU or RNN of a sequence that is turned round -> the other direction, whose outputs are turned round instead:
// nothing is where only the last state is read, or where they are turned back.
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/slicing.h"

namespace mlopt::graphopt {
namespace {

/// The operator that alone reads all outputs and takes the axis of directions away; null where it is another one.
const Node* squeeze_of(const Value& outputs, const Builder& builder) {
  const Node* node = outputs.single_use() ? outputs.uses.front().node : nullptr;
  const auto axes = node && node->is("Squeeze") ? squeezed_axes(builder.view(*node)) : std::nullopt;
  return axes == std::vector<int64_t>{1} && node->output(0)->type.dims ? node : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int kLengths = 4;
  const Node& node = *m.root;
  const NodeView view = builder.view(node);
  const std::string direction = view.get_string("direction", "forward");
  const Node* slice = producer_of(node.input(0), "Slice");
  if (!slice || reversed_axis(builder.view(*slice)) != size_t{0}) return Decline{};
  if (direction == "bidirectional") return Decline{"it goes both ways"};
  if (view.get_int("layout", 0) != 0) return Decline{"its batch comes first"};
  if (node.input(kLengths)) return Decline{"each sample has a length of its own"};
  std::vector<Value*> inputs = node.inputs();
  inputs[0] = slice->input(0);
  std::vector<Attr> attrs = node.attrs;
  std::erase_if(attrs, [](const Attr& attr) { return attr.name == "direction"; });
  if (direction == "forward") attrs.push_back({"direction", std::string("reverse"), ""});
  const auto count = static_cast<int>(node.outputs().size());
  Node* turned = builder.node(node.op, inputs, attrs, node.called(), count);
  turned->name = node.name;
  for (int i = 0; i < count; ++i)
    if (node.output(i)) turned->output(i)->type = node.output(i)->type;
  Replacement made = turned->outputs();
  Value *old = node.output(0), *all = turned->output(0);
  if (!old || (old->uses.empty() && !old->is_output())) return made;
  if (!old->type.dims || builder.opset() < 10) return Decline{"the shape of its outputs is not known"};
  if (const Node* squeeze = squeeze_of(*old, builder)) {
    Value* flat = make_squeeze(builder, "Squeeze", all, {1}, squeeze->output(0)->type);
    builder.replace(squeeze->output(0), reversed(builder, flat, 0));
  } else {
    made[0] = reversed(builder, all, 0);
  }
  return made;
}

std::vector<Rule> rules() { return {{Pattern::op("LSTM|GRU|RNN", {}).open(), rewrite}}; }

}  // namespace

const Pass reverse_recurrence = {"reverse_recurrence", "run recurrent layers backwards instead of turning sequences",
                                 rules};

}  // namespace mlopt::graphopt
