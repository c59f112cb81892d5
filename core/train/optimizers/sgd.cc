#include "core/train/optimizers.h"

namespace mlopt::train {

void sgd_update(UpdateArgs& args) {
  const OptimizerSettings& s = args.settings;
  std::vector<Value*> moments;
  if (s.momentum != 0) moments.push_back(add_moment(args, "momentum"));
  add_update(args, "SgdUpdate", moments,
             {{"momentum", static_cast<float>(s.momentum), {}}, {"nesterov", int64_t{s.nesterov}, {}}});
}

}  // namespace mlopt::train
