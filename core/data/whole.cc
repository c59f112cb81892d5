#include "core/data/whole.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/data/fit.h"
#include "core/data/reader.h"
#include "core/data/transform.h"

namespace mlopt {
namespace {

class WholeArrays final : public Dataset {
 public:
  WholeArrays(const DataSpec& spec, const std::vector<InputSpec>& inputs)
      : path_(spec.path), transforms_(spec.transforms), inputs_(inputs), arrays_(open_arrays(path_)) {
    if (arrays_.size() == 1 && path_.ends_with(".npy")) arrays_[0].rename(only_input(inputs, path_).name);
    require_one_of_each();
    std::vector<std::string> names;
    for (const ArrayFile& array : arrays_) {
      if (array.name() != "label" || is_input("label")) names.push_back(array.name());
    }
    require_names(names, inputs, path_);
    for (const InputSpec& input : inputs_) {
      const Dims& dims = array_of(input.name).dims();
      if (input.tensor && fits(dims, input.dims)) continue;
      input_error(fmt::format("the array '{}' has the shape {}; the model takes {}", input.name, to_string(dims),
                              to_string({input})),
                  path_, "give an array of the input's shape");
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
      const int channel_axis = whole.rank() > 1 ? 1 : 0;  // behind the axis of samples
      result.inputs.emplace_back(prepare_array(whole, input, transforms_, channel_axis, path_));
    }
    if (labelled()) result.labels = find("label")->whole();
    return result;
  }

 private:
  /// Of the archives of a folder each may hold samples of its own.
  void require_one_of_each() const {
    for (const ArrayFile& array : arrays_) {
      if (find(array.name()) == &array) continue;
      input_error(fmt::format("more than one array '{}', each of which would be the whole input", array.name()), path_,
                  "give one file, or --batch N to run N samples of all files");
    }
  }
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
  Transforms transforms_;
  std::vector<InputSpec> inputs_;
  std::vector<ArrayFile> arrays_;
};

}  // namespace

std::unique_ptr<Dataset> whole_arrays(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  if (spec.selection != Selection()) {
    usage_error("samples are selected where the whole array is the input", "--data " + print(spec),
                "give --batch N to run N of these samples, or leave out limit, per-class, every, shuffle and split");
  }
  return std::make_unique<WholeArrays>(spec, inputs);
}

}  // namespace mlopt
