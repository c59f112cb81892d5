#include "core/ir/trips.h"

#include <algorithm>

#include "core/ir/constant.h"
#include "core/ir/infer_bodies.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

bool is_true(const Value* v) {
  const std::optional<Tensor> known = v ? constant_or_known(*v) : std::nullopt;
  return known && known->dtype() == DType::kBool && known->size() == 1 && number_at(*known, 0) != 0;
}

std::optional<int64_t> loop_trips(const Node& loop, const Graph& body) {
  const std::optional<Tensor> most = loop.input(0) ? constant_or_known(*loop.input(0)) : std::nullopt;
  if (!most || most->dtype() != DType::kI64 || most->size() != 1) return std::nullopt;
  if (body.inputs().size() < 2 || body.outputs().empty() || !only_count_ends(loop, body)) return std::nullopt;
  return std::max<int64_t>(0, to_ints(*most)[0]);
}

}  // namespace

bool only_count_ends(const Node& loop, const Graph& body) {
  if (loop.input(1) && !is_true(loop.input(1))) return false;
  const Value* condition = before_identities(body.outputs()[0]);
  return condition == body.inputs()[1] || is_true(condition);
}

std::optional<int64_t> trips(const NodeView& view, const Graph& body) {
  if (view.node().is("Loop")) return loop_trips(view.node(), body);
  return view.node().is("Scan") ? infer_rules::scan_steps(view).value() : 1;
}

}  // namespace mlopt
