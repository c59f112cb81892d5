#include <fmt/core.h>

#include <filesystem>

#include "core/base/file.h"
#include "core/data/open.h"
#include "core/data/picture.h"
#include "core/data/tar.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

const InputSpec kImage = test::input("x", DType::kF32, {-1, 3, 23, 37});

std::string picture(const std::string& name) {
  return read_file((test::source_dir() / "tests/core/data/files" / name).string());
}

std::unique_ptr<Dataset> open(const std::string& spec, const InputSpec& input = kImage) {
  return open_dataset(parse_data_spec(spec), {input}, {});
}

/// A tar archive as tar itself writes it: one header and the padded bytes for each file.
std::string tar_of(const std::vector<std::pair<std::string, std::string>>& files, char kind = '0') {
  std::string archive;
  for (const auto& [name, bytes] : files) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    header.replace(100, 7, "0000644");
    header.replace(124, 11, fmt::format("{:011o}", bytes.size()));
    header.replace(148, 8, "        ");
    header[156] = kind;
    header.replace(257, 5, "ustar");
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
    archive += header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

/// Two classes; "b" before "a" on disk, to be sorted.
void write_classes(const test::TempDir& folder) {
  folder.write("b/2.png", picture("color.png"));
  folder.write("a/1.jpg", picture("color.jpg"));
  folder.write("a/0.JPEG", picture("gray.jpg"));
  folder.write("a/readme.txt", "not a picture");
}

}  // namespace

TEST_CASE("a folder of class folders, sorted by path, scaled to 0..1") {
  const test::TempDir folder;
  write_classes(folder);
  const auto data = open("images:" + folder.path().string());
  REQUIRE(data->size() == 3);
  const Batch batch = data->batch(0, 3);
  CHECK(to_ints(*batch.labels) == std::vector<int64_t>{0, 0, 1});
  const Tensor& x = batch.inputs[0].tensor();
  CHECK(x.dims() == Dims{3, 3, 23, 37});
  const std::string bytes = picture("color.png");
  const Picture last = decode_picture(std::as_bytes(std::span(bytes)), "");
  CHECK(x.data<float>()[2 * 3 * 23 * 37] == Approx(last.pixels[0] / 255.0));
  CHECK(data->name_of(0).find("a/0.JPEG") != std::string::npos);
}

TEST_CASE("a tar archive gives the same as the folder") {
  const test::TempDir folder;
  write_classes(folder);
  const std::string path = folder.write("t.tar", tar_of({{"top/b/2.png", picture("color.png")},
                                                         {"top/a/1.jpg", picture("color.jpg")},
                                                         {"top/a/0.JPEG", picture("gray.jpg")}}));
  std::filesystem::rename(folder.path() / "t.tar", folder.path().string() + ".tar");
  const auto unpacked = open("images:" + folder.path().string()),
             packed = open("images:" + folder.path().string() + ".tar");
  REQUIRE(packed->size() == 3);
  CHECK(to_doubles(packed->batch(0, 3).inputs[0].tensor()) == to_doubles(unpacked->batch(0, 3).inputs[0].tensor()));
  CHECK(to_ints(*packed->batch(0, 3).labels) == std::vector<int64_t>{0, 0, 1});
  std::filesystem::remove(folder.path().string() + ".tar");
}

TEST_CASE("the class is the first folder below the one that holds all") {
  const test::TempDir folder;
  const std::string spec = "images:" + folder.path().string();
  const auto labels = [&] { return to_ints(*open(spec)->batch(0, 3).labels); };
  folder.write("b/early/2.png", picture("color.png"));
  folder.write("a/late/1.jpg", picture("color.jpg"));
  folder.write("a/0.png", picture("color.png"));
  folder.write(".cache/9.png", picture("color.png"));
  folder.write("__MACOSX/a/._0.png", "x");
  folder.write("a/._0.png", "x");
  CHECK(labels() == std::vector<int64_t>{0, 0, 1});
  const std::string loose = folder.write("cover.png", picture("color.png"));
  const Error beside = test::thrown_by([&] { open(spec); });
  CHECK(beside.code == Code::kBadInput);
  CHECK(test::says(beside, "cover.png"));
  std::filesystem::remove(loose);
  std::filesystem::create_directories(folder.path() / "aa/deep");
  const Error empty = test::thrown_by([&] { open(spec); });
  CHECK(empty.code == Code::kBadInput);
  CHECK(test::says(empty, "class folder 'aa'"));
  folder.write("labels.tsv", "file\tlabel\na/0.png\t4\n1.jpg\t5\n2.png\t6\n");
  CHECK(labels() == std::vector<int64_t>{4, 5, 6});
}

TEST_CASE("classes of an archive, below the folder that was packed") {
  const test::TempDir folder;
  const auto data = [&](const std::vector<std::pair<std::string, std::string>>& files) {
    return open("images:" + folder.write("t.tar", tar_of(files)));
  };
  const std::string bytes = picture("color.png");
  const auto packed = data({{"./top/b/x/2.png", bytes}, {"./top/a/1.png", bytes}, {"./top/._a", ""}});
  CHECK(to_ints(*packed->batch(0, 2).labels) == std::vector<int64_t>{0, 1});
  CHECK(!data({{"./1.png", bytes}, {"./2.png", bytes}})->labelled());
  CHECK(test::says(test::thrown_by([&] { data({{"top/a/1.png", bytes}, {"top/2.png", bytes}}); }), "top/2.png"));
  CHECK(test::says(test::thrown_by([&] { data({{"top/a/1.png", bytes}, {"top/b/notes.txt", ""}}); }), "folder 'b'"));
}

TEST_CASE("labels from a table") {
  const test::TempDir folder;
  write_classes(folder);
  folder.write("labels.tsv", "file\tclass_index\tname\n0.JPEG\t7\tx\na/1.jpg\t9\ty\nb/2.png\t3\tz\nother.png\t1\tw\n");
  CHECK(to_ints(*open("images:" + folder.path().string())->batch(0, 3).labels) == std::vector<int64_t>{7, 9, 3});
  const std::string words = folder.write("words.tsv", "label\tfile\npear\t0.JPEG\napple\t1.jpg\npear\t2.png\n");
  CHECK(to_ints(*open("images:" + folder.path().string() + ",labels=" + words)->batch(0, 3).labels) ==
        std::vector<int64_t>{1, 0, 1});
  const std::string short_table = folder.write("short.tsv", "file\tlabel\n0.JPEG\t1\n");
  CHECK(test::says(test::thrown_by([&] { open("images:" + folder.path().string() + ",labels=" + short_table); }),
                   "a/1.jpg"));
  const std::string twice = folder.write("twice.tsv", "file\tlabel\n0.JPEG\t1\n1.jpg\t2\n2.png\t3\n0.JPEG\t2\n");
  CHECK(test::says(test::thrown_by([&] { open("images:" + folder.path().string() + ",labels=" + twice); }), "line 5"));
  const std::string no_header = folder.write("bad.tsv", "0.JPEG\t1\n");
  CHECK(test::says(test::thrown_by([&] { open("images:" + folder.path().string() + ",labels=" + no_header); }),
                   "columns 'file'"));
}

TEST_CASE("pictures fit inputs of other layouts and types") {
  const test::TempDir folder;
  folder.write("1.png", picture("color.png"));
  const std::string spec = "images:" + folder.path().string();
  const Tensor planes = open(spec, test::input("x", DType::kU8, {-1, 3, 23, 37}))->batch(0, 1).inputs[0].tensor();
  const Tensor pixels = open(spec, test::input("x", DType::kU8, {-1, 23, 37, 3}))->batch(0, 1).inputs[0].tensor();
  CHECK(planes.dims() == Dims{1, 3, 23, 37});
  CHECK(pixels.dims() == Dims{1, 23, 37, 3});
  CHECK(planes.data<uint8_t>()[23 * 37] == pixels.data<uint8_t>()[1]);  // green
  const auto data = open(spec + ",gray", test::input("x", DType::kF16, {1, 1, 23, 37}));
  CHECK(data->batch_size() == 1);
  CHECK(data->batch(0, 1).inputs[0].tensor().dtype() == DType::kF16);
  CHECK(!data->labelled());
  CHECK(open(spec, test::input("x", DType::kF32, {3, 23, 37}))->batch(0, 1).inputs[0].tensor().dims() ==
        Dims{3, 23, 37});
}

TEST_CASE("what is wrong with pictures names the picture") {
  const test::TempDir folder;
  CHECK(test::says(test::thrown_by([&] { open("images:" + folder.path().string()); }), "no JPEG or PNG"));
  CHECK(test::says(test::thrown_by([&] { open("images:" + folder / "none"); }), "no such file"));
  folder.write("a/0.png", picture("color.png"));
  folder.write("b/1.jpg", picture("color.jpg").substr(0, 400));
  const auto data = open("images:" + folder.path().string());
  CHECK(data->batch(0, 1).count == 1);
  const Error damaged = test::thrown_by([&] { data->batch(0, 2); });
  CHECK(damaged.code == Code::kBadInput);
  CHECK(test::says(damaged, "b/1.jpg"));
  const Error shape = test::thrown_by([&] {
    open("images:" + folder.path().string(), test::input("x", DType::kF32, {-1, 3, 8, 9}));
  });
  CHECK(test::says(shape, "3x23x37"));
  CHECK(test::says(shape, "resize=8x9"));
  const InputSpec two[] = {kImage, test::input("y", DType::kF32, {-1})};
  CHECK(test::says(test::thrown_by([&] {
                     open_dataset(parse_data_spec("images:" + folder.path().string()), {two[0], two[1]}, {});
                   }),
                   "'y' float32[N]"));
}

TEST_CASE("tar archives: long names, folders, truncation, damage") {
  const test::TempDir folder;
  const auto entries = [&](const std::string& bytes) { return read_tar(*open_source(folder.write("x.tar", bytes))); };
  const std::string plain = tar_of({{"a/b.txt", "hello"}, {"../../etc/passwd", "x"}});
  const auto listed = entries(plain);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].path == "a/b.txt");
  CHECK(listed[0].offset == 512);
  CHECK(listed[0].size == 5);
  const std::string name(300, 'n');
  const std::string gnu = tar_of({{"././@LongLink", name + '\0'}}, 'L').substr(0, 1024) + plain;
  CHECK(entries(gnu)[0].path == name);
  const std::string record = "18 path=long/name\n";
  const std::string pax = tar_of({{"PaxHeader", record}}, 'x').substr(0, 1024) + plain;
  CHECK(entries(pax)[0].path == "long/name");
  CHECK(entries(pax)[1].path == "../../etc/passwd");
  CHECK(entries(tar_of({{"folder", ""}}, '5'))[0].path == "folder/");
  for (const size_t size : {size_t{100}, size_t{513}, size_t{700}, size_t{1100}}) {
    CHECK(test::says(test::thrown_by([&] { entries(plain.substr(0, size)); }), "truncated"));
  }
  std::string flipped = plain;
  flipped[3] = 'X';
  CHECK(test::says(test::thrown_by([&] { entries(flipped); }), "checksum"));
}

}  // namespace mlopt
