#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Reshape to `parted`, Transpose by `perm`, Reshape to `joined`, between two convolutions or by itself.
Net shuffled(const Dims& x, const Dims& parted, const std::vector<int64_t>& perm, const Dims& joined, bool between) {
  Net net;
  Value* v = net.input(x);
  if (between) v = net.conv(v, x[1], x[1]);
  v = net.op("Reshape", {v, net.constant(Tensor::ints(parted))});
  v = net.op("Transpose", {v}, {{"perm", perm, ""}});
  v = net.op("Reshape", {v, net.constant(Tensor::ints(joined))});
  net.output(between ? net.conv(v, joined[1], 4) : v);
  return net;
}

const std::vector<int64_t> kTurned{0, 2, 1, 3, 4};

}  // namespace

TEST_CASE("interleaved channels become one Gather, between operators of any layout") {
  for (const int64_t groups : {1, 2, 3, 4, 12}) {
    INFO(groups << " groups");
    const Dims x{2, 12, 5, 3}, parted{2, groups, 12 / groups, 5, 3};
    const Net alone = shuffled(x, parted, kTurned, x, false), between = shuffled(x, parted, kTurned, x, true);
    REQUIRE(prepared_ops(alone.model) == "Gather 1");
    REQUIRE(prepared_ops(between.model) == "Conv 2, Gather 1");
    require_same_result(alone.model, 0);
    require_same_result(between.model, 1e-4);
  }
  const Net line = shuffled({1, 6, 7}, {1, 2, 3, 7}, {0, 2, 1, 3}, {1, 6, 7}, false);
  REQUIRE(prepared_ops(line.model) == "Gather 1");
  require_same_result(line.model, 0);
}

TEST_CASE("what parts or turns other axes stays as it is") {
  const auto require_kept = [](const Net& net) {
    REQUIRE(prepared_ops(net.model) == "Reshape 2, Transpose 1");
    require_same_result(net.model, 0);
  };
  require_kept(shuffled({2, 12, 4, 4}, {2, 4, 3, 4, 4}, {0, 1, 2, 4, 3}, {2, 12, 4, 4}, false));
  require_kept(shuffled({2, 12, 4, 4}, {2, 4, 3, 4, 4}, kTurned, {2, 3, 16, 4}, false));
  require_kept(shuffled({2, 12, 4, 4}, {2, 12, 2, 2, 4}, kTurned, {2, 12, 4, 4}, false));
}

}  // namespace mlopt::test
