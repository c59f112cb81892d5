// mlopt's operators in two parts (counted.cc) of what has no elements -> no results, and a count of 0.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto dims = m.root->input(0)->type.static_dims();
  if (!dims || element_count(*dims) != 0) return Decline{"it may have elements"};
  const bool places = m.root->op == "CountedNonZero", boxes = m.root->op == "CountedSuppression";
  const Dims none = places ? Dims{static_cast<int64_t>(dims->size()), 0} : boxes ? Dims{0, 3} : Dims{0};
  Replacement made(m.root->outputs().size(), nullptr);
  for (size_t i = 0; i < made.size(); ++i) {
    const bool count = i + 1 == made.size();
    made[i] = builder.constant(count ? "count" : "none", count ? Tensor::ints({0}) : Tensor::zeros(DType::kI64, none));
  }
  return made;
}

std::vector<Rule> rules() {
  Pattern any = Pattern::op("CountedNonZero|CountedSuppression|CountedUnique", {}).open().domain("mlopt");
  return {{std::move(any), rewrite}};
}

}  // namespace

const Pass counted_nothing = {"counted_nothing", "what is counted of nothing", rules};

}  // namespace mlopt::lower
