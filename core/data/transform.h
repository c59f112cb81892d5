#pragma once
#include <string>

#include "core/data/input_spec.h"
#include "core/data/picture.h"
#include "core/data/spec.h"
#include "core/tensor/tensor.h"

namespace mlopt {

/// The geometric half of preprocessing: resize, crop, gray, bgr. Throws Error{kBadInput} naming `where`.
Picture transform_picture(Picture picture, const Transforms& transforms, const std::string& where);

/// (v * scale - mean) / std of every element, in float32; `channel_axis` of the tensor is what mean and std run over
/// when they have more than one number. `scale` is used where the spec has none.
Tensor normalize(const Tensor& values, const Transforms& transforms, double scale, int channel_axis,
                 const std::string& where);

/// An array as `input` takes it: normalized where the spec says so, in the input's type.
Tensor prepare_array(const Tensor& values, const InputSpec& input, const Transforms& transforms, int channel_axis,
                     const std::string& where);

/// Pixels as uint8 [channels, height, width], or [height, width, channels] for `channels_last`.
Tensor to_tensor(const Picture& picture, bool channels_last);

}  // namespace mlopt
