#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

constexpr int64_t kBatch = 2, kHeads = 6, kKeyHeads = 2, kSize = 8;

Tensor part(Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); }

OpOptions options(std::vector<Attr> more = {}) {
  OpOptions made{.attrs = std::move(more), .domain = "com.microsoft", .outputs = 3};
  made.attrs.push_back(attr("num_heads", int{kHeads}));
  made.attrs.push_back(attr("kv_num_heads", int{kKeyHeads}));
  return made;
}

/// Inputs for `rows` new tokens after a cache of `past`, of which those samples have so many keys in all.
std::vector<Datum> inputs(int64_t rows, int64_t past, const std::vector<double>& keys, int64_t total, bool packed) {
  const Dims cache{kBatch, kKeyHeads, past, kSize};
  std::vector<double> last = keys;
  for (double& key : last) key -= 1;
  std::vector<Datum> made(7);
  made[0] = part({kBatch, rows, (packed ? kHeads + 2 * kKeyHeads : kHeads) * kSize}, 1);
  if (!packed) {
    made[1] = part({kBatch, rows, kKeyHeads * kSize}, 2);
    made[2] = part({kBatch, rows, kKeyHeads * kSize}, 3);
  }
  if (past > 0) {
    made[3] = part(cache, 4);
    made[4] = part(cache, 5);
  }
  made[5] = tensor({kBatch}, last, DType::kI32);
  made[6] = tensor({}, {static_cast<double>(total)}, DType::kI32);
  return made;
}

/// The same with tables of cosines and sines.
std::vector<Datum> turned(std::vector<Datum> made) {
  made.push_back(part({40, kSize / 2}, 6));
  made.push_back(part({40, kSize / 2}, 7));
  return made;
}

}  // namespace

TEST_CASE("groups of queries on a GPU attend over a cache that grows") {
  for (const bool packed : {false, true}) {
    INFO((packed ? "packed" : "apart"));
    require_on_gpu("GroupQueryAttention", inputs(5, 0, {5, 5}, 5, packed), options());      // a prompt
    require_on_gpu("GroupQueryAttention", inputs(5, 0, {3, 5}, 5, packed), options());      // with padding
    require_on_gpu("GroupQueryAttention", inputs(1, 37, {38, 20}, 38, packed), options());  // a token
    require_on_gpu("GroupQueryAttention", inputs(2, 12, {7, 9}, 9, packed), options());     // a longer cache
    require_on_gpu("GroupQueryAttention", turned(inputs(5, 0, {5, 5}, 5, packed)), options({attr("do_rotary", 1)}));
    const std::vector<Attr> all{attr("do_rotary", 1), attr("rotary_interleaved", 1), attr("scale", 0.3f),
                                attr("softcap", 2.0f), attr("local_window_size", 4)};
    require_on_gpu("GroupQueryAttention", turned(inputs(3, 12, {10, 15}, 15, packed)), options(all));
  }
}

TEST_CASE("lengths and positions that cannot be are errors of groups of queries on a GPU") {
  const auto refuses = [](const std::vector<Datum>& made, const OpOptions& how) {
    const auto plan = gpu_on_host()->compile(one_node("GroupQueryAttention", made, how, 6), {});
    std::vector<Datum> given;
    for (const Datum& input : std::span(made).first(6))
      if (!input.is_none()) given.push_back(input);
    CHECK_THROWS_AS(plan->run(given), Error);
  };
  refuses(inputs(5, 0, {5, 6}, 5, false), options());  // more keys than the longest has
  refuses(inputs(2, 12, {9, 10}, 9, false), options());
  refuses(inputs(2, 12, {9, 1}, 9, false), options());  // fewer than are new
  refuses(inputs(5, 0, {5, 0}, 5, false), options());
  std::vector<Datum> beyond = turned(inputs(1, 45, {46, 20}, 46, false));
  refuses(beyond, options({attr("do_rotary", 1)}));  // the table has 40 rows
  beyond = turned(inputs(1, 12, {13, 9}, 13, false));
  beyond.push_back(tensor({kBatch, 1}, {12, -1}, DType::kI64));
  refuses(beyond, options({attr("do_rotary", 1)}));
}

}  // namespace mlopt::test
