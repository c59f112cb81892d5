#include <filesystem>

#include "core/data/array_file.h"
#include "core/data/open.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

/// 5 samples of 2 numbers, and labels.
const Tensor kX = Tensor::of<float>({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
const Tensor kLabel = Tensor::of<int64_t>({5}, {0, 1, 0, 1, 0});

std::unique_ptr<Dataset> open(const std::string& spec, std::vector<InputSpec> inputs, bool whole = false) {
  DataOptions options;
  options.whole = whole;
  return open_dataset(parse_data_spec(spec), inputs, options);
}

const InputSpec kPair = test::input("x", DType::kF32, {-1, 2});

}  // namespace

TEST_CASE("samples of an archive are stacked where the first dimension is free") {
  const test::TempDir folder;
  write_npz(folder / "d.npz", {{"x", kX}, {"label", kLabel}}, true);
  const auto data = open(folder / "d.npz", {kPair});
  CHECK(data->size() == 5);
  CHECK(data->batch_size() == 0);
  CHECK(data->labelled());
  const Batch batch = data->batch(1, 3);
  CHECK(batch.inputs[0].tensor().dims() == Dims{3, 2});
  CHECK(to_doubles(batch.inputs[0].tensor()) == std::vector<double>{2, 3, 4, 5, 6, 7});
  CHECK(to_ints(*batch.labels) == std::vector<int64_t>{1, 0, 1});
  CHECK(data->name_of(4).find("d.npz, row 4") != std::string::npos);
  const auto some = open(folder / "d.npz,limit=2,scale=10,mean=5", {kPair});
  CHECK(to_doubles(some->batch(0, 2).inputs[0].tensor()) == std::vector<double>{-5, 5, 15, 25});
}

TEST_CASE("a fixed first dimension is the model's batch size; none at all means one sample at a time") {
  const test::TempDir folder;
  write_npz(folder / "d.npz", {{"x", kX}});
  const auto pairs = open(folder / "d.npz", {test::input("x", DType::kF32, {2, 2})});
  CHECK(pairs->batch_size() == 2);
  CHECK(pairs->batch(3, 2).inputs[0].tensor().dims() == Dims{2, 2});
  CHECK(pairs->batch(0, 1).inputs[0].tensor().dims() == Dims{1, 2});  // for who puts batches together itself
  const auto single = open(folder / "d.npz", {test::input("x", DType::kF32, {2})});
  CHECK(single->batch_size() == 1);
  CHECK(single->batch(4, 1).inputs[0].tensor().dims() == Dims{2});
  CHECK(test::says(test::thrown_by([&] { single->batch(0, 2); }), "each sample is a whole input, of which 2"));
  const auto image = open(folder / "d.npz", {test::input("x", DType::kF64, {1, 1, 2})});
  CHECK(image->batch(4, 1).inputs[0].tensor().dims() == Dims{1, 1, 2});
  CHECK(image->batch(4, 1).inputs[0].tensor().dtype() == DType::kF64);
  CHECK(test::says(test::thrown_by([&] {
                     open(folder / "d.npz", {test::input("x", DType::kF32, {6, 2})});
                   }),
                   "6 samples at a time, the data have 5"));
}

TEST_CASE("whole arrays are the inputs of one run") {
  const test::TempDir folder;
  write_npz(folder / "d.npz", {{"x", kX}, {"label", kLabel}});
  const auto data = open(folder / "d.npz", {kPair}, true);
  CHECK(data->size() == 1);
  CHECK(data->batch(0, 1).inputs[0].tensor().dims() == Dims{5, 2});
  CHECK(data->batch(0, 1).labels->size() == 5);
  const Error error = test::thrown_by([&] { open(folder / "d.npz", {test::input("x", DType::kF32, {1, 2})}, true); });
  CHECK(test::says(error, "'x' has the shape 5x2; the model takes 'x' float32[1,2]"));
}

TEST_CASE("whole arrays are normalized as samples are, and no samples are selected") {
  const test::TempDir folder;
  write_npz(folder / "d.npz", {{"x", kX}});
  for (const char* options : {",scale=10,mean=5", ",mean=1/2,std=4/8"}) {
    const auto whole = open(folder / "d.npz" + options, {kPair}, true);
    const auto samples = open(folder / "d.npz" + options, {kPair});
    CHECK(to_doubles(whole->batch(0, 1).inputs[0].tensor()) == to_doubles(samples->batch(0, 5).inputs[0].tensor()));
  }
  CHECK(to_doubles(open(folder / "d.npz,scale=10", {kPair}, true)->batch(0, 1).inputs[0].tensor())[9] == 90);
  for (const char* options : {",limit=2", ",per-class=1", ",every=2", ",shuffle", ",split=0:0.5"}) {
    const Error error = test::thrown_by([&] { open(folder / "d.npz" + options, {kPair}, true); });
    CHECK(error.code == Code::kUsage);
    CHECK(test::says(error, "--batch"));
  }
  const test::TempDir archives;
  write_npz(archives / "0.npz", {{"x", kX}});
  write_npz(archives / "1.npz", {{"x", kX}});
  const Error error = test::thrown_by([&] { open(archives.path().string(), {kPair}, true); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "more than one array 'x'"));
}

TEST_CASE("folders hold an array for each input, or archives one after the other") {
  const test::TempDir arrays, archives;
  arrays.write("x.npy", npy_bytes(kX));
  arrays.write("deep/y:0.npy", npy_bytes(kLabel));
  arrays.write("label.npy", npy_bytes(kLabel));
  const auto data = open(arrays.path().string(), {test::input("deep/y:0", DType::kI32, {-1}), kPair});
  CHECK(data->size() == 5);
  CHECK(to_ints(data->batch(0, 2).inputs[0].tensor()) == std::vector<int64_t>{0, 1});
  CHECK(data->batch(0, 2).inputs[0].tensor().dtype() == DType::kI32);
  CHECK(to_doubles(data->batch(0, 2).inputs[1].tensor()) == std::vector<double>{0, 1, 2, 3});
  write_npz(archives / "1.npz", {{"x", kX}});
  write_npz(archives / "0.npz", {{"x", Tensor::of<float>({1, 2}, {-1, -2})}});
  const auto joined = open(archives.path().string(), {kPair});
  CHECK(joined->size() == 6);
  CHECK(to_doubles(joined->batch(0, 2).inputs[0].tensor()) == std::vector<double>{-1, -2, 0, 1});
  CHECK(joined->name_of(1).find("1.npz, row 0") != std::string::npos);
}

TEST_CASE("links in a folder lead to arrays or to nothing") {
  const test::TempDir folder, elsewhere;
  std::filesystem::create_symlink(elsewhere.write("any.npy", npy_bytes(kX)), folder / "x.npy");
  std::filesystem::create_symlink("loop.npy", folder / "loop.npy");
  std::filesystem::create_symlink(folder / "none", folder / "broken.npy");
  CHECK(open(folder.path().string(), {kPair})->size() == 5);
  CHECK(open(folder.path().string(), {kPair}, true)->batch(0, 1).inputs[0].tensor().dims() == Dims{5, 2});
}

TEST_CASE("a file of one array needs a model of one input") {
  const test::TempDir folder;
  const std::string path = folder.write("anything.npy", npy_bytes(kX));
  CHECK(open(path, {kPair})->size() == 5);
  CHECK(open(path, {kPair}, true)->batch(0, 1).inputs[0].tensor().dims() == Dims{5, 2});
  const Error error = test::thrown_by([&] { open(path, {kPair, test::input("mask", DType::kI64, {-1})}); });
  CHECK(test::says(error, "the model takes 'x' float32[N,2], 'mask' int64[N]"));
}

TEST_CASE("data for another model are an error that lists both") {
  const test::TempDir folder;
  write_npz(folder / "d.npz", {{"images", kX}, {"extra", kX}});
  for (const bool whole : {false, true}) {
    const Error error = test::thrown_by([&] { open(folder / "d.npz", {kPair}, whole); });
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, "the model takes 'x' float32[N,2]; the data hold 'images', 'extra'"));
  }
  write_npz(folder / "short.npz", {{"x", kX}, {"label", Tensor::of<int64_t>({2}, {0, 1})}});
  CHECK(test::says(test::thrown_by([&] { open(folder / "short.npz", {kPair}); }), "'label' has 2 samples, 'x' has 5"));
  write_npz(folder / "type.npz", {{"x", kX}});
  const auto fractions = [&] { open(folder / "type.npz,scale=0.3", {kPair})->batch(0, 1); };
  fractions();
  write_npz(folder / "half.npz", {{"x", Tensor::of<float>({1, 2}, {0.5F, 1})}});
  CHECK(test::says(test::thrown_by([&] {
                     open(folder / "half.npz", {test::input("x", DType::kI64, {-1, 2})});
                   }),
                   "0.5 is no int64"));
  CHECK(test::says(test::thrown_by([&] {
                     open(folder / "half.npz", {test::input("x", DType::kF32, {-1, 3})});
                   }),
                   "has the shape 2"));
  const test::TempDir empty;
  CHECK(test::says(test::thrown_by([&] { open(empty.path().string(), {kPair}); }), "the folder is empty"));
  empty.write("photo.jpg", "x");
  CHECK(test::says(test::thrown_by([&] { open(empty.path().string(), {kPair}); }), "images:"));
}

}  // namespace mlopt
