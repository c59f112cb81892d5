#include "core/rewrite/half_rules.h"

#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("constants keep their meaning in half floats") {
  const auto alone = [](float x, DType type) { return number_at(half::rounded(Tensor::scalar(x), type), 0); };
  CHECK(alone(1e-12f, DType::kF16) == 0x1p-24);
  CHECK(alone(-3.4028235e38f, DType::kF16) == -65504);
  CHECK(alone(0, DType::kF16) == 0);
  CHECK(alone(1.0f / 3, DType::kF16) == 0x1.554p-2);
  CHECK(alone(-3.4028235e38f, DType::kBF16) == -0x1.fep127);
  CHECK(alone(-INFINITY, DType::kBF16) == -INFINITY);
  CHECK(alone(1e-12f, DType::kBF16) == Approx(1e-12).epsilon(0x1p-8));
  const Tensor mask = Tensor::of<float>({3}, {0, 3.4028235e38f, -INFINITY});
  CHECK(to_doubles(half::rounded(mask, DType::kBF16)) == std::vector<double>{0, 0x1.fep127, -INFINITY});
  CHECK(half::fits(mask, DType::kBF16));
  CHECK_FALSE(half::fits(mask, DType::kF16));
  CHECK(half::fits(Tensor::of<float>({2}, {65504, -INFINITY}), DType::kF16));
}

TEST_CASE("operators that leave the range of float16 are known, in chains too") {
  Net net;
  net.model.set_opset("mlopt", 1);
  Value* x = net.input({2});
  const auto overflows = [&](const std::string& op, std::vector<Attr> attrs = {}) {
    const std::string domain = op == "Chain" ? "mlopt" : "";
    const Node* node = net.graph().add_op(op, {x}, std::move(attrs), nullptr, "y", 1, domain);
    return std::pair(half::overflows(*node, false), half::overflows(*node, true));
  };
  CHECK(overflows("Exp") == std::pair(true, true));
  CHECK(overflows("ReduceMean") == std::pair(true, false));
  CHECK(overflows("Relu") == std::pair(false, false));
  CHECK(overflows("Chain", {{"ops", std::vector<std::string>{"Neg", "Exp"}, {}}}) == std::pair(true, true));
  CHECK(overflows("Chain", {{"ops", std::vector<std::string>{"Neg", "Relu"}, {}}}) == std::pair(false, false));
  CHECK(overflows("Chain") == std::pair(false, false));
}

}  // namespace mlopt::test
