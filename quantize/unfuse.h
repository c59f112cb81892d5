#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::quantize {

/// com.microsoft's FusedConv, which runtimes write into the models that they save, as Conv, Add and the activation that
/// it stands for: the formats are written for these, and the runtime fuses them again. And ImageScaler, which opsets
/// after 1 do not have though some exporters wrote it there, as Mul and Add.
extern const Pass unfuse;

}  // namespace mlopt::quantize
