#include "quantize/emit/keep_bytes.h"

#include <algorithm>
#include <vector>

#include "core/tensor/cast.h"
#include "quantize/emit/codes.h"

namespace mlopt::quantize {
namespace {

class Keeper {
 public:
  explicit Keeper(Graph& graph) : graph_(graph), writer_(graph) {}

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
    writer_.limit(quantize, least - zero, least + count - 1 - zero);
  }

  Graph& graph_;
  CodeWriter writer_;
};

}  // namespace

void keep_bytes(Model& model) { Keeper(*model.graph).run(); }

}  // namespace mlopt::quantize
