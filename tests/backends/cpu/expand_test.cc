#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

void require_repeated(const std::string& op, const Dims& dims, const std::vector<int64_t>& by, DType type) {
  INFO(op << " of " << to_string(dims) << " by " << to_string(by) << ", " << name(type));
  Net net;
  Value* x = net.op("Cast", {net.input(dims)}, {{"to", static_cast<int64_t>(type), ""}});
  Value* y = net.op(op, {x, net.constant(Tensor::ints(by))});
  net.output(net.op("Cast", {y}, {{"to", int64_t{1}, ""}}));
  require_same_result(net.model, 0, true);
}

}  // namespace

TEST_CASE("axes of one element repeat, and new ones come in front") {
  for (const DType type : {DType::kF32, DType::kF64, DType::kF16}) {
    require_repeated("Expand", {3, 1, 4}, {3, 5, 4}, type);
    require_repeated("Expand", {3, 1, 1}, {2, 3, 5, 7}, type);
    require_repeated("Expand", {1, 4}, {6, 1}, type);
    require_repeated("Expand", {3, 4}, {1, 1}, type);
    require_repeated("Expand", {1, 4, 1, 6, 8}, {1, 4, 3, 6, 8}, type);
    require_repeated("Expand", {2, 3, 1, 1}, {2, 3, 5, 4}, type);
  }
}

TEST_CASE("whole tensors are tiled") {
  for (const DType type : {DType::kF32, DType::kF64, DType::kF16}) {
    require_repeated("Tile", {3, 4}, {2, 1}, type);
    require_repeated("Tile", {3, 4}, {2, 3}, type);
    require_repeated("Tile", {3, 4}, {1, 1}, type);
    require_repeated("Tile", {2, 1, 3, 2}, {1, 5, 2, 2}, type);
  }
}

TEST_CASE("what repeats may be channels-last") {
  Net net;
  Value* x = net.conv(net.input({1, 3, 6, 5}), 3, 4);
  Value* mean = net.op("GlobalAveragePool", {x});
  Value* wide = net.op("Expand", {mean, net.constant(Tensor::ints({1, 4, 6, 5}))});
  Value* tiled = net.op("Tile", {x, net.constant(Tensor::ints({1, 2, 1, 3}))});
  net.output(net.conv(net.op("Add", {x, wide}), 4, 3));
  net.output(net.conv(tiled, 8, 3));
  require_same_result(net.model, 1e-4, true);
}

}  // namespace mlopt::test
