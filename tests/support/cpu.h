#pragma once
#include "tests/support/op.h"

namespace mlopt::test {

/// Runs the node on the CPU backend without a fallback, with the inputs as given (not when options.fixed) and with all
/// of them constant, on one thread and on several, and requires what the reference backend gives: within `tolerance` *
/// (1 + |expected|); where `steps` is given, integers within so many.
void require_as_reference(const std::string& op, const std::vector<Datum>& inputs, OpOptions options = {},
                          double tolerance = 1e-5, double steps = 0);

/// The CPU backend, in front of the reference's kernels.
std::unique_ptr<Backend> cpu_with_fallback();

}  // namespace mlopt::test
