#include "core/data/pipeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/data/fit.h"
#include "core/data/select.h"
#include "core/data/transform.h"

namespace mlopt {
namespace {

/// Where one input's samples go: under a first axis of samples, or each is the whole input.
struct Place {
  bool whole = false;
  std::span<const Dim> element;  ///< the dims that a sample must fit
};

class Pipeline final : public Dataset {
 public:
  Pipeline(ReaderPtr reader, const DataSpec& spec, const std::vector<InputSpec>& inputs, uint64_t seed)
      : reader_(std::move(reader)), spec_(spec), inputs_(inputs) {
    for (const InputSpec& input : inputs_) {
      if (!input.tensor)
        input_error(fmt::format("the input '{}' is not a tensor", input.name), spec.path, "give ONNX test data");
    }
    Selection selection = spec.selection;
    if (spec.kind == DataKind::kBytes) selection.split.reset();  // the reader cut the text itself
    chosen_ = select_samples(
        reader_->size(), selection, seed, [this](int64_t i) { return reader_->class_of(i); }, spec.path);
    const std::vector<Tensor> first = prepare(reader_->read(chosen_[0]), name_of(0));
    for (size_t k = 0; k < inputs_.size(); ++k) places_.push_back(place_of(first[k], inputs_[k]));
    find_batch_size();
  }

  int64_t size() const override { return static_cast<int64_t>(chosen_.size()); }
  int64_t batch_size() const override { return batch_size_; }
  bool labelled() const override { return reader_->labelled(); }
  std::string name_of(int64_t i) const override { return reader_->name_of(chosen_[static_cast<size_t>(i)]); }

  Batch batch(int64_t first, int64_t count) const override {
    if (first < 0 || count < 1 || first + count > size())
      internal_error(fmt::format("samples {} to {} of {}", first, first + count, size()));
    if (whole() && count != 1)
      input_error(fmt::format("each sample is a whole input, of which {} are asked for at a time", count), spec_.path,
                  "leave out --batch");
    std::vector<std::vector<Tensor>> columns(inputs_.size());
    std::vector<Tensor> labels;
    std::vector<std::string> names;
    for (int64_t i = first; i < first + count; ++i) {
      names.push_back(name_of(i));
      RawSample sample = reader_->read(chosen_[static_cast<size_t>(i)]);
      if (sample.label) labels.push_back(std::move(*sample.label));
      const std::vector<Tensor> values = prepare(std::move(sample), names.back());
      for (size_t k = 0; k < inputs_.size(); ++k) columns[k].push_back(fitted(values[k], k, names.back()));
    }
    Batch result;
    result.count = count;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      result.inputs.emplace_back(places_[k].whole ? columns[k][0] : stack(columns[k], names));
    }
    if (labels.size() == names.size()) result.labels = stack(labels, names);
    return result;
  }

 private:
  bool channels_last(const Picture& picture) const {
    if (!spec_.transforms.layout.empty()) return spec_.transforms.layout == "nhwc";
    const SymDims& dims = inputs_[0].dims;
    if (dims.size() < 3) return false;
    return dims.back().is(picture.channels) && !dims[dims.size() - 3].is(picture.channels);
  }

  /// The values of one sample in the order of the inputs, preprocessed, in the model's element types.
  std::vector<Tensor> prepare(RawSample sample, const std::string& name) const {
    if (sample.picture) {
      const Picture picture = transform_picture(std::move(*sample.picture), spec_.transforms, name);
      const bool last = channels_last(picture);
      const double scale = spec_.kind == DataKind::kImages && is_float(inputs_[0].dtype) ? 1.0 / 255 : 1;
      const Tensor values = normalize(to_tensor(picture, last), spec_.transforms, scale, last ? 2 : 0, name);
      return {to_input_type(values, inputs_[0].dtype, true, name)};
    }
    std::vector<Tensor> values;
    for (const InputSpec& input : inputs_) {
      const auto found = std::find_if(sample.arrays.begin(), sample.arrays.end(), [&](const auto& array) {
        return array.first.empty() || array.first == input.name;
      });
      if (found == sample.arrays.end()) internal_error("a reader left out an input", input.name);
      const bool pictures =
          spec_.transforms.resize || spec_.transforms.crop || spec_.transforms.gray || spec_.transforms.bgr;
      if (pictures) input_error("resize, crop, gray and bgr are for pictures", name, "leave them out");
      values.push_back(prepare_array(found->second, input, spec_.transforms, 0, name));
    }
    return values;
  }

  bool flatten() const { return spec_.kind == DataKind::kIdx || spec_.kind == DataKind::kCsv; }

  Place place_of(const Tensor& value, const InputSpec& input) const {
    const std::span<const Dim> all(input.dims);
    const Place stacked{false, all.empty() ? all : all.subspan(1)}, whole{true, all};
    const bool has_axis = !all.empty();
    if (has_axis && fits(value.dims(), stacked.element)) return stacked;
    if (fits(value.dims(), whole.element)) return whole;
    if (has_axis && fitted_dims(value.dims(), stacked.element, flatten())) return stacked;
    if (fitted_dims(value.dims(), whole.element, flatten())) return whole;
    wrong_shape(value, input, name_of(0));
  }

  /// What would make pictures fit.
  std::string picture_fix(const InputSpec& input) const {
    if (!spec_.transforms.layout.empty()) return "leave out layout: the model's own is taken";
    const size_t rank = input.dims.size();
    const auto height = rank >= 3 ? input.dims[rank - 2].value() : std::nullopt;
    const auto width = rank >= 3 ? input.dims[rank - 1].value() : std::nullopt;
    if (!height || !width) return "see resize, crop, gray and layout";
    return fmt::format("add resize={}x{} (or resize and crop), and gray for one channel", *height, *width);
  }

  [[noreturn]] void wrong_shape(const Tensor& value, const InputSpec& input, const std::string& name) const {
    const bool pictures = spec_.kind == DataKind::kImages || spec_.kind == DataKind::kIdx;
    input_error(
        fmt::format("a sample has the shape {}; the model takes {}", to_string(value.dims()), to_string({input})), name,
        pictures ? picture_fix(input) : "give samples of the model's shape; the first axis of arrays is the sample");
  }

  Tensor fitted(const Tensor& value, size_t k, const std::string& name) const {
    const auto dims = fitted_dims(value.dims(), places_[k].element, flatten());
    if (!dims) wrong_shape(value, inputs_[k], name);
    return *dims == value.dims() ? value : value.reshaped(*dims);
  }

  bool whole() const {
    return std::any_of(places_.begin(), places_.end(), [](const Place& p) { return p.whole; });
  }

  void find_batch_size() {
    if (whole()) batch_size_ = 1;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const auto fixed = places_[k].whole ? std::nullopt : inputs_[k].dims[0].value();
      if (!fixed) continue;
      if (batch_size_ != 0 && batch_size_ != *fixed) {
        input_error(fmt::format("the inputs take different numbers of samples at a time: {}", to_string(inputs_)),
                    spec_.path, "give whole inputs: a test_data_set folder, or an .npz archive to mlopt run");
      }
      batch_size_ = *fixed;
    }
    if (batch_size_ > size()) {
      input_error(fmt::format("the model takes {} samples at a time, the data have {}", batch_size_, size()),
                  spec_.path, "give more samples");
    }
  }

  ReaderPtr reader_;
  DataSpec spec_;
  std::vector<InputSpec> inputs_;
  std::vector<int64_t> chosen_;
  std::vector<Place> places_;
  int64_t batch_size_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_pipeline(ReaderPtr reader, const DataSpec& spec, const std::vector<InputSpec>& inputs,
                                       uint64_t seed) {
  return std::make_unique<Pipeline>(std::move(reader), spec, inputs, seed);
}

}  // namespace mlopt
