#include "prune/dropouts/noise.h"

#include <algorithm>
#include <cmath>

#include "core/ir/typed_op.h"

namespace mlopt::prune {
namespace {

Value* as_number(train::Builder& b, Value* flags) { return b.op("Cast", {flags}, {{"to", int64_t{1}, {}}}); }

}  // namespace

void read_through(Value* value, const std::function<Value*(Value*)>& make) {
  const std::vector<Use> uses = value->uses;
  Value* made = make(value);
  for (const Use& use : uses) use.node->graph()->set_input(use.node, use.index, made);
}

Value* left_over(train::Builder& gradients, const std::string& name, const Dims& dims) {
  return gradients.graph().add_input(name, Type::tensor(DType::kF32, dims));
}

Chance::Chance(train::Builder& build, Value* update, uint64_t seed) : build_(build) {
  constexpr int kUpdates = 32;  // bits that their number takes
  Value* step = build.op("Reshape", {build.op("Cast", {update}, {{"to", int64_t{7}, {}}}), build.indices({1})});
  keys_ = build.op("Add", {step, build.indices({static_cast<int64_t>(seed << kUpdates)})});
}

Value* Chance::uniform(const Dims& dims) { return draw("SeededUniform", dims); }
Value* Chance::normal(const Dims& dims) { return draw("SeededNormal", dims); }

Value* Chance::draw(const char* op, const Dims& dims) {
  Value* like = build_.op("ConstantOfShape", {build_.indices(dims)});
  return add_typed_op(build_.graph(), op, {like, keys_}, {{"node", node_++, {}}}, {Type::tensor(DType::kF32, dims)},
                      "prune/chance")[0];
}

Removal::Removal(train::Constraint& at, double end) {
  train::Builder& b = at.build;
  Value* moment = b.number(std::max(1.0, std::floor(end)));
  now = b.op("Equal", {at.step, moment});
  past = b.op("Greater", {at.step, moment});
  over = b.op("Or", {now, past});
  progress = b.op("Min", {b.op("Div", {at.step, moment}), b.number(1)});
}

Value* Removal::factor(train::Builder& b, Value* staying, Value* alive) const {
  Value* then = b.op("Where", {now, as_number(b, staying), b.number(1)});
  return b.op("Where", {past, as_number(b, alive), then});
}

void keep_noise(train::Constraint& at, const Removal& removal, int64_t total, Value* gone, const PenaltyPlan& plan) {
  constexpr double kFaster = 1.1, kRange = 100;
  train::Builder& b = at.build;
  const double unit = 1 / static_cast<double>(total);
  Value* pull = at.keep(kPull, Tensor::scalar(static_cast<float>(unit)));
  Value* fewer = b.op("Less", {gone, Ramp(at, total, plan).wanted()});
  Value* next = b.op("Mul", {pull, b.op("Where", {fewer, b.number(kFaster), b.number(1 / kFaster)})});
  Value* within = b.op("Clip", {next, b.number(unit / kRange), b.number(unit * kRange)});
  at.keep_next(pull, b.op("Where", {removal.over, b.number(0), within}));
  at.keep_next(at.keep(kUpdate, Tensor::scalar(0.0F)), b.op("Identity", {at.step}));
  at.keep_next(at.keep(kLoud, Tensor::scalar(1.0F)), b.op("Where", {removal.over, b.number(0), b.number(1)}));
}

}  // namespace mlopt::prune
