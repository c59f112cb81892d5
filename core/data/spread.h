#pragma once
#include <memory>

#include "core/data/dataset.h"

namespace mlopt {

/// A view of about `samples` of the data, evenly spaced from the first to the last, so that data sorted by class are
/// seen whole. Where the model's batch is fixed, whole batches are spaced. `data` must outlive the view.
std::unique_ptr<Dataset> spread(const Dataset& data, int64_t samples);

}  // namespace mlopt
