#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/input_spec.h"

namespace mlopt {

/// What generated inputs look like.
struct RandomOptions {
  int64_t count = 8;  ///< items
  uint64_t seed = 0;
  bool distinct = false;                    ///< free dimensions: distinct sizes above 1, else 1
  int64_t batch = 0;                        ///< of free first dimensions; 0: as the others
  std::map<std::string, Dims> shapes = {};  ///< of inputs by name; a symbol's size is a shape of one number
  std::map<std::string, std::array<double, 2>> ranges = {};  ///< of inputs by name
  std::map<std::string, int64_t> sizes = {};  ///< of symbols where neither `shapes` nor `batch` says more
  std::map<std::string, int64_t> least = {};  ///< of symbols whose sizes are made up: they are no less
};

/// Adds "name=1x3x224x224" (or "1,3,224,224") and "name=a:b". Throw Error{kUsage}.
void add_shape(RandomOptions& options, const std::string& text);
void add_range(RandomOptions& options, const std::string& text);

/// Throws Error{kUsage} for a shape or a range under a name that no input or symbol has.
void check_given_names(const std::vector<InputSpec>& inputs, const RandomOptions& options);

/// The shape of each input: as given, else the model's with equal sizes for equal symbols; sums and products of symbols
/// ("past+1") follow from theirs. Throws Error{kUsage} for a name that no input or symbol has, and for a shape that
/// does not fit.
std::vector<Dims> concrete_shapes(const std::vector<InputSpec>& inputs, const RandomOptions& options);

/// Seeded values within the inputs' legal ranges: floats without a range are normal (0, 1), integers without one 0
/// or 1. Each item is a whole set of inputs; item i depends only on the options and i.
std::unique_ptr<Dataset> random_dataset(const std::vector<InputSpec>& inputs, const RandomOptions& options);

}  // namespace mlopt
