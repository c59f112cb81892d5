#pragma once
#include "tests/support/op.h"

namespace mlopt::test {

/// The GPU backend over kernels that run on this processor.
std::unique_ptr<Backend> gpu_on_host(bool fallback = false);
/// The same over a GPU; null where there is none.
std::unique_ptr<Backend> real_gpu();

/// Runs the node on gpu_on_host(), and on a GPU where there is one, without a fallback, with the inputs as given (not
/// when options.fixed) and with all but the first constant, twice, and requires what the reference backend gives:
/// within `tolerance` * (1 + |expected|).
void require_on_gpu(const std::string& op, const std::vector<Datum>& inputs, OpOptions options = {},
                    double tolerance = 1e-5);

}  // namespace mlopt::test
