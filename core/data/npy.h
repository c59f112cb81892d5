#pragma once
#include <string>
#include <string_view>

#include "core/data/byte_source.h"
#include "core/tensor/tensor.h"

namespace mlopt {

/// What NumPy's .npy header says of the array behind it (format versions 1 to 3).
struct NpyHeader {
  DType dtype = DType::kUndefined;
  Dims dims;
  int64_t item_bytes = 0;  ///< of one element as stored; strings have a fixed width
  char kind = 0;           ///< NumPy's kind: f, i, u, b, c, U (UCS-4 text) or S (bytes)
  bool big_endian = false;
  bool fortran = false;     ///< stored with the first axis fastest
  int64_t data_offset = 0;  ///< bytes of the header
};

/// Reads and checks the header: type known (objects are refused), size in range and equal to what follows the header.
/// Throws Error{kBadInput} naming the source.
NpyHeader read_npy_header(const ByteSource& source);

/// `count` elements from element `first`, in the order they are stored, as a tensor of `dims`.
Tensor read_npy_elements(const ByteSource& source, const NpyHeader& header, int64_t first, Dims dims);

/// The .npy header of an array that follows it in row-major order; its length is a multiple of 64.
/// Types that NumPy lacks are the caller's to convert (see npy_storable).
std::string npy_header(DType type, const Dims& dims, int64_t text_width = 0);
/// The tensor in a type that NumPy has: bfloat16, 8 and 4 bit floats become float32, int4 and int2 bytes.
Tensor npy_storable(const Tensor& tensor);
/// Header and elements.
std::string npy_bytes(const Tensor& tensor);

}  // namespace mlopt
