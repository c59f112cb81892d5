// CastLike -> Cast, where the type that it takes is known: what is cast may be constant, though the other is not.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const DType to = m.value("like")->type.dtype;
  if (to == DType::kUndefined) return Decline{"its type is not known"};
  std::vector<Attr> attrs = m.root->attrs;
  attrs.push_back({"to", static_cast<int64_t>(to), ""});
  return Replacement{builder.op("Cast", {m.value("x")}, std::move(attrs), m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("CastLike", {Pattern::any("x"), Pattern::any("like")}), rewrite}}; }

}  // namespace

const Pass cast_like = {"cast_like", "CastLike as Cast", rules};

}  // namespace mlopt::lower
