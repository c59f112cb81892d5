#include "quantize/emit/weight_writer.h"

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "quantize/store_weights.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {

TEST_CASE("a matrix of one column or one row keeps its shape") {
  for (const Dims& dims : {Dims{1024, 1}, Dims{1, 1024}})
    for (const char* format : {"w8", "w4", "w2", "codebook4", "codebook4:per_tensor"}) {
      test::Net net;
      net.output(net.op("MatMul", {net.input({3, dims[0]}), net.constant(test::uniform(dims, -0.2, 0.3))}));
      infer(net.model);
      const std::string join = std::string(format).find(':') == std::string::npos ? ":" : ";";
      const auto stored = [&](const char* more) {
        Model model = clone(net.model);
        Emitted made = store_weights(model, parse_spec(format + join + more), {});
        infer(model);
        CHECK(verify(model).empty());
        return std::pair(std::move(model), std::move(made.left));
      };
      INFO(dims[0] << ' ' << format);
      const Model expected = stored("emit=fake").first;
      CHECK(test::changed_by(expected, stored("emit=gather").first).sqnr_db > 110);
      for (const char* more : {"accuracy_level=0", "target=onnx"}) {
        const auto [model, left] = stored(more);
        // Left where a scale for each number takes more than the codes save.
        const bool pays = dims[1] == 1 || std::string(format).ends_with("tensor");
        CHECK(left.empty() == pays);
        if (pays) CHECK(test::changed_by(expected, model).sqnr_db > 110);
      }
    }
}

}  // namespace mlopt::quantize
