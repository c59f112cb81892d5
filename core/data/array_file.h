#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/data/npy.h"

namespace mlopt {

/// An array in a .npy file or in a member of an .npz archive, read on demand.
class ArrayFile {
 public:
  /// Reads and checks the header only.
  ArrayFile(std::string name, Source source);

  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  DType dtype() const { return header_.dtype; }
  const Dims& dims() const { return header_.dims; }
  const std::string& where() const { return source_->where(); }
  /// Rows along the first axis; throws for a scalar.
  int64_t rows() const;
  /// Row `i`: a tensor without the first axis.
  Tensor row(int64_t i) const;
  Tensor whole() const;

 private:
  std::string name_;
  Source source_;
  NpyHeader header_;
};

/// A file "x.npy": one array named x.
ArrayFile open_npy(const std::string& path);
/// The arrays of an .npz archive (stored or deflated, zip64) in the order of its directory, named without ".npy".
std::vector<ArrayFile> open_npz(const std::string& path);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// All arrays of an archive in memory.
NamedTensors read_npz(const std::string& path);
/// Writes an archive that numpy.load reads, atomically; `deflate` compresses. Types that NumPy lacks are converted
/// (npy_storable); values that are not tensors are the caller's to leave out.
void write_npz(const std::string& path, const NamedTensors& arrays, bool deflate = false);

}  // namespace mlopt
