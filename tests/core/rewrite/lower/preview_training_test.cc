#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Two tensors, of which each update has `moments`.
std::string graph(const std::string& call, int moments, const std::string& count = "3") {
  std::string inputs = "double r", outputs, given = "r, n", made;
  const std::string lists[] = {"x", "g", "v", "h"};
  for (int list = 0; list < 2 + moments; ++list)
    for (const char* size : {"3", "2"}) {
      const std::string name = lists[list] + size, type = "double[" + std::string(size) + "] ";
      // Moments are squares: of a constant they are not negative.
      inputs += ", " + type + (list >= 2 ? "V" + name : name);
      given += ", " + (list >= 2 ? "V" + name : name);
      if (list == 1) continue;
      outputs += (outputs.empty() ? "" : ", ") + type + "o" + name;
      made += (made.empty() ? "o" : ", o") + name;
    }
  return "g (" + inputs + ") => (" + outputs + ") <int64 n = {" + count + "}> { " + made +
         " = ai.onnx.preview.training." + call + " (" + given + ") }";
}

void require_lowered(const std::string& text) {
  Model model = test::fixture(text, 21);
  model.set_opset("ai.onnx.preview.training", 1);
  CHECK(test::rewritten(lower::preview_training, model, 1e-6, Target::kKernels).find("Sub") != std::string::npos);
}

}  // namespace

TEST_CASE("updates become arithmetic") {
  for (const char* count : {"0", "3"}) {
    require_lowered(graph("Adagrad <decay_factor = 0.1, norm_coefficient = 0.01>", 1, count));
    require_lowered(
        graph("Adam <alpha = 0.8, beta = 0.9, norm_coefficient = 0.01, norm_coefficient_post = 0.02>", 2, count));
    for (const char* mode : {"standard", "nesterov"})
      require_lowered(
          graph("Momentum <alpha = 0.9, beta = 0.7, norm_coefficient = 0.01, mode = \"" + std::string(mode) + "\">", 1,
                count));
  }
}
