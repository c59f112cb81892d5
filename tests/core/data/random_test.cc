#include "core/data/random.h"

#include <algorithm>
#include <set>

#include "core/base/memory.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

InputSpec symbolic(const std::string& name, DType dtype, const std::vector<std::string>& dims) {
  InputSpec spec;
  spec.name = name;
  spec.dtype = dtype;
  for (const std::string& d : dims) spec.dims.push_back(d == "?" ? Dim() : Dim::symbol(d));
  return spec;
}

const std::vector<InputSpec> kDecoder = {symbolic("ids", DType::kI64, {"batch", "seq"}),
                                         symbolic("mask", DType::kI64, {"batch", "past + seq"}),
                                         symbolic("cache", DType::kF32, {"batch", "past", "?"})};

}  // namespace

TEST_CASE("free dimensions are 1, or distinct sizes above 1; equal symbols are equal") {
  CHECK(concrete_shapes(kDecoder, {}) == std::vector<Dims>{{1, 1}, {1, 2}, {1, 1, 1}});
  CHECK(concrete_shapes(kDecoder, {.batch = 4}) == std::vector<Dims>{{4, 1}, {4, 2}, {4, 1, 1}});
  const std::vector<Dims> distinct = concrete_shapes(kDecoder, {.distinct = true});
  const int64_t batch = distinct[0][0], seq = distinct[0][1], past = distinct[2][1], unknown = distinct[2][2];
  CHECK(std::set<int64_t>{1, batch, seq, past, unknown}.size() == 5);
  CHECK(distinct[1] == Dims{batch, past + seq});
  const std::vector<Dims> image =
      concrete_shapes({symbolic("x", DType::kF32, {"n", "c", "h", "w"})}, {.distinct = true});
  CHECK(image[0][2] != image[0][3]);
  CHECK(image[0][2] % 32 == 0);
}

TEST_CASE("inputs that together do not fit into memory are refused before the first is made") {
  const int64_t available = available_memory();
  if (available == 0) return;
  const auto half = [&](DType type, int64_t bytes) {
    InputSpec spec = symbolic("x", type, {});
    spec.dims = {Dim(available / bytes * 2 / 3)};
    return spec;
  };
  for (const std::vector<InputSpec>& inputs :
       {std::vector{half(DType::kF32, 4), half(DType::kF32, 4)}, {half(DType::kI8, 4)}, {half(DType::kString, 16)}}) {
    const auto data = random_dataset(inputs, {});
    const Error error = test::thrown_by([&] { data->batch(0, 1); });
    CHECK(error.code == Code::kUnsupported);
    CHECK_THAT(error.message, Catch::Matchers::Contains("for generated inputs"));
  }
}

TEST_CASE("given shapes fix the symbols in them") {
  RandomOptions options;
  add_shape(options, "ids=2x7");
  add_shape(options, "past=5");
  CHECK(concrete_shapes(kDecoder, options) == std::vector<Dims>{{2, 7}, {2, 12}, {2, 5, 1}});
  RandomOptions commas;
  add_shape(commas, "cache=3,4,5");
  CHECK(concrete_shapes(kDecoder, commas)[2] == Dims{3, 4, 5});
}

TEST_CASE("a given shape is that of a sample where a batch is wanted, and no other batch") {
  using Catch::Matchers::Contains;
  RandomOptions options{.batch = 4};
  add_shape(options, "ids=1x7");
  CHECK(concrete_shapes(kDecoder, options) == std::vector<Dims>{{4, 7}, {4, 8}, {4, 1, 1}});
  add_shape(options, "ids=4x7");
  CHECK(concrete_shapes(kDecoder, options)[0] == Dims{4, 7});
  add_shape(options, "ids=2x7");
  CHECK_THAT(test::thrown_by([&] { concrete_shapes(kDecoder, options); }).message, Contains("no batch of 4"));
  RandomOptions symbol{.batch = 4};
  add_shape(symbol, "batch=2");
  CHECK_THAT(test::thrown_by([&] { concrete_shapes(kDecoder, symbol); }).message, Contains("no batch of 4"));
}

TEST_CASE("shapes and ranges that do not fit are usage errors") {
  const auto refused = [](const std::vector<std::string>& shapes, const std::vector<std::string>& ranges = {}) {
    const Error error = test::thrown_by([&] {
      RandomOptions options;
      for (const std::string& text : shapes) add_shape(options, text);
      for (const std::string& text : ranges) add_range(options, text);
      concrete_shapes(kDecoder, options);
    });
    CHECK(error.code == Code::kUsage);
    return std::string(error.what());
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(refused({"idz=2x7"}), Contains("did you mean 'ids'"));
  CHECK_THAT(refused({"ids=2x7x1"}), Contains("does not fit"));
  CHECK_THAT(refused({"ids=2x7", "cache=3x1x1"}), Contains("'batch' would be"));
  CHECK_THAT(refused({"ids"}), Contains("no value for --shape"));
  CHECK_THAT(refused({"ids=2xq"}), Contains("'q' is no dimension"));
  CHECK_THAT(refused({}, {"ids=3"}), Contains("no range"));
  CHECK_THAT(refused({}, {"ids=3:1"}), Contains("no range"));
  CHECK_THAT(refused({}, {"ids=0:inf"}), Contains("no range"));
  CHECK_THAT(refused({}, {"cach=0:1"}), Contains("did you mean 'cache'"));
  RandomOptions huge;
  add_shape(huge, "cache=100000x100000x100000");
  CHECK(test::thrown_by([&] { concrete_shapes(kDecoder, huge); }).code == Code::kBadInput);
}

TEST_CASE("values are seeded and legal") {
  std::vector<InputSpec> inputs = {
      test::input("ids", DType::kI64, {-1, 100}), test::input("lengths", DType::kI32, {-1}),
      test::input("x", DType::kF32, {50, 40}),    test::input("b", DType::kBool, {100}),
      test::input("text", DType::kString, {2}),   test::input("h", DType::kF16, {10})};
  inputs[0].range = ValueRange{3, 6};
  inputs[1].range = ValueRange{1, 1, Dim(100)};
  const auto data = random_dataset(inputs, {.count = 3, .seed = 1, .batch = 8});
  const Batch batch = data->batch(0, 1);
  const std::vector<int64_t> ids = to_ints(batch.inputs[0].tensor());
  CHECK(std::set<int64_t>(ids.begin(), ids.end()) == std::set<int64_t>{3, 4, 5, 6});
  const std::vector<int64_t> lengths = to_ints(batch.inputs[1].tensor());
  CHECK(*std::max_element(lengths.begin(), lengths.end()) > 10);
  CHECK(*std::min_element(lengths.begin(), lengths.end()) >= 1);
  const std::vector<double> x = to_doubles(batch.inputs[2].tensor());
  double sum = 0, squares = 0;
  for (const double v : x) sum += v, squares += v * v;
  CHECK(std::abs(sum / 2000) < 0.1);
  CHECK(squares / 2000 == Approx(1).epsilon(0.1));
  CHECK(batch.inputs[4].tensor().strings()[0].size() >= 1);
  CHECK(batch.inputs[5].tensor().dtype() == DType::kF16);
  CHECK(to_doubles(data->batch(0, 1).inputs[2].tensor()) == x);
  CHECK(to_doubles(data->batch(1, 1).inputs[2].tensor()) != x);
  CHECK(to_doubles(random_dataset(inputs, {.seed = 2})->batch(0, 1).inputs[2].tensor()) != x);
}

TEST_CASE("--range wins over what the graph says") {
  InputSpec x = test::input("x", DType::kF32, {1000});
  x.range = ValueRange{0, 1};
  RandomOptions options;
  add_range(options, "x=-8:-4");
  const std::vector<double> values = to_doubles(random_dataset({x}, options)->batch(0, 1).inputs[0].tensor());
  CHECK(*std::min_element(values.begin(), values.end()) >= -8);
  CHECK(*std::max_element(values.begin(), values.end()) < -4);
}

TEST_CASE("--range of an integer input holds what its type can") {
  const auto values = [](DType type, const std::string& range) {
    RandomOptions options;
    add_range(options, "x=" + range);
    const std::vector<int64_t> all =
        to_ints(random_dataset({test::input("x", type, {1000})}, options)->batch(0, 1).inputs[0].tensor());
    return std::set<int64_t>(all.begin(), all.end());
  };
  const std::set<int64_t> bytes = values(DType::kU8, "200:500");
  CHECK(bytes.size() == 56);
  CHECK(*bytes.begin() == 200);
  CHECK(values(DType::kI4, "-20:-6.5") == std::set<int64_t>{-8, -7});
  CHECK(values(DType::kBool, "0:9") == std::set<int64_t>{0, 1});
  CHECK(*values(DType::kU64, "-5:2").begin() == 0);
  for (const auto& [type, range] :
       {std::pair{DType::kI64, "1.2:1.8"}, {DType::kU8, "256:300"}, {DType::kU4, "-2:-1"}}) {
    const Error error = test::thrown_by([&, type = type, range = range] { values(type, range); });
    CHECK(error.code == Code::kUsage);
    CHECK(test::says(error, "--range x"));
  }
}

TEST_CASE("inputs that are no tensors cannot be made up") {
  InputSpec sequence = test::input("s", DType::kF32, {});
  sequence.tensor = false;
  CHECK(test::says(test::thrown_by([&] { random_dataset({sequence}, {}); }), "'s'"));
}

}  // namespace mlopt
