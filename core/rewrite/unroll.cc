#include "core/rewrite/unroll.h"

#include "core/ir/instantiate.h"
#include "core/ir/trips.h"
#include "core/rewrite/numbers.h"

namespace mlopt {
namespace {

/// A node that runs its body so many times: what it carries from trip to trip comes first among its outputs, behind it
/// what every trip adds to a list.
struct Repeated {
  int64_t trips = 0;
  std::vector<Value*> carried;   ///< at first
  size_t first_result = 0;       ///< of the body's outputs, that is carried
  std::vector<int64_t> axes;     ///< of the lists, along which trips follow each other
  std::vector<bool> last_first;  ///< of the lists
  /// The body's inputs of trip `i`.
  std::function<std::vector<Value*>(int64_t i, const std::vector<Value*>& carried)> inputs;
};

class Unroller {
 public:
  /// `names`: of the whole model, counted when the first is needed.
  Unroller(Model& model, Graph& graph, Node* node, std::optional<FreshNames>& names)
      : graph_(graph), node_(node), names_(names), opset_(model.opset()) {}

  /// The node is erased.
  void write_out(const Repeated& repeated, const Graph& body) {
    std::vector<Value*> carried = repeated.carried;
    std::vector<std::vector<Value*>> lists(repeated.axes.size());
    for (int64_t i = 0; i < repeated.trips; ++i) {
      const std::vector<Value*> made = trip(repeated.inputs(i, carried), body);
      for (size_t k = 0; k < carried.size(); ++k) carried[k] = made[repeated.first_result + k];
      for (size_t k = 0; k < lists.size(); ++k) {
        Value* part = made[repeated.first_result + carried.size() + k];
        lists[k].insert(repeated.last_first[k] ? lists[k].begin() : lists[k].end(), part);
      }
    }
    for (size_t k = 0; k < node_->outputs().size(); ++k) {
      if (!node_->outputs()[k]) continue;
      const size_t list = k - carried.size();
      replace(node_->outputs()[k], k < carried.size() ? carried[k] : stacked(lists[list], repeated.axes[list]));
    }
    graph_.erase(node_);
  }

  Value* constant(const char* hint, Tensor tensor) {
    return graph_.add_constant(names().make(hint), std::move(tensor));
  }

  Value* op(const char* op, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) {
    Value* made = graph_.add_value(names().make(op));
    graph_.add_node("", op, std::move(inputs), {made}, std::move(attrs), node_);
    return made;
  }

 private:
  FreshNames& names() {
    if (!names_) names_.emplace(graph_);
    return *names_;
  }

  /// The values that one trip gives, in the place of a node that stands for it.
  std::vector<Value*> trip(std::vector<Value*> inputs, const Graph& body) {
    std::vector<Value*> outputs, probes, results;
    for (const Value* y : body.outputs()) outputs.push_back(graph_.add_value(names().make(y->name)));
    Node* stand_in = graph_.add_node("", node_->op, std::move(inputs), outputs, {}, node_);
    stand_in->name = names().make_node(node_->name.empty() ? "trip" : node_->name);
    stand_in->origins = node_->origins;
    for (Value* y : outputs) probes.push_back(op("Identity", {y}));
    instantiate_branch(stand_in, body, names());
    for (const Value* probe : probes) results.push_back(probe->producer->input(0));
    for (Value* probe : probes) graph_.erase(probe->producer);
    return results;
  }

  /// What every trip gave, one after the other along a new axis.
  Value* stacked(const std::vector<Value*>& parts, int64_t axis) {
    std::vector<Value*> rows;
    Value* axes = opset_ >= 13 ? constant("axes", Tensor::ints({axis})) : nullptr;
    for (Value* part : parts)
      rows.push_back(axes ? op("Unsqueeze", {part, axes})
                          : op("Unsqueeze", {part}, {{"axes", std::vector<int64_t>{axis}, {}}}));
    return rows.size() == 1 ? rows[0] : op("Concat", rows, {{"axis", axis, {}}});
  }

  void replace(Value* y, Value* result) {
    if (y->is_output()) result = op("Identity", {result});
    result->type = y->type;
    graph_.replace_uses(y, result);
  }

  Graph& graph_;
  Node* node_;
  std::optional<FreshNames>& names_;
  int64_t opset_;
};

Expected<Repeated> loop_of(const Node& loop, const Graph& body, Unroller& unroller) {
  const size_t carried = loop.inputs().size() < 2 ? 0 : loop.inputs().size() - 2;
  if (body.inputs().size() != carried + 2 || body.outputs().size() < carried + 1)
    return Decline{"its body does not fit it"};
  const auto trips = known_number(loop.input(0));
  if (!trips || loop.input(0)->type.dtype != DType::kI64) return Decline{"its trip count is not known"};
  constexpr double kMostTrips = 1e9;  // far above what is unrolled, and a number that int64 has
  if (*trips > kMostTrips) return Decline{"it runs too often"};
  if (!only_count_ends(loop, body)) return Decline{"a condition may end it earlier"};
  const size_t lists = body.outputs().size() - 1 - carried;
  return Repeated{static_cast<int64_t>(*trips),
                  {loop.inputs().begin() + 2, loop.inputs().end()},
                  1,
                  std::vector<int64_t>(lists, 0),
                  std::vector<bool>(lists, false),
                  [&unroller, &body](int64_t i, const std::vector<Value*>& now) {
                    const Value &trip = *body.inputs()[0], &go_on = *body.inputs()[1];
                    std::vector<Value*> inputs{unroller.constant("trip", number_for(trip, Tensor::scalar(i))),
                                               unroller.constant("go_on", number_for(go_on, Tensor::scalar(true)))};
                    inputs.insert(inputs.end(), now.begin(), now.end());
                    return inputs;
                  }};
}

/// What a Scan walks along, one entry for each.
struct Walked {
  Value* from;
  int64_t axis, length;
  bool backward;
};

Expected<std::vector<Walked>> walked_by(const NodeView& scan) {
  const auto count = static_cast<size_t>(scan.get_int("num_scan_inputs"));
  const std::vector<Value*>& inputs = scan.node().inputs();
  if (count < 1 || count > inputs.size()) return Decline{"its body does not fit it"};
  const auto axes = scan.get_ints("scan_input_axes", std::vector<int64_t>(count, 0));
  const auto directions = scan.get_ints("scan_input_directions", std::vector<int64_t>(count, 0));
  if (axes.size() != count || directions.size() != count) return Decline{"its body does not fit it"};
  std::vector<Walked> all;
  for (size_t k = 0; k < count; ++k) {
    Value* from = inputs[inputs.size() - count + k];
    const auto rank = from && from->type.dims ? static_cast<int64_t>(from->type.dims->size()) : 0;
    const int64_t axis = axes[k] < 0 ? axes[k] + rank : axes[k];
    const auto length = axis >= 0 && axis < rank ? (*from->type.dims)[static_cast<size_t>(axis)].value() : std::nullopt;
    if (!length) return Decline{"its length is not known"};
    if (k > 0 && *length != all[0].length) return Decline{"its inputs differ in length"};
    all.push_back({from, axis, *length, directions[k] != 0});
  }
  return all;
}

Expected<Repeated> scan_of(const NodeView& scan, const Graph& body, Unroller& unroller) {
  if (scan.opset() < 9) return Decline{"a Scan of samples"};
  const auto walked = walked_by(scan);
  if (!walked) return walked.error();
  const size_t carried = scan.node().inputs().size() - walked->size();
  if (body.inputs().size() != scan.node().inputs().size() || body.outputs().size() < carried)
    return Decline{"its body does not fit it"};
  const size_t lists = body.outputs().size() - carried;
  const auto axes = scan.get_ints("scan_output_axes", std::vector<int64_t>(lists, 0));
  const auto directions = scan.get_ints("scan_output_directions", std::vector<int64_t>(lists, 0));
  if (axes.size() != lists || directions.size() != lists) return Decline{"its body does not fit it"};
  return Repeated{walked->front().length,
                  {scan.node().inputs().begin(), scan.node().inputs().begin() + static_cast<int64_t>(carried)},
                  0,
                  axes,
                  {directions.begin(), directions.end()},
                  [&unroller, walked = *walked](int64_t i, const std::vector<Value*>& now) {
                    std::vector<Value*> inputs = now;
                    for (const Walked& w : walked) {
                      const int64_t at = w.backward ? w.length - 1 - i : i;
                      inputs.push_back(unroller.op("Gather", {w.from, unroller.constant("trip", Tensor::scalar(at))},
                                                   {{"axis", w.axis, {}}}));
                    }
                    return inputs;
                  }};
}

Expected<Repeated> repeated_of(const NodeView& view, const Graph& body, Unroller& unroller, int64_t most_nodes) {
  if (view.node().outputs().size() > body.outputs().size()) return Decline{"its body does not fit it"};
  auto repeated = view.node().is("Scan") ? scan_of(view, body, unroller) : loop_of(view.node(), body, unroller);
  if (!repeated) return repeated;
  const auto nodes = static_cast<int64_t>(all_nodes(body).size());
  if (view.node().outputs().size() > repeated->carried.size() + repeated->axes.size())
    return Decline{"its body does not fit it"};
  if (repeated->trips < 1) return Decline{"its body never runs"};
  if (repeated->trips > most_nodes || (repeated->trips > 1 && repeated->trips * nodes > most_nodes))
    return Decline{"it runs too often"};
  return repeated;
}

void unroll(Graph& graph, Model& model, const PassContext& context, int64_t most_nodes,
            std::optional<FreshNames>& names, PassTally& tally) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) unroll(*body, model, context, most_nodes, names, tally);
    const bool wanted = (node->is("Loop") || node->is("Scan")) && context.allows(*node);
    const Attr* attr = wanted ? node->attr("body") : nullptr;
    const auto* body = attr ? std::get_if<GraphPtr>(&attr->value) : nullptr;
    if (!body || (node->is("Loop") && ((*body)->inputs().size() < 2 || (*body)->outputs().empty()))) continue;
    const GraphPtr kept = *body;  // outlives the node
    Unroller unroller(model, graph, node, names);
    const auto repeated = repeated_of({*node, model.opset()}, *kept, unroller, most_nodes);
    if (!repeated) {
      ++tally.declined[repeated.error().reason];
      tally.example.emplace(repeated.error().reason, node->label());
      continue;
    }
    unroller.write_out(*repeated, *kept);
    ++tally.applied;
  }
}

}  // namespace

void unroll(Model& model, const PassContext& context, int64_t most_nodes, PassTally& tally) {
  std::optional<FreshNames> names;
  unroll(*model.graph, model, context, most_nodes, names, tally);
}

}  // namespace mlopt
