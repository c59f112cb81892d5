#include "core/calib/calibration_file.h"

#include <fstream>

#include "core/base/file.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

namespace {

constexpr const char* kModel = R"(
<ir_version: 10, opset_import: ["" : 21]>
one_step (float[N,2] x) => (float[N,2] y)
{
  one = Constant <value = float {1}> ()
  y = Sub (x, one)
})";

Calibration seen(uint64_t seed) {
  Calibration calibration;
  calibration.samples = 3;
  calibration.values["a/b"].see(test::uniform({50}, -3, 100, DType::kF32, seed));
  calibration.values["c"].see(Tensor::of<float>({4}, {0, 0, 1, INFINITY}));
  calibration.values["none"] = {};
  return calibration;
}

void require_same(const Calibration& a, const Calibration& b) {
  CHECK(a.samples == b.samples);
  REQUIRE(a.values.size() == b.values.size());
  for (const auto& [name, histogram] : a.values) {
    CHECK(histogram.limits() == b.values.at(name).limits());
    CHECK(histogram.counts() == b.values.at(name).counts());
  }
}

}  // namespace

TEST_CASE("a calibration is found again under its key, and no other") {
  const test::TempDir folder;
  const std::string cache = folder / "kept/here";
  CHECK_FALSE(load_calibration(cache, "k").has_value());
  save_calibration(cache, "k", seen(1));
  require_same(load_calibration(cache, "k").value(), seen(1));
  CHECK_FALSE(load_calibration(cache, "other").has_value());
  require_same(from_arrays(to_arrays(seen(2))).value(), seen(2));
}

TEST_CASE("a file that is cut short or holds something else is as if there were none") {
  const test::TempDir folder;
  save_calibration(folder / "", "k", seen(1));
  const std::string path = folder / "k.npz", whole = read_file(path);
  std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() / 2);
  CHECK_FALSE(load_calibration(folder / "", "k").has_value());
  write_npz(path,
            {{"samples", Tensor::ints({1})}, {"values", Tensor::ints({1})}, {"a.limits", Tensor::ints({1, 2, 3})}});
  CHECK_FALSE(load_calibration(folder / "", "k").has_value());
}

TEST_CASE("a calibration that lacks a value is none") {
  NamedTensors arrays = to_arrays(seen(1));
  std::erase_if(arrays, [](const auto& entry) { return entry.first.starts_with("c."); });
  CHECK_FALSE(from_arrays(arrays).has_value());
}

TEST_CASE("a key follows from the model, the values, the samples and the device") {
  const Model model = parse_text(kModel);
  Model other = clone(model);
  for (Node* node : other.graph->nodes())
    if (node->is("Sub")) node->op = "Add";
  const test::MemoryData data(test::uniform({5, 2}, -1, 1), std::nullopt),
      more(test::uniform({6, 2}, -1, 1), std::nullopt);
  const std::string key = calibration_key(model, {"y"}, data, "cpu");
  CHECK(key == calibration_key(clone(model), {"y"}, data, "cpu"));
  CHECK(key != calibration_key(other, {"y"}, data, "cpu"));
  CHECK(key != calibration_key(model, {"x", "y"}, data, "cpu"));
  CHECK(key != calibration_key(model, {"y"}, more, "cpu"));
  CHECK(key != calibration_key(model, {"y"}, data, "reference"));
}

TEST_CASE("a key follows from constants in bodies and from whole attributes") {
  const Model model = parse_text(R"(
<ir_version: 10, opset_import: ["" : 21]>
branches (bool c, float[2] x) => (float[2] y)
{
  k = Constant <value = float[9] {1, 2, 3, 4, 5, 6, 7, 8, 9}> ()
  y = If (c) <then_branch = other () => (float[2] a) <float[2] w = {1, 2}> { a = Add (x, w) },
              else_branch = same () => (float[2] b) { b = LeakyRelu <alpha = 0.5> (x) }>
})");
  const test::MemoryData data(test::uniform({5, 2}, -1, 1), std::nullopt);
  const auto key = [&](const Model& m) { return calibration_key(m, {"y"}, data, "cpu"); };
  const auto changed = [&](const char* op, const auto& change) {
    Model other = clone(model);
    for (Node* node : all_nodes(*other.graph))
      if (node->is(op)) change(*node);
    return key(other);
  };
  CHECK(key(model) == key(clone(model)));
  const auto last = [](Tensor& t) { t.mutable_data<float>()[t.size() - 1] += 1e-6f; };
  CHECK(key(model) != changed("Constant", [&](Node& n) { last(std::get<Tensor>(n.attrs[0].value)); }));
  CHECK(key(model) != changed("Add", [&](Node& n) { last(*n.input(1)->constant); }));
  CHECK(key(model) != changed("LeakyRelu", [](Node& n) { std::get<float>(n.attrs[0].value) += 1e-7f; }));
}
