#include "prune/moments.h"

namespace mlopt::prune {

int64_t each_value(const Model& model, const std::vector<std::string>& names, const Means& means,
                   const std::function<void(size_t value, const Tensor& tensor)>& see) {
  return mlopt::each_value(model, names, means.looking(), see);
}

std::vector<Moments> moments_of(const Model& model, const std::vector<std::string>& names, const Means& means) {
  return channel_statistics(model, names, means.looking());
}

}  // namespace mlopt::prune
