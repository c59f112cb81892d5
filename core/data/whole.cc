#include "core/data/whole.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/data/fit.h"
#include "core/data/reader.h"

namespace mlopt {
namespace {

class WholeArrays final : public Dataset {
 public:
  WholeArrays(const std::string& path, const std::vector<InputSpec>& inputs)
      : path_(path), inputs_(inputs), arrays_(open_arrays(path)) {
    if (arrays_.size() == 1 && path.ends_with(".npy")) arrays_[0].rename(only_input(inputs, path).name);
    std::vector<std::string> names;
    for (const ArrayFile& array : arrays_) {
      if (array.name() != "label" || is_input("label")) names.push_back(array.name());
    }
    require_names(names, inputs, path);
    for (const InputSpec& input : inputs_) {
      const Dims& dims = array_of(input.name).dims();
      if (input.tensor && fits(dims, input.dims)) continue;
      input_error(fmt::format("the array '{}' has the shape {}; the model takes {}", input.name, to_string(dims),
                              to_string({input})),
                  path, "give an array of the input's shape");
    }
  }

  int64_t size() const override { return 1; }
  int64_t batch_size() const override { return 1; }
  bool labelled() const override { return !is_input("label") && find("label"); }
  std::string name_of(int64_t) const override { return path_; }

  Batch batch(int64_t, int64_t) const override {
    Batch result;
    result.count = 1;
    for (const InputSpec& input : inputs_) {
      const Tensor whole = array_of(input.name).whole();
      result.inputs.emplace_back(
          to_input_type(whole, input.dtype, false, fmt::format("{}, input '{}'", path_, input.name)));
    }
    if (labelled()) result.labels = find("label")->whole();
    return result;
  }

 private:
  bool is_input(const std::string& name) const {
    return std::any_of(inputs_.begin(), inputs_.end(), [&](const InputSpec& input) { return input.name == name; });
  }
  const ArrayFile* find(const std::string& name) const {
    for (const ArrayFile& array : arrays_) {
      if (array.name() == name) return &array;
    }
    return nullptr;
  }
  const ArrayFile& array_of(const std::string& name) const {
    const ArrayFile* array = find(name);
    if (!array) internal_error("an array got lost", name);
    return *array;
  }

  std::string path_;
  std::vector<InputSpec> inputs_;
  std::vector<ArrayFile> arrays_;
};

}  // namespace

std::unique_ptr<Dataset> whole_arrays(const std::string& path, const std::vector<InputSpec>& inputs) {
  return std::make_unique<WholeArrays>(path, inputs);
}

}  // namespace mlopt
