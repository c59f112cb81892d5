// Softmax over one element -> ones, LogSoftmax -> zeros, where the shape is known.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kMost = 1024;  // elements of a constant that takes no more than what it replaces
  const Value* x = m.value("x");
  const auto dims = x->type.static_dims();
  if (!dims || element_count(*dims) > kMost) return Decline{"its shape is not known, or large"};
  int64_t axis = builder.view(*m.root).get_int("axis", builder.opset() < 13 ? 1 : -1);
  axis += axis < 0 ? std::ssize(*dims) : 0;
  if (axis < 0 || axis >= std::ssize(*dims)) return Decline{"its axis is not valid"};
  // The first opsets normalize over all axes from there on.
  const auto from = dims->begin() + axis, to = builder.opset() < 13 ? dims->end() : from + 1;
  if (element_count(Dims(from, to)) != 1) return Decline{"it goes over more than one element"};
  const std::vector<double> same(static_cast<size_t>(element_count(*dims)), m.root->is("Softmax") ? 1 : 0);
  return Replacement{builder.constant(m.root->output(0)->name, cast(Tensor::of<double>(*dims, same), x->type.dtype))};
}

std::vector<Rule> rules() { return {{Pattern::op("Softmax|LogSoftmax", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass eliminate_nop_softmax = {"eliminate_nop_softmax",
                                    "replace a softmax over one element by what it always gives", rules};

}  // namespace mlopt::graphopt
