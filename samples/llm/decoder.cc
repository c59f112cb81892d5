#include "samples/llm/decoder.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/base/rng.h"

namespace mlopt::stories {
namespace {

constexpr std::array<const char*, 8> kNames = {"anna", "bob", "carla", "dino", "emma", "fred", "gina", "hugo"};
constexpr std::array<const char*, 6> kThings = {"apple", "book", "coin", "shell", "stamp", "stone"};
constexpr std::array<const char*, 10> kNumbers = {"no",   "one", "two",   "three", "four",
                                                  "five", "six", "seven", "eight", "nine"};
constexpr int64_t kBytes = 256;

std::string amount(size_t count, const char* thing) {
  return fmt::format("{} {}{}", kNumbers[count], thing, count == 1 ? "" : "s");
}

/// Puts a transformer together.
class Writer {
 public:
  Writer(const Shape& shape, uint64_t seed) : shape_(shape), rng_(seed) {
    model_.ir_version = 8;
    model_.set_opset("", 17);
    graph_.name = "stories";
  }

  Model run() {
    Value* tokens = graph_.add_input("tokens", Type::tensor(DType::kI64, SymDims{Dim::symbol("N"), shape_.length}));
    Value* x = op("Gather", {random("embedding", {kBytes, shape_.width}, 0.1), tokens});
    x = op("Add", {x, random("position", {shape_.length, shape_.width}, 0.1)});
    for (int64_t i = 0; i < shape_.blocks; ++i) {
      prefix_ = fmt::format("block{}.", i);
      x = op("Add", {x, attention(normalized(x, "norm1"))});
      x = op("Add", {x, thought(normalized(x, "norm2"))});
    }
    prefix_.clear();
    Value* y = op("MatMul", {normalized(x, "norm"), random("head", {shape_.width, kBytes})}, {}, "logits");
    y->type = Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), shape_.length, kBytes});
    graph_.add_output(y);
    return std::move(model_);
  }

 private:
  Value* op(const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {},
            const std::string& output = {}) {
    const std::string called = output.empty() ? fmt::format("{}{}{}", prefix_, name, ++count_) : output;
    Node* node = graph_.add_op(name, std::move(inputs), std::move(attrs), nullptr, called);
    node->name = node->output(0)->name;
    return node->output(0);
  }

  /// Normal numbers; by default such that a product with them keeps the size of what it is given.
  Value* random(const char* name, const Dims& dims, double deviation = 0) {
    std::vector<float> numbers(static_cast<size_t>(element_count(dims)));
    const double spread = deviation > 0 ? deviation : 1 / std::sqrt(static_cast<double>(dims[0]));
    for (float& x : numbers) x = static_cast<float>(spread * rng_.normal());
    return graph_.add_constant(prefix_ + name, Tensor::of<float>(dims, numbers));
  }

  Value* constant(const char* name, Tensor tensor) { return graph_.add_constant(prefix_ + name, std::move(tensor)); }

  Value* normalized(Value* x, const std::string& name) {
    const std::vector<float> ones(static_cast<size_t>(shape_.width), 1), zeros(static_cast<size_t>(shape_.width), 0);
    Value* scale = constant((name + ".scale").c_str(), Tensor::of<float>({shape_.width}, ones));
    Value* bias = constant((name + ".bias").c_str(), Tensor::of<float>({shape_.width}, zeros));
    return op("LayerNormalization", {x, scale, bias}, {{"axis", int64_t{-1}, {}}});
  }

  Value* by_heads(Value* x, const char* name, std::vector<int64_t> order) {
    x = op("MatMul", {x, random(name, {shape_.width, shape_.width})});
    x = op("Reshape", {x, constant("heads", Tensor::ints({0, 0, shape_.heads, shape_.width / shape_.heads}))});
    return op("Transpose", {x}, {{"perm", std::move(order), {}}});
  }

  /// Each byte looks at those before it.
  Value* attention(Value* x) {
    Value *queries = by_heads(x, "queries", {0, 2, 1, 3}), *keys = by_heads(x, "keys", {0, 2, 3, 1}),
          *values = by_heads(x, "values", {0, 2, 1, 3});
    const double per_head = static_cast<double>(shape_.width) / static_cast<double>(shape_.heads);
    Value* scale = constant("scale", Tensor::scalar(static_cast<float>(1 / std::sqrt(per_head))));
    Value* scores = op("Mul", {op("MatMul", {queries, keys}), scale});
    scores = op("Add", {scores, constant("mask", mask())});
    Value* seen = op("MatMul", {op("Softmax", {scores}, {{"axis", int64_t{-1}, {}}}), values});
    seen = op("Transpose", {seen}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, {}}});
    seen = op("Reshape", {seen, constant("together", Tensor::ints({0, 0, shape_.width}))});
    return op("MatMul", {seen, random("attended", {shape_.width, shape_.width})});
  }

  Tensor mask() const {
    constexpr float kNever = -10000;
    Tensor numbers = Tensor::zeros(DType::kF32, {shape_.length, shape_.length});
    auto* at = numbers.mutable_data<float>();
    for (int64_t i = 0; i < shape_.length; ++i)
      for (int64_t k = i + 1; k < shape_.length; ++k) at[i * shape_.length + k] = kNever;
    return numbers;
  }

  Value* thought(Value* x) {
    const int64_t wide = 4 * shape_.width;
    x = op("Relu", {op("MatMul", {x, random("up", {shape_.width, wide})})});
    return op("MatMul", {x, random("down", {wide, shape_.width})});
  }

  const Shape& shape_;
  Rng rng_;
  Model model_;
  Graph& graph_ = *model_.graph;
  std::string prefix_;
  int count_ = 0;
};

}  // namespace

std::string text(int64_t count, uint64_t seed) {
  Rng rng(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(rng.uniform() * static_cast<double>(limit)); };
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    const size_t has = 1 + below(kNumbers.size() - 1), gives = 1 + below(has), who = below(kNames.size());
    const size_t other = (who + 1 + below(kNames.size() - 1)) % kNames.size();
    const char* thing = kThings[below(kThings.size())];
    all += fmt::format("{} has {} and gives {} to {}. {} has {} left.\n", kNames[who], amount(has, thing),
                       kNumbers[gives], kNames[other], kNames[who], amount(has - gives, thing));
  }
  return all;
}

Model decoder(const Shape& shape, uint64_t seed) { return Writer(shape, seed).run(); }

}  // namespace mlopt::stories
