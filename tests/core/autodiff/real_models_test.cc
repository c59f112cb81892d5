#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/autodiff/grad.h"
#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/bind.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/in_double.h"
#include "tests/support/testdata.h"

namespace mlopt::test {
namespace {

/// Models whose gradients are refused. In order: the weights are int8; the only output is the number of a class; Quant
/// of another domain has no type rule; the network lies in the branches of an If.
const std::vector<std::string> kRefused = {
    "cls_mobilenetv2_qdq_int8/model.onnx: no weight has a gradient",
    "g2p_en_rnnt/g2p.onnx: no float output",
    "qonnx_mnist_tfc_2w2a.onnx: no gradient: the shape of 'Mul' depends on data at ReduceMean giving 'ReduceMean'",
    "vad_silero_16k_op15.onnx: no gradient: the shape of 'ReduceMean' depends on data at Add giving 'Add'",
    "vad_silero_micro_transformer_op11.onnx: no gradient: the shape of 'Mul' depends on data at ReduceMean giving "
    "'ReduceMean'",
    "vad_silero_v5_op16.onnx: no weight has a gradient",
};

/// What the model's free dimensions and symbols are bound to, apart from a batch of 2.
const std::map<std::string, std::vector<const char*>> kShapes = {
    {"g2p_en_rnnt/g2p.onnx", {"src=1x4", "tgt=1x3"}},
    {"ocr_ppocr_det_mobile_v1.1_op11.onnx", {"image=2x3x64x64"}},
    {"vad_silero_16k_op15.onnx", {"input=2x512"}},
    {"vad_silero_micro_transformer_op11.onnx", {"input=2x1536"}},
    {"vad_silero_v5_op16.onnx", {"input=2x512", "state=2x2x128"}},
};

Value* added(Model& model, const std::string& op, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) {
  Node* node = model.graph->add_op(op, std::move(inputs), std::move(attrs));
  infer(model, *node, standard_types);
  return node->output(0);
}

/// The sum of the means of all float outputs' squares.
Value* loss_of(Model& model) {
  Value* loss = nullptr;
  for (Value* out : std::vector(model.graph->outputs())) {
    if (!is_float(out->type.dtype)) continue;
    const Attr keep{"keepdims", int64_t{0}, {}};
    Value* term = added(model, "ReduceMean", {added(model, "Mul", {out, out})}, {keep});
    loss = loss ? added(model, "Add", {loss, term}) : term;
  }
  return loss;
}

/// What may be overridden, and what Constant nodes give, are initializers from now on.
void fix_weights(Graph& graph) {
  for (int i = static_cast<int>(graph.inputs().size()); i-- > 0;)
    if (graph.inputs()[static_cast<size_t>(i)]->constant) graph.remove_input(i);
  for (Node* node : graph.nodes()) {
    if (!node->is("Constant") || !node->output(0)->constant) continue;
    graph.replace_uses(node->output(0), graph.add_constant(node->output(0)->name, *node->output(0)->constant));
    graph.erase(node);
  }
}

/// A model with its shapes bound, its loss, and its matrices and kernels.
struct Problem {
  Model model;
  Value* loss = nullptr;
  std::vector<Value*> weights = {};
};

Problem open(const std::filesystem::path& folder, const std::string& name, int64_t batch, bool in_double) {
  Problem p{read_model((folder / name).string())};
  inline_functions(p.model);
  fix_weights(*p.model.graph);
  if (in_double) to_double(*p.model.graph);
  RandomOptions sizes{.batch = batch};
  if (const auto given = kShapes.find(name); given != kShapes.end())
    for (const char* shape : given->second) add_shape(sizes, shape);
  bind_input_shapes(p.model, concrete_shapes(model_inputs(p.model), sizes), standard_types);
  p.loss = loss_of(p.model);
  for (Value* v : p.model.graph->initializers())
    if (is_float(v->type.dtype) && v->constant->rank() > 1) p.weights.push_back(v);
  return p;
}

/// What the gradients are refused for; "" where there are any.
std::string refusal(const std::filesystem::path& folder, const std::string& name) {
  Problem p = open(folder, name, 2, false);
  if (!p.loss) return "no float output";
  try {
    const std::vector<Value*> grads = add_gradients(p.model, p.loss, p.weights, standard_types);
    verify(p.model);
    return std::ranges::count(grads, nullptr) == std::ssize(grads) ? "no weight has a gradient" : "";
  } catch (const Error& error) {
    return fmt::format("{} at {}", error.message, error.where);
  }
}

/// The loss where the weights lie `step` along `directions`.
double loss_at(const Problem& p, const std::vector<Datum>& inputs, const std::vector<Tensor>& directions, double step) {
  Model moved = clone(p.model);
  for (size_t k = 0; k < directions.size(); ++k) {
    Tensor& w = *moved.graph->find(p.weights[k]->name)->constant;
    for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<double>()[i] += step * directions[k].data<double>()[i];
  }
  moved.graph->add_output(moved.graph->find(p.loss->name));
  return reference_outputs(moved, inputs).back().data<double>()[0];
}

/// The slope of the loss along a random direction of all weights: by the gradients, and by central differences.
std::pair<double, double> slopes(const std::filesystem::path& folder, const std::string& name, double step) {
  Problem p = open(folder, name, 1, true);
  const auto data = random_dataset(model_inputs(p.model), {.count = 1, .seed = 3});
  const std::vector<Datum> inputs = data->batch(0, 1).inputs;
  std::vector<Tensor> directions;
  for (const Value* w : p.weights) directions.push_back(real(w->constant->dims(), -1, 1, directions.size() + 1));
  const double rise = loss_at(p, inputs, directions, step) - loss_at(p, inputs, directions, -step);
  const std::vector<Value*> grads = add_gradients(p.model, p.loss, p.weights, standard_types);
  size_t next = p.model.graph->outputs().size();
  for (Value* grad : grads)
    if (grad) p.model.graph->add_output(grad);
  const std::vector<Tensor> outputs = reference_outputs(p.model, inputs);
  double along = 0;
  for (size_t k = 0; k < grads.size(); ++k) {
    if (!grads[k]) continue;
    const Tensor& grad = outputs[next++];
    for (int64_t i = 0; i < grad.size(); ++i) along += grad.data<double>()[i] * directions[k].data<double>()[i];
  }
  return {along, rise / (2 * step)};
}

/// A model, and a step that is short enough not to cross a kink and long enough to be seen in the loss.
struct Slope {
  const char* model;
  double step = 1e-9;
};

constexpr Slope kSlopes[] = {
    {"cls_cifar10_cnn_op10.onnx"},
    {"cls_mnist_cntk_op7.onnx"},
    {"cls_mnv2_128_050_tf_op15.onnx"},
    {"cls_squeezenet_fp16_op7.onnx"},
    {"denoise_dtln_1_lstm_op11.onnx"},
    {"denoise_dtln_2_lstm_op11.onnx"},
    {"det_yolox_nano_416_op11.onnx"},
    {"face_landmark_lm0_fusedconv.onnx"},
    {"face_mnv3_detection_fusedconv.onnx"},
    {"face_yunet_120x160_op9.onnx"},
    {"pitch_crepe_tiny_op13.onnx"},
    {"seg_deeplabv3_mnv2_257_op9.onnx"},
    {"tab_iris_mlp_op11.onnx"},
    {"text_magika_v3_3/model.onnx", 1e-6},
    {"trained/char_gpt.onnx"},
    {"trained/cifar_resnet20_trainbn.onnx"},
    {"trained/cifar_vgg_bn_trainbn.onnx"},
};

}  // namespace

TEST_CASE("every real float model can be differentiated, but for those that are known not to be") {
  const auto folder = testdata();
  if (!folder) return skip("the folder of test data is absent (set MLOPT_TESTDATA)");
  const std::filesystem::path models = *folder / "models";
  std::vector<std::string> refused;
  for (const auto& file : std::filesystem::recursive_directory_iterator(models)) {
    if (file.path().extension() != ".onnx") continue;
    const std::string name = std::filesystem::relative(file.path(), models).string();
    if (const std::string reason = refusal(models, name); !reason.empty()) refused.push_back(name + ": " + reason);
  }
  std::sort(refused.begin(), refused.end());
  CHECK(refused == kRefused);
}

TEST_CASE("gradients of whole models are the slopes of their losses") {
  const auto folder = testdata();
  if (!folder) return skip("the folder of test data is absent (set MLOPT_TESTDATA)");
  for (const Slope& row : kSlopes) {
    const auto [along, numeric] = slopes(*folder / "models", row.model, row.step);
    INFO(row.model << ": " << along << ", numerically " << numeric);
    CHECK(along == Approx(numeric).epsilon(1e-4));
  }
}

}  // namespace mlopt::test
