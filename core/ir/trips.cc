#include "core/ir/trips.h"

#include <algorithm>

#include "core/ir/constant.h"
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

std::optional<int64_t> scan_trips(const NodeView& scan) {
  const Node& node = scan.node();
  const int64_t count = scan.opset() < 9 ? 0 : scan.get_int("num_scan_inputs", 0), inputs = std::ssize(node.inputs());
  const Value* first = count < 1 || count > inputs ? nullptr : node.input(static_cast<int>(inputs - count));
  if (!first || !first->type.dims) return std::nullopt;
  const std::vector<int64_t> axes = scan.get_ints("scan_input_axes");
  const int64_t axis = axes.empty() ? 0 : axes[0], rank = std::ssize(*first->type.dims);
  if (axis < -rank || axis >= rank) return std::nullopt;
  return (*first->type.dims)[static_cast<size_t>(axis < 0 ? axis + rank : axis)].value();
}

}  // namespace

bool only_count_ends(const Node& loop, const Graph& body) {
  if (loop.input(1) && !is_true(loop.input(1))) return false;
  const Value* condition = before_identities(body.outputs()[0]);
  return condition == body.inputs()[1] || is_true(condition);
}

std::optional<int64_t> trips(const NodeView& view, const Graph& body) {
  if (view.node().is("Loop")) return loop_trips(view.node(), body);
  return view.node().is("Scan") ? scan_trips(view) : 1;
}

}  // namespace mlopt
