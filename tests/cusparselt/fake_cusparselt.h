#pragma once

/// What tests tell the library that stands for cuSPARSELt, and what it has been asked for.
struct FakeCusparselt {
  bool present = false;  ///< else its version is 0
  bool refuses = false;  ///< all products
  int compressed = 0, multiplied = 0;
  int misaligned = 0;  ///< calls with a matrix that is not where it was said to be
};
