#pragma once
#include <memory>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/input_spec.h"
#include "core/data/random.h"
#include "core/data/spec.h"
#include "core/data/whole.h"

namespace mlopt {

/// How the caller wants its data.
struct DataOptions {
  RandomOptions random;         ///< for random data; its seed also shuffles
  bool whole = false;           ///< arrays are whole inputs (run, bench), else their first axis is the sample
  TestSetReader read_test_set;  ///< empty: ONNX test data cannot be read
};

/// Opens what `spec` names for a model with these inputs. Throws Error{kBadInput} naming file and sample.
std::unique_ptr<Dataset> open_dataset(const DataSpec& spec, const std::vector<InputSpec>& inputs,
                                      const DataOptions& options);

}  // namespace mlopt
