#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/data/array_file.h"
#include "core/data/input_spec.h"
#include "core/data/picture.h"
#include "core/data/spec.h"

namespace mlopt {

/// A sample as it is stored: a picture, or arrays by name ("" where the format has no names: the model's only input).
struct RawSample {
  std::optional<Picture> picture;
  NamedTensors arrays;
  std::optional<Tensor> label;
};

/// A source of samples, before selection and preprocessing. read() may be called from several threads.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual int64_t size() const = 0;
  virtual std::string name_of(int64_t i) const = 0;
  /// The class of sample i, known without decoding it; nothing when there is none.
  virtual std::optional<int64_t> class_of(int64_t i) const = 0;
  virtual bool labelled() const = 0;
  virtual RawSample read(int64_t i) const = 0;
};

using ReaderPtr = std::unique_ptr<Reader>;

// One a file. All throw Error{kBadInput} naming the file, and the sample from read().
ReaderPtr arrays_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs);
ReaderPtr images_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs);
ReaderPtr idx_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs);
ReaderPtr csv_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs);
ReaderPtr bytes_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs);
ReaderPtr text_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs);

/// Throws, listing both, unless `given` are the names of `inputs` in any order.
void require_names(const std::vector<std::string>& given, const std::vector<InputSpec>& inputs,
                   const std::string& where);
/// Throws unless the model has exactly one input, for data without names.
const InputSpec& only_input(const std::vector<InputSpec>& inputs, const std::string& where);
/// The arrays of a file or of a folder of .npy and .npz files; a folder's .npy is named by its path inside without
/// ".npy".
std::vector<ArrayFile> open_arrays(const std::string& path);

}  // namespace mlopt
