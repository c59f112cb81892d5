#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/input_spec.h"
#include "core/data/reader.h"
#include "core/data/spec.h"

namespace mlopt {

/// What a reader gives, selected, preprocessed and fitted to the inputs. Reads the first sample to learn how samples
/// fit; throws Error{kBadInput} with both shapes when they do not.
std::unique_ptr<Dataset> make_pipeline(ReaderPtr reader, const DataSpec& spec, const std::vector<InputSpec>& inputs,
                                       uint64_t seed);

}  // namespace mlopt
