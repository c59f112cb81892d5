#include "core/calib/features.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr int64_t kRowsAtOnce = 1024;
using See = std::function<void(int64_t, const Matrix&)>;

/// Rows of `columns` numbers each, as they lie.
void see_rows(const std::vector<float>& numbers, int64_t columns, const See& see) {
  const auto all = static_cast<int64_t>(numbers.size()) / columns;
  for (int64_t first = 0; first < all; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, all - first);
    Matrix rows{count, columns, {}};
    rows.values.assign(numbers.begin() + first * columns, numbers.begin() + (first + count) * columns);
    see(0, rows);
  }
}

/// The last two axes the other way round.
std::vector<float> turned(const std::vector<float>& numbers, const Dims& dims) {
  const auto upper = static_cast<size_t>(dims[dims.size() - 2]), lower = static_cast<size_t>(dims.back());
  std::vector<float> out(numbers.size());
  for (size_t m = 0; m < numbers.size(); m += upper * lower)
    for (size_t i = 0; i < upper; ++i)
      for (size_t j = 0; j < lower; ++j) out[m + j * upper + i] = numbers[m + i * lower + j];
  return out;
}

/// Where a convolution looks, along each spatial axis.
struct Window {
  Dims kernel, stride, dilation, begin, in, out;

  Window(const Node& node, const Dims& weight, const Dims& input) : kernel(weight.begin() + 2, weight.end()) {
    const size_t rank = kernel.size();
    if (input.size() != rank + 2) input_error("the input has another rank than the weight", node.label());
    const NodeView view(node, 0);
    in.assign(input.begin() + 2, input.end());
    stride = view.get_ints("strides", Dims(rank, 1));
    dilation = view.get_ints("dilations", Dims(rank, 1));
    const Dims pads = view.get_ints("pads", Dims(2 * rank, 0));
    const std::string mode = view.get_string("auto_pad", "NOTSET");
    for (size_t i = 0; i < rank; ++i) {
      const int64_t reach = (kernel[i] - 1) * dilation[i] + 1;
      int64_t before = pads[i], around = pads[i] + pads[rank + i];
      if (mode == "VALID") before = around = 0;
      if (mode.starts_with("SAME")) {
        around = std::max<int64_t>(0, ((in[i] + stride[i] - 1) / stride[i] - 1) * stride[i] + reach - in[i]);
        before = mode == "SAME_UPPER" ? around / 2 : around - around / 2;
      }
      begin.push_back(before);
      out.push_back(std::max<int64_t>(0, (in[i] + around - reach) / stride[i] + 1));
    }
  }

  /// The element of a channel that place `at` sees through element `k` of the kernel; -1 in the padding.
  int64_t seen(int64_t at, int64_t k) const {
    int64_t element = 0, step = 1;
    for (size_t i = kernel.size(); i-- > 0;) {
      const int64_t x = at % out[i] * stride[i] - begin[i] + k % kernel[i] * dilation[i];
      if (x < 0 || x >= in[i]) return -1;
      element += x * step;
      step *= in[i];
      at /= out[i];
      k /= kernel[i];
    }
    return element;
  }
};

void see_patches(const Weight& w, const Node& node, const Tensor& input, const See& see) {
  const Window window(node, w.value->constant->dims(), input.dims());
  const std::vector<float> numbers = to_floats(input);
  const int64_t pixels = element_count(window.in), places = element_count(window.out), channels = w.columns / w.kernel;
  std::vector<int64_t> seen(static_cast<size_t>(places * w.kernel));
  for (int64_t at = 0; at < places; ++at)
    for (int64_t k = 0; k < w.kernel; ++k) seen[static_cast<size_t>(at * w.kernel + k)] = window.seen(at, k);
  for (int64_t image = 0; image < input.dim(0) * w.groups; ++image)
    for (int64_t first = 0; first < places; first += kRowsAtOnce) {
      Matrix rows = Matrix::zeros(std::min(kRowsAtOnce, places - first), w.columns);
      for (int64_t r = 0; r < rows.rows; ++r)
        for (int64_t c = 0; c < channels; ++c) {
          const float* channel = numbers.data() + (image * channels + c) * pixels;
          for (int64_t k = 0; k < w.kernel; ++k) {
            const int64_t element = seen[static_cast<size_t>((first + r) * w.kernel + k)];
            if (element >= 0) rows.at(r, c * w.kernel + k) = channel[element];
          }
        }
      see(image % w.groups, rows);
    }
}

}  // namespace

int data_operand(const Weight& weight) { return weight.operand == 0 ? 1 : 0; }

bool turns_data(const Weight& weight, const Node& reader) {
  const bool product = weight.op == "MatMul" || weight.op == "Gemm";
  return product && NodeView(reader, 0).get_int(weight.operand == 0 ? "transB" : "transA", 0) != 0;
}

std::string features_problem(const Weight& weight) {
  for (const Node* reader : weight.readers)
    if (reader->graph()->owner) return "it runs in the body of If, Loop or Scan, where nothing is observed";
  if (weight.op == "Conv") return {};
  if (weight.op == "Gather") return "it is looked up, not multiplied by";
  if (weight.op == "ConvTranspose") return "what a transposed convolution is given is not gathered by its kernel";
  if (weight.op != "MatMul" && weight.op != "Gemm" && weight.operand == 2)
    return "what it is given are its own states, which are not observed";
  if (weight.groups > 1 && weight.op == "MatMul") return "it is a batch of matrices";
  return {};
}

void each_features(const Weight& weight, const Node& reader, const Tensor& input, const See& see) {
  if (weight.op == "Conv") return see_patches(weight, reader, input, see);
  const bool turn = turns_data(weight, reader) != (weight.operand == 0);
  std::vector<float> numbers = to_floats(input);
  const bool vector = input.rank() < 2;  // MatMul takes one as a row, or as a column
  if (static_cast<int64_t>(numbers.size()) % weight.columns != 0)
    input_error(fmt::format("{} numbers are no rows of {}", numbers.size(), weight.columns), reader.label());
  see_rows(turn && !vector ? turned(numbers, input.dims()) : numbers, weight.columns, see);
}

}  // namespace mlopt
