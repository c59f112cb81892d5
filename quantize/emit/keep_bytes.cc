#include "quantize/emit/keep_bytes.h"

#include <algorithm>
#include <vector>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

class Keeper {
 public:
  explicit Keeper(Graph& graph) : graph_(graph) {}

  void run() {
    for (Node* node : graph_.nodes())
      if (is_narrow(node)) widen(node);
  }

 private:
  /// Rounds to less than a byte, with one constant step, for DequantizeLinear alone?
  static bool is_narrow(const Node* node) {
    if (!node->is("QuantizeLinear") || !node->input(2)) return false;
    const Tensor *scale = node->input(1)->known_constant(), *zero = node->input(2)->known_constant();
    const Value* y = node->output(0);
    return scale && zero && scale->size() == 1 && is_sub_byte(zero->dtype()) && is_integer(zero->dtype()) &&
           !y->is_output() && std::all_of(y->uses.begin(), y->uses.end(), [&](const Use& use) {
             return use.node->is("DequantizeLinear") && use.node->input(2) == node->input(2);
           });
  }

  void widen(Node* quantize) {
    Value* narrow = quantize->input(2);
    const Tensor zeros = unpack(*narrow->constant);
    const int count = 1 << bits(narrow->constant->dtype()), least = is_signed(zeros.dtype()) ? -count / 2 : 0;
    const int zero = static_cast<int>(number_at(zeros, 0));
    Value* bytes = graph_.add_constant(narrow->name + "_byte", zeros);
    Value* y = quantize->output(0);
    for (const Use& use : std::vector<Use>(y->uses)) graph_.set_input(use.node, 2, bytes);
    graph_.set_input(quantize, 2, bytes);
    if (narrow->uses.empty()) graph_.erase(narrow);
    y->type.dtype = zeros.dtype();
    Value* x = quantize->input(0);
    const Node* clip =
        graph_.add_op("Clip", {x, limit(quantize, least - zero), limit(quantize, least + count - 1 - zero)}, {},
                      quantize, x->name + "_clipped");
    clip->output(0)->type = x->type;
    graph_.set_input(quantize, 0, clip->output(0));
  }

  /// So many steps.
  Value* limit(const Node* quantize, int steps) {
    const Value* scale = quantize->input(1);
    const float number = static_cast<float>(steps) * to_floats(*scale->constant)[0];
    return graph_.add_constant(scale->name + (steps > 0 ? "_most" : "_least"), Tensor::scalar(number));
  }

  Graph& graph_;
};

}  // namespace

void keep_bytes(Model& model) { Keeper(*model.graph).run(); }

}  // namespace mlopt::quantize
