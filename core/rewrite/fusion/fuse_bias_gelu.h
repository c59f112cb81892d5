#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// The row "bias" that is added by "sum" to "x" before the root's GELU as input of `op`, BiasGelu or FastGelu.
Expected<Replacement> join_bias(const Match& m, Builder& builder, const char* op);

/// x + bias, read by nothing else, spelt by one of the operators `sums`: what the rules' GELUs read.
Pattern biased(const char* sums = "Add");

}  // namespace mlopt::fusion
