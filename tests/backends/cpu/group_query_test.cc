#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

constexpr int64_t kBatch = 2;

struct Sizes {
  int64_t heads = 6, kv_heads = 2, size = 8;
};

OpOptions options(const Sizes& s, std::vector<Attr> more = {}, int outputs = 3) {
  OpOptions made{.attrs = std::move(more), .domain = "com.microsoft", .outputs = outputs};
  made.attrs.push_back(attr("num_heads", static_cast<int>(s.heads)));
  made.attrs.push_back(attr("kv_num_heads", static_cast<int>(s.kv_heads)));
  return made;
}

/// New tokens after a cache of `past` rows, of which the samples have so many keys in all, `total` at most.
struct Prompt {
  int64_t rows, past;
  std::vector<double> keys;
  int64_t total;
};

std::vector<Datum> inputs(const Sizes& s, const Prompt& p, bool packed) {
  const Dims cache{kBatch, s.kv_heads, p.past, s.size};
  std::vector<double> last = p.keys;
  for (double& key : last) key -= 1;
  std::vector<Datum> made(7);
  const auto part = [](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); };
  made[0] = part({kBatch, p.rows, (packed ? s.heads + 2 * s.kv_heads : s.heads) * s.size}, 1);
  if (!packed) {
    made[1] = part({kBatch, p.rows, s.kv_heads * s.size}, 2);
    made[2] = part({kBatch, p.rows, s.kv_heads * s.size}, 3);
  }
  if (p.past > 0) {
    made[3] = part(cache, 4);
    made[4] = part(cache, 5);
  }
  made[5] = tensor({kBatch}, last, DType::kI32);
  made[6] = tensor({}, {static_cast<double>(p.total)}, DType::kI32);
  return made;
}

/// The same with tables of cosines and sines of 40 positions, for the first `turned` elements of a head.
std::vector<Datum> rotated(std::vector<Datum> made, int64_t turned) {
  made.push_back(uniform({40, turned / 2}, -1, 1, DType::kF32, 6));
  made.push_back(uniform({40, turned / 2}, -1, 1, DType::kF32, 7));
  return made;
}

std::vector<Datum> with(std::vector<Datum> made, size_t at, Datum input) {
  if (made.size() <= at) made.resize(at + 1);
  made[at] = std::move(input);
  return made;
}

/// How many keys there are must be known ahead.
void check(const std::vector<Datum>& given, OpOptions how) {
  how.fixed = true;
  require_as_reference("GroupQueryAttention", given, how, 2e-5);
}

/// What comes before new rows: nothing, padding behind them, a token more, a cache that is longer than what is in it.
const std::vector<Prompt> kPrompts{{5, 0, {5, 5}, 5},  {5, 0, {3, 5}, 5},     {1, 37, {38, 20}, 38},
                                   {2, 12, {7, 9}, 9}, {3, 12, {10, 15}, 15}, {70, 0, {70, 33}, 70}};

}  // namespace

TEST_CASE("groups of queries attend over a cache that grows") {
  const Sizes s;
  for (const Prompt& p : kPrompts) {
    for (const bool packed : {false, true}) {
      INFO(p.rows << " rows after " << p.past << (packed ? ", packed" : ""));
      for (const int outputs : {1, 3}) check(inputs(s, p, packed), options(s, {}, outputs));
      check(inputs(s, p, packed), options(s, {attr("scale", 0.3f), attr("softcap", 0.4f)}));
      check(inputs(s, p, packed), options(s, {attr("local_window_size", 4)}));
    }
  }
}

TEST_CASE("queries and keys are turned by their positions, or by given ones") {
  const Sizes s;
  const Attr turn = attr("do_rotary", 1);
  for (const Prompt& p : kPrompts) {
    if (p.total > 40) continue;
    for (const bool packed : {false, true}) {
      INFO(p.rows << " rows after " << p.past << (packed ? ", packed" : ""));
      const std::vector<Datum> all = rotated(inputs(s, p, packed), 8), some = rotated(inputs(s, p, packed), 6);
      check(all, options(s, {turn}));
      check(all, options(s, {turn, attr("rotary_interleaved", 1)}));
      check(some, options(s, {turn}, 1));
      std::vector<int64_t> places;
      for (int64_t i = 0; i < kBatch * p.rows; ++i) places.push_back((7 * i + 3) % 40);
      check(with(all, 9, Tensor::ints(places).reshaped({kBatch, p.rows})), options(s, {turn}));
    }
  }
}

TEST_CASE("a mask is added to what a window and later keys leave, and a sink takes its share") {
  const Sizes s;
  for (const Prompt& p : kPrompts) {
    INFO(p.rows << " rows after " << p.past);
    const int64_t keys = std::max(p.past, p.total);
    const auto plain = inputs(s, p, true);
    for (const Dims& dims : {Dims{1, 1, p.rows, keys}, Dims{kBatch, s.heads, p.rows, keys}}) {
      const auto masked = with(plain, 10, uniform(dims, -2, 2, DType::kF32, 8));
      check(masked, options(s, {}));
      check(masked, options(s, {attr("softcap", 0.4f), attr("local_window_size", 3)}));
    }
    Tensor hidden = Tensor::zeros(DType::kF32, {1, 1, p.rows, keys});
    std::fill_n(hidden.mutable_data<float>(), keys, -1e9f);
    check(with(plain, 10, hidden), options(s, {attr("local_window_size", 3)}));
    check(with(plain, 10, hidden), options(s));
    check(plain, options(s, {attr("smooth_softmax", 1)}));
    check(with(plain, 11, uniform({s.heads}, -1, 3, DType::kF32, 9)), options(s, {attr("local_window_size", 2)}));
  }
}

TEST_CASE("heads of any size, and long prompts that several threads share") {
  const Prompt p{150, 0, {150, 101}, 150};
  for (const Sizes& s : {Sizes{1, 1, 1}, Sizes{3, 3, 5}, Sizes{8, 2, 64}, Sizes{4, 1, 80}}) {
    INFO(s.heads << " heads of " << s.size);
    check(inputs(s, p, false), options(s));
    check(inputs(s, p, true), options(s, {attr("local_window_size", 40)}));
  }
}

}  // namespace mlopt::test
