#pragma once
#include <span>

#include "core/exec/kernel.h"

namespace mlopt {

/// Runs a planned step by itself, with scratch of its own: inputs (null: omitted; they are only read), then outputs, as
/// the node has them.
void run_alone(const PlannedStep& step, std::span<std::byte* const> where);
void run_alone(const PlannedStep& step, std::span<const std::byte* const> in, std::span<std::byte* const> out);

}  // namespace mlopt
