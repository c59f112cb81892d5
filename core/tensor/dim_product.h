#pragma once
#include <span>

#include "core/tensor/dim.h"

namespace mlopt {

/// How many elements axes of these lengths have: 1 where there are none, unknown where a length is.
inline Dim product(std::span<const Dim> dims) {
  Dim all = 1;
  for (const Dim& d : dims) all = all * d;
  return all;
}

}  // namespace mlopt
