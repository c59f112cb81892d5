#include <zlib.h>

#include "core/data/open.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

std::string idx(int type, const std::vector<int>& dims, const std::string& bytes) {
  std::string text{'\0', '\0', static_cast<char>(type), static_cast<char>(dims.size())};
  for (const int d : dims)
    text += {static_cast<char>(d >> 24), static_cast<char>(d >> 16), static_cast<char>(d >> 8), static_cast<char>(d)};
  return text + bytes;
}

/// Three pictures of 2x2 pixels.
const std::string kImages = idx(8, {3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
const std::string kLabels = idx(8, {3}, {2, 0, 1});

void write_gzip(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  gzclose(file);
}

const InputSpec kInput = test::input("x", DType::kF32, {1, 1, 2, 2});

}  // namespace

TEST_CASE("pictures and labels, plain and gzipped, in any order") {
  const test::TempDir folder;
  folder.write("i", kImages);
  folder.write("l", kLabels);
  write_gzip(folder / "i.gz", kImages);
  write_gzip(folder / "l.gz", kLabels);
  for (const std::string end : {"", ".gz"}) {
    const auto data =
        open_dataset(parse_data_spec("idx:" + folder / ("i" + end) + "," + folder / ("l" + end)), {kInput}, {});
    CHECK(data->size() == 3);
    CHECK(data->batch_size() == 1);
    for (const int64_t i : {2, 0, 1}) {
      const Batch batch = data->batch(i, 1);
      CHECK(batch.inputs[0].tensor().dims() == Dims{1, 1, 2, 2});
      CHECK(to_doubles(batch.inputs[0].tensor())[3] == 4.0 * static_cast<double>(i + 1));  // not scaled to 0..1
      CHECK(to_ints(*batch.labels)[0] == (i + 2) % 3);
    }
  }
}

TEST_CASE("pictures fit flat inputs, and can be scaled") {
  const test::TempDir folder;
  const std::string path = folder.write("i", kImages);
  const auto data =
      open_dataset(parse_data_spec("idx:" + path + ",scale=0.5"), {test::input("x", DType::kF32, {-1, 4})}, {});
  CHECK(!data->labelled());
  CHECK(to_doubles(data->batch(1, 2).inputs[0].tensor()) == std::vector<double>{2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6});
}

TEST_CASE("other element types are big-endian") {
  const test::TempDir folder;
  const std::string path = folder.write("i", idx(0x0b, {1, 2}, {1, 2, -1, -2}));
  const auto data = open_dataset(parse_data_spec("idx:" + path), {test::input("x", DType::kI32, {-1, 2})}, {});
  CHECK(to_ints(data->batch(0, 1).inputs[0].tensor()) == std::vector<int64_t>{258, -2});
}

TEST_CASE("damaged idx files are refused") {
  const test::TempDir folder;
  const std::string good = folder.write("good", kImages);
  const auto refused = [&](const std::string& images, const std::string& labels) {
    const std::string l = folder.write("l", labels), i = folder.write("i", images);
    return test::thrown_by([&] {
      const auto data = open_dataset(parse_data_spec("idx:" + i + "," + l), {kInput}, {});
      for (int64_t s = 0; s < data->size(); ++s) data->batch(s, 1);
    });
  };
  CHECK(test::says(refused(kImages.substr(0, 20), kLabels), "too short for 3 samples"));
  CHECK(test::says(refused(kImages, idx(8, {2}, {0, 1})), "2 labels for 3 samples"));
  CHECK(test::says(refused(kLabels, kImages), "not labels: each is uint8 of shape"));
  CHECK(test::says(refused("hello, world", kLabels), "not an idx file"));
  CHECK(test::says(refused(idx(8, {1 << 30, 1 << 30, 1 << 30}, ""), kLabels), "too short"));
  CHECK(test::says(refused(idx(8, {-1, 0, 5}, ""), kLabels), "no elements"));
  CHECK(refused("", kLabels).code == Code::kBadInput);
  write_gzip(folder / "x.gz", kImages);
  std::string packed(100, '\0');
  FILE* file = fopen((folder / "x.gz").c_str(), "rb");
  packed.resize(fread(packed.data(), 1, 100, file));
  fclose(file);
  CHECK(refused(packed.substr(0, packed.size() - 12), kLabels).code == Code::kBadInput);
}

}  // namespace mlopt
