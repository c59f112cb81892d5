#include "core/train/average.h"

#include <algorithm>

namespace mlopt::train {

std::string average_of(const std::string& parameter) { return parameter + "/average"; }

void add_average(UpdateArgs& args, double decay, bool removes) {
  Builder& b = args.build;
  const std::string name = average_of(args.param->name);
  args.state.add(name, args.state.at(args.param->name));
  Value* average = b.graph().add_input(name, args.param->type);
  const auto update = std::find_if(args.updates.begin(), args.updates.end(),
                                   [&](const StateUpdate& u) { return u.state == args.param->name; });
  Value* next = b.graph().find(update->output);
  Value* early = b.op("Div", {b.number(9), b.op("Add", {args.step, b.number(10)})});
  Value* share = b.op("Max", {b.number(1 - decay), early});
  if (args.param->type.dtype != DType::kF32)
    share = b.op("Cast", {share}, {{"to", static_cast<int64_t>(args.param->type.dtype), {}}});
  Value* moved = b.op("Add", {average, b.op("Mul", {b.op("Sub", {next, average}), share})});
  if (removes) {
    Value* zero = b.number(0, args.param->type.dtype);
    moved = b.op("Where", {b.op("Equal", {next, zero}), zero, moved});
  }
  b.graph().add_output(moved);
  args.updates.push_back({name, moved->name});
}

}  // namespace mlopt::train
