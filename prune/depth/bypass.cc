#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "prune/depth/shorten_model.h"
#include "prune/structure/twins.h"

namespace mlopt::prune {

Model bypass_blocks(const Model& model, const std::vector<Block>& blocks) {
  Model copy = clone(model);
  const Twins twins = find_twins(*model.graph, *copy.graph);
  for (const Block& block : blocks) {
    Node* join = twins.nodes.at(block.join);
    copy.graph->set_input(join, 0, join->input(1 - block.branch));
    copy.graph->resize_inputs(join, 1);
    join->op = "Identity";
    join->attrs.clear();  // of broadcasting, in old models
  }
  remove_dead(copy);
  return copy;
}

Model mask_blocks(const Model& model, const std::vector<Block>& blocks) {
  Model copy = clone(model);
  const Twins twins = find_twins(*model.graph, *copy.graph);
  for (const Block& block : blocks) {
    Node* join = twins.nodes.at(block.join);
    Value* branch = join->input(block.branch);
    Value* zero = copy.graph->add_constant("nothing", Tensor::zeros(branch->type.dtype, {}));
    std::vector<Attr> attrs;
    if (model.opset() < 7) attrs = {{"broadcast", int64_t{1}, ""}};
    Value* product = copy.graph->add_op("Mul", {branch, zero}, std::move(attrs), join, branch->name)->output(0);
    product->type = branch->type;
    copy.graph->set_input(join, block.branch, product);
  }
  return copy;
}

}  // namespace mlopt::prune
