#include "core/train/optimizers.h"

#include <fmt/core.h>

#include "core/base/named.h"
#include "core/ir/typed_op.h"

namespace mlopt::train {
namespace {

constexpr OptimizerDef kOptimizers[] = {
    {"sgd", "gradient descent with (Nesterov) momentum", 0.01, sgd_update},
    {"adam", "Adam (Kingma and Ba 2015)", 1e-3, adam_update},
    {"adamw", "Adam with decoupled weight decay (Loshchilov and Hutter 2019)", 1e-3, adamw_update},
    {"lamb", "Adam with a rate for each tensor by its norm (You et al. 2020)", 1e-3, lamb_update},
};

}  // namespace

std::span<const OptimizerDef> optimizers() { return kOptimizers; }

const OptimizerDef* find_optimizer(std::string_view name) { return find_named(optimizers(), name); }

Value* add_moment(UpdateArgs& args, std::string_view kind) {
  const std::string name = fmt::format("{}/{}", args.param->name, kind);
  args.state.add(name, Tensor::zeros(args.param->type.dtype, Builder::dims(args.param)));
  return args.build.graph().add_input(name, args.param->type);
}

void add_update(UpdateArgs& args, std::string_view op, const std::vector<Value*>& moments, std::vector<Attr> attrs) {
  std::vector<Value*> kept = {args.param}, inputs = {args.param};
  kept.insert(kept.end(), moments.begin(), moments.end());
  inputs.insert(inputs.end(), moments.begin(), moments.end());
  inputs.insert(inputs.end(), {args.grad, args.rate, args.step, args.scale});
  attrs.push_back({"weight_decay", static_cast<float>(args.weight_decay), {}});
  const std::vector<Type> types(kept.size(), args.param->type);
  const std::vector<Value*> next =
      add_typed_op(args.build.graph(), op, inputs, std::move(attrs), types, args.param->name);
  for (size_t i = 0; i < kept.size(); ++i) {
    args.build.graph().add_output(next[i]);
    args.updates.push_back({kept[i]->name, next[i]->name});
  }
}

void add_adam(UpdateArgs& args, std::string_view op) {
  const OptimizerSettings& s = args.settings;
  Value* first = add_moment(args, "first-moment");
  add_update(args, op, {first, add_moment(args, "second-moment")},
             {{"beta1", static_cast<float>(s.beta1), {}},
              {"beta2", static_cast<float>(s.beta2), {}},
              {"epsilon", static_cast<float>(s.epsilon), {}}});
}

}  // namespace mlopt::train
