#include "quantize/emit/keep_bytes.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/tensor/cast.h"
#include "quantize/emit/codes.h"
#include "quantize/plan.h"

namespace mlopt::quantize {
namespace {

class Keeper {
 public:
  explicit Keeper(Model& model) : model_(model), graph_(*model.graph), writer_(graph_) {}

  void run() {
    for (Node* node : graph_.nodes())
      if (is_narrow(node)) widen(node);
    for (const auto& [narrow, bytes] : bytes_)
      if (narrow->uses.empty()) graph_.erase(narrow);
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
    Value*& bytes = bytes_[narrow];
    if (!bytes) bytes = graph_.add_constant(narrow->name + "_byte", zeros);
    Value* y = quantize->output(0);
    for (const Use& use : std::vector<Use>(y->uses)) graph_.set_input(use.node, 2, bytes);
    graph_.set_input(quantize, 2, bytes);
    y->type.dtype = zeros.dtype();
    if (!only_moved(*quantize)) writer_.limit(quantize, least - zero, least + count - 1 - zero);
  }

  /// Does it give codes of the same grid back, which were cut off before they moved?
  bool only_moved(const Node& quantize) const {
    const Node* node = quantize.input(0)->producer;
    while (node && moves_codes(NodeView(*node, model_.opset()))) node = node->input(0)->producer;
    return node && node->is("DequantizeLinear") && node->input(1) == quantize.input(1) &&
           node->input(2) == quantize.input(2) && node->input(0)->producer;
  }

  const Model& model_;
  Graph& graph_;
  CodeWriter writer_;
  std::map<Value*, Value*> bytes_;  ///< by the narrow zero point
};

}  // namespace

void keep_bytes(Model& model) { Keeper(model).run(); }

}  // namespace mlopt::quantize
