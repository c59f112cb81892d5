#include <fmt/core.h>

#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/calib/score.h"
#include "core/data/open.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/testdata.h"

namespace mlopt {
namespace {

/// A trained model on a small part of its data, and what ONNX Runtime 1.31 scores on the same samples (prepared by
/// Pillow).
struct Case {
  const char* model;
  const char* data;  ///< D/ stands for the folder of data
  const char* metric;
  double expected;
  double tolerance;
};

const Case kCases[] = {
    {"cls_mnist_cntk_op7.onnx",
     "idx:D/mnist_t10k_first8000-images-idx3-ubyte.gz,D/mnist_t10k_first8000-labels-idx1-ubyte.gz,split=0:300", "top1",
     297.0 / 300, 1e-9},
    {"cls_cifar10_cnn_op10.onnx", "images:D/cifar10_test_dev1000.tar,mean=0.5,std=0.5,per-class=5", "top1", 32.0 / 50,
     1e-9},
    {"tab_iris_mlp_op11.onnx", "csv:D/iris.csv", "top1", 147.0 / 150, 1e-9},
    {"trained/cifar_resnet20.onnx",
     "images:D/cifar10_test_dev1000.tar,mean=0.4914/0.4822/0.4465,std=0.247/0.2435/0.2616,per-class=4", "top1",
     36.0 / 40, 1e-9},
    {"trained/cifar_vgg_bn.onnx",
     "images:D/cifar10_test_dev1000.tar,mean=0.4914/0.4822/0.4465,std=0.247/0.2435/0.2616,per-class=4", "top5",
     39.0 / 40, 1e-9},
};

std::string with_folder(std::string spec, const std::string& folder) {
  for (size_t at; (at = spec.find("D/")) != std::string::npos;) spec.replace(at, 2, folder + "/");
  return spec;
}

}  // namespace

TEST_CASE("trained models score what ONNX Runtime scores") {
  const auto folder = test::testdata();
  if (!folder) return test::skip("the folder of test data is absent (set MLOPT_TESTDATA)");
  const std::unique_ptr<Backend> backends[] = {reference_backend(), test::cpu_with_fallback()};
  for (const Case& c : kCases) {
    const Model model = read_model(*folder / "models" / c.model);
    const auto data = open_dataset(parse_data_spec(with_folder(c.data, *folder / "data")), model_inputs(model), {});
    for (const auto& backend : backends) {
      INFO(c.model << " on " << backend->name() << ", " << c.data);
      const auto plan = backend->compile(model, {});
      const Score score = score_model(*plan, *data, {.metric = c.metric, .output = {}, .batch = 0, .progress = {}});
      CHECK(score.value == Approx(c.expected).margin(c.tolerance));
    }
  }
}

}  // namespace mlopt
