#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/base/error.h"
#include "core/data/array_file.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

// The files were written by NumPy: arange(6)/4 of shape 2x3 as float32 and float16; arange(60) of 3x4x5 as int16,
// deflated; arange(24) of 2x3x4 in column-major order; [1.5, -2] big-endian; texts; objects; a scalar.
std::string file(const std::string& name) { return (test::source_dir() / "tests/core/data/files" / name).string(); }

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Fn>
std::string error_of(const Fn& fn) {
  try {
    fn();
  } catch (const Error& error) {
    CHECK(error.code == Code::kBadInput);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("stored archives of NumPy are read") {
  const NamedTensors arrays = read_npz(file("stored.npz"));
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].first == "x");
  CHECK(arrays[0].second.dims() == Dims{2, 3});
  CHECK(to_doubles(arrays[0].second) == std::vector<double>{0, 0.25, 0.5, 0.75, 1, 1.25});
  CHECK(arrays[1].first == "label");
  CHECK(to_ints(arrays[1].second) == std::vector<int64_t>{1, 0});
  CHECK(arrays[2].second.dtype() == DType::kF16);
  CHECK(to_doubles(arrays[2].second) == to_doubles(arrays[0].second));
}

TEST_CASE("deflated archives are read by row, in any order") {
  const std::vector<ArrayFile> arrays = open_npz(file("deflated.npz"));
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].rows() == 3);
  for (const int64_t row : {2, 0, 1}) {
    const Tensor t = arrays[0].row(row);
    CHECK(t.dims() == Dims{4, 5});
    CHECK(to_ints(t).front() == 20 * row);
    CHECK(to_ints(t).back() == 20 * row + 19);
  }
  CHECK(arrays[1].name() == "a/b:0");
  CHECK(to_ints(arrays[1].whole()) == std::vector<int64_t>{1, 0});
}

TEST_CASE("column-major arrays come out in row-major order, whole and by row") {
  const ArrayFile array = open_npy(file("fortran.npy"));
  const std::vector<int64_t> whole = to_ints(array.whole());
  REQUIRE(whole.size() == 24);
  for (int64_t i = 0; i < 24; ++i) CHECK(whole[static_cast<size_t>(i)] == i);
  const std::vector<int64_t> row = to_ints(array.row(1));
  for (int64_t i = 0; i < 12; ++i) CHECK(row[static_cast<size_t>(i)] == 12 + i);
}

TEST_CASE("other byte orders, texts and scalars") {
  CHECK(to_doubles(open_npy(file("big_endian.npy")).whole()) == std::vector<double>{1.5, -2});
  CHECK(open_npy(file("text.npy")).whole().strings() == std::vector<std::string>{"a", "été", "漢"});
  const ArrayFile scalar = open_npy(file("scalar.npy"));
  CHECK(to_ints(scalar.whole()) == std::vector<int64_t>{7});
  CHECK(error_of([&] { scalar.rows(); }).find("'scalar' is a scalar") != std::string::npos);
}

TEST_CASE("what was written is read back") {
  const test::TempDir folder;
  const std::string path = folder / "out.npz";
  const Tensor x = Tensor::of<float>({2, 2}, {1, -2.5F, 3e-40F, 4});
  const Tensor text = Tensor::of_strings({2}, {"été", "longer text"});
  const Tensor bf16 = cast(x, DType::kBF16);
  for (const bool deflate : {false, true}) {
    write_npz(path, {{"x", x}, {"deep/text", text}, {"b", bf16}, {"empty", Tensor(DType::kI64, {0, 3})}}, deflate);
    const NamedTensors back = read_npz(path);
    REQUIRE(back.size() == 4);
    CHECK(to_doubles(back[0].second) == to_doubles(x));
    CHECK(back[1].first == "deep/text");
    CHECK(back[1].second.strings() == text.strings());
    CHECK(back[2].second.dtype() == DType::kF32);
    CHECK(to_doubles(back[2].second) == to_doubles(bf16));
    CHECK(back[3].second.dims() == Dims{0, 3});
  }
  write_npz(folder / "again.npz", {{"x", x}});
  write_npz(path, {{"x", x}});
  CHECK(bytes_of(path) == bytes_of(folder / "again.npz"));
}

TEST_CASE("every truncation of an archive is an error") {
  const test::TempDir folder;
  for (const char* name : {"stored.npz", "deflated.npz", "text.npy", "big_endian.npy"}) {
    const std::string bytes = bytes_of(file(name));
    const bool archive = std::string(name).find(".npz") != std::string::npos;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string path = folder.write(archive ? "cut.npz" : "cut.npy", bytes.substr(0, size));
      const std::string error = error_of([&] { archive ? void(read_npz(path)) : void(open_npy(path).whole()); });
      INFO(name << " cut to " << size << " bytes: " << error);
      REQUIRE(error.find("error: ") == 0);
      REQUIRE(error.find("cut.np") != std::string::npos);
    }
  }
}

TEST_CASE("a flipped bit in an array's bytes is an error, packed or not") {
  const test::TempDir folder;
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string bytes = bytes_of(file(name));
    const size_t first = 30 + static_cast<uint8_t>(bytes[26]) + static_cast<uint8_t>(bytes[28]);  // of the local header
    for (size_t bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[first + 20] = static_cast<char>(changed[first + 20] ^ (1 << bit));
      const std::string path = folder.write("flip.npz", changed);
      CHECK(test::says(test::thrown_by([&] { read_npz(path); }), "flip.npz, array"));
    }
  }
}

TEST_CASE("a flipped bit gives an error or the same arrays, never a crash") {
  const test::TempDir folder;
  const std::string bytes = bytes_of(file("deflated.npz"));
  int errors = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const std::string path = folder.write("flip.npz", changed);
    try {
      read_npz(path);
    } catch (const Error& error) {
      REQUIRE(error.code == Code::kBadInput);
      ++errors;
    }
  }
  CHECK(errors > 1000);
}

TEST_CASE("headers that lie are refused before anything is allocated") {
  const test::TempDir folder;
  const auto npy = [&](const std::string& descr, const std::string& shape) {
    std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string head = "\x93NUMPY\x01";
    head += '\0';
    head += static_cast<char>(text.size());
    head += '\0';
    return folder.write("bad.npy", head + text + std::string(64, '\0'));
  };
  CHECK(to_doubles(open_npy(npy("<f4", "(2,)")).whole()) == std::vector<double>{0, 0});
  for (const auto& [descr, shape] :
       std::vector<std::pair<std::string, std::string>>{{"<f4", "(1152921504606846976,)"},
                                                        {"<f8", "(4611686018427387904, 4)"},
                                                        {"<f4", "(-1,)"},
                                                        {"<f4", "(x,)"},
                                                        {"<f4", "(17,)"},
                                                        {"<f3", "(1,)"},
                                                        {"|V2", "(1,)"},
                                                        {"<U0", "(100000000000,)"},
                                                        {"<U99999999", "(1,)"}}) {
    INFO(descr << " " << shape);
    CHECK(error_of([&, &descr = descr, &shape = shape] { open_npy(npy(descr, shape)).whole(); }).find("error: ") == 0);
  }
  CHECK(error_of([] { open_npy(file("objects.npy")); }).find("Python objects") != std::string::npos);
  CHECK(error_of([&] { open_npy(folder / "none.npy"); }).find("cannot open") != std::string::npos);
}

}  // namespace mlopt
