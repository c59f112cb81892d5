#pragma once

/// What tests tell the library that stands for cuDNN, and what it has been asked for.
struct FakeCudnn {
  bool present = false;       ///< else its version is 0
  int refused_dilation = -1;  ///< along the last axis
  bool refuses_channels_last = false, refuses_timing = false;
  int input_gradients = 0, weight_gradients = 0;
  int proposed = 0, timed = 0, plain = 0, fused = 0;
  int channels_last = 0;  ///< convolutions of these
  int exact = 0;          ///< how often it was told to keep to float32
};
