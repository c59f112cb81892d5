#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/input_spec.h"
#include "core/data/spec.h"

namespace mlopt {

/// One item: each array of the file or folder is a whole input of the model, normalized as the spec says. Throws,
/// listing both, when names or shapes do not match, and Error{kUsage} for a selection of samples.
std::unique_ptr<Dataset> whole_arrays(const DataSpec& spec, const std::vector<InputSpec>& inputs);

/// The inputs (or the outputs, with `expected`) stored in a folder of ONNX test data; made by who may read protobuf.
using TestSetReader = std::function<std::vector<Datum>(const std::string& folder, bool expected)>;

/// `path` itself when it holds input_0.pb or output_0.pb, else its folders test_data_set_K in the order of K.
std::vector<std::string> test_set_folders(const std::string& path);
/// One item for each folder; the label of an item is its first output where that is stored and a tensor.
std::unique_ptr<Dataset> test_sets(std::vector<std::string> folders, TestSetReader read);

}  // namespace mlopt
