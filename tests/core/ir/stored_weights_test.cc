#include "core/ir/stored_weights.h"

#include "core/tensor/codes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Its weights, or why there are none; `edit` changes the node before.
template <class Edit>
Expected<StoredWeights> read(const std::string& op, std::vector<Tensor> constants, std::vector<Attr> attrs,
                             const Edit& edit) {
  Net net;
  std::vector<Value*> inputs{net.input({1, 8})};
  for (Tensor& t : constants) inputs.push_back(net.constant(std::move(t)));
  Node* node = net.graph().add_op(op, inputs, std::move(attrs), nullptr, "y", 1, "com.microsoft");
  edit(*node, net);
  return stored_weights(NodeView(*node, 1));
}

/// Two rows of 20 numbers in blocks of 16.
template <class Edit>
Expected<StoredWeights> nbits(const Edit& edit, int64_t bits = 4) {
  return read("MatMulNBits",
              {uniform({2, 2, 16 * bits / 8}, 0, 255, DType::kU8, 3), tensor({2, 2}, {0.5, 1, 2, 4}),
               uniform({2, (2 * bits + 7) / 8}, 0, 255, DType::kU8, 4)},
              {{"N", int64_t{2}, ""}, {"K", int64_t{20}, ""}, {"block_size", int64_t{16}, ""}, {"bits", bits, ""}},
              edit);
}

/// Three rows of 24 numbers, in blocks of 16 that run across them.
template <class Edit>
Expected<StoredWeights> bnb4(int64_t kind, const Edit& edit) {
  return read(
      "MatMulBnb4", {uniform({36}, 0, 255, DType::kU8, 3), uniform({5}, 1, 2)},
      {{"N", int64_t{3}, ""}, {"K", int64_t{24}, ""}, {"block_size", int64_t{16}, ""}, {"quant_type", kind, ""}}, edit);
}

const auto kAsItIs = [](Node&, Net&) {};

}  // namespace

TEST_CASE("numbers of MatMulNBits are its codes without zero points, times scales") {
  const int64_t bits = GENERATE(2, 4, 8);
  const auto w = nbits(kAsItIs, bits);
  REQUIRE(w);
  const auto width = static_cast<int>(bits);
  const Tensor codes = uniform({2, 4 * bits}, 0, 255, DType::kU8, 3),
               zeros = uniform({2, (2 * bits + 7) / 8}, 0, 255, DType::kU8, 4);
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t c = 0; c < 20; ++c) {
      const int code = code_at(codes.data<uint8_t>() + r * 4 * bits, width, c);
      const int zero = code_at(zeros.data<uint8_t>() + r * zeros.dim(1), width, c / 16);
      CHECK(w->at(r, c) == static_cast<float>((code - zero) * (r == 0 ? 0.5 : 2) * (c < 16 ? 1 : 2)));
    }
}

TEST_CASE("zero points may be numbers, or those in the middle") {
  const auto numbers = nbits([](Node& n, Net& net) {
    net.graph().set_input(&n, 3, net.constant(tensor({2, 2}, {1.5, 2, 3, 4})));
  });
  REQUIRE(numbers);
  CHECK(numbers->zeros.data<float>()[0] == 1.5f);
  const auto middle = nbits([](Node& n, Net& net) { net.graph().set_input(&n, 3, nullptr); });
  REQUIRE(middle);
  CHECK(middle->zeros.data<float>()[3] == 8);
}

TEST_CASE("numbers of MatMulBnb4 are levels times the scales of blocks that run across rows") {
  const int64_t kind = GENERATE(0, 1);
  const auto w = bnb4(kind, kAsItIs);
  REQUIRE(w);
  const Tensor codes = uniform({36}, 0, 255, DType::kU8, 3), scales = uniform({5}, 1, 2);
  for (int64_t i = 0; i < 72; ++i) {
    const int byte = codes.data<uint8_t>()[i / 2], code = i % 2 == 0 ? byte >> 4 : byte & 15;
    const float level = (kind == 1 ? kNF4 : kFP4)[static_cast<size_t>(code)];
    CHECK(w->at(i / 24, i % 24) == level * scales.data<float>()[i / 16]);
  }
}

TEST_CASE("rows of accuracy level 4 are rounded block by block, to 255 steps around zero") {
  const std::vector<float> x = {1, -127, 63.4f, 0.5f, 0, 0, 0, 0, -0.3f};
  std::vector<float> out(x.size());
  round_row(x.data(), std::ssize(x), 4, out.data());
  CHECK(out == std::vector<float>{1, -127, 63, 0, 0, 0, 0, 0, -0.3f});  // halves to the even
}

TEST_CASE("only the accuracy level 4 rounds rows, and not for blocks that ONNX Runtime has no kernel for") {
  const auto rounds = [](int64_t bits, int64_t block, int64_t level) {
    Net net;
    const Node* node =
        net.graph().add_op("MatMulNBits", {net.input({1, 8})},
                           {{"bits", bits, ""}, {"block_size", block, ""}, {"accuracy_level", level, ""}}, nullptr, "y",
                           1, "com.microsoft");
    return rounds_rows(NodeView(*node, 1));
  };
  CHECK(rounds(4, 16, 4));
  CHECK(rounds(8, 256, 4));
  CHECK(rounds(2, 32, 4));
  CHECK_FALSE(rounds(4, 32, 0));
  CHECK_FALSE(rounds(4, 32, 1));
  CHECK_FALSE(rounds(2, 16, 4));
  CHECK_FALSE(rounds(2, 256, 4));
}

TEST_CASE("weights that are not what the attributes say are declined") {
  const auto reason = [](const auto& made) { return made ? std::string() : made.error().reason; };
  const auto with = [](const char* name, int64_t value) { return [=](Node& n, Net&) { n.set_attr(name, value); }; };
  CHECK(reason(nbits(with("K", 80))).find("sizes") != std::string::npos);
  CHECK(reason(nbits(with("N", int64_t{1} << 40))).find("odd") != std::string::npos);
  CHECK(reason(nbits(with("block_size", 0))).find("odd") != std::string::npos);
  CHECK(reason(nbits(with("block_size", 12))).find("whole bytes") != std::string::npos);
  CHECK(reason(nbits(with("bits", 3))).find("odd") != std::string::npos);
  CHECK(reason(nbits([](Node& n, Net& net) {
          net.graph().set_input(&n, 2, net.graph().add_input("s", Type::tensor(DType::kF32, SymDims{2, 2})));
        })).find("constant") != std::string::npos);
  CHECK(reason(nbits([](Node& n, Net& net) {
          net.graph().set_input(&n, 3, net.constant(tensor({1}, {1})));
        })).find("zero points") != std::string::npos);
  CHECK(reason(nbits([](Node& n, Net& net) {
          net.graph().set_input(&n, 4, net.constant(tensor({20}, std::vector<double>(20), DType::kI32)));
        })).find("name their blocks") != std::string::npos);
  CHECK(reason(bnb4(1, with("quant_type", 2))).find("odd") != std::string::npos);
  CHECK(reason(bnb4(1, with("K", 48))).find("sizes") != std::string::npos);
}

}  // namespace mlopt::test
