#pragma once
#include <string>

#include "core/tensor/tensor.h"

namespace mlopt {

/// The same bytes in a file without a name in that folder, so that they need memory only while they are looked at; the
/// tensor itself where there is no room for that, and where it is a view of a file already.
Tensor kept_in_file(const Tensor& tensor, const std::string& folder);

}  // namespace mlopt
