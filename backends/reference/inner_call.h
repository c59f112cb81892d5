#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::reference {

/// What runs an operator without state, or null when this backend has no such kernel.
using PlainKernel = void (*)(Call&);
PlainKernel find_kernel(std::string_view domain, std::string_view op);

/// Runs `kernel` on other inputs (an empty Datum is an omitted one) with the attributes of the call; its outputs.
std::vector<Datum> run_inner(const Call& call, PlainKernel kernel, std::span<const Datum> inputs, int outputs = 1);

}  // namespace mlopt::reference
