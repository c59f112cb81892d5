#pragma once
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"

namespace mlopt::quantize {

/// Makes one layer of a quantized model compute in floats, as `source` does, in place: what --skip would, but that what
/// it gives is still rounded for those who read codes. False, and nothing changed, where it cannot be told what the
/// layer reads (bodies of If and Loop, values that are no more).
bool float_again(Model& quantized, const Model& source, const LayerValue& layer);

}  // namespace mlopt::quantize
