#include "core/data/byte_source.h"

#include <zlib.h>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + ' ';
  return text;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string read(const Source& source, int64_t offset, size_t count) {
  std::string out(count, '\0');
  source->read(offset, std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace

TEST_CASE("parts of files, and nothing beyond their ends") {
  const test::TempDir folder;
  const Source file = open_source(folder.write("f", "0123456789"));
  CHECK(file->size() == 10);
  CHECK(read(file, 3, 4) == "3456");
  const Source part = part_of(file, 2, 5, "the part");
  CHECK(read(part, 1, 4) == "3456");
  CHECK(read_all(*part) == "23456");
  CHECK(test::says(test::thrown_by([&] { read(part, 1, 5); }), "the part"));
  CHECK(test::says(test::thrown_by([&] { read(file, 8, 3); }), "ends too early"));
  CHECK(test::thrown_by([&] { part_of(file, 6, 5, "p"); }).code == Code::kBadInput);
  CHECK(test::thrown_by([&] { part_of(file, -1, 5, "p"); }).code == Code::kBadInput);
  CHECK(test::says(test::thrown_by([&] { open_source(folder.path().string()); }), "not a regular file"));
}

TEST_CASE("compressed bytes are read in any order, kept or not") {
  const test::TempDir folder;
  const std::string text = numbers(100'000);
  const Source packed = open_source(folder.write("t.gz", gzip(text)));
  for (const int64_t keep : {int64_t{1} << 28, int64_t{300'000}, int64_t{0}}) {
    const Source plain = inflated(packed, Compression::kGzip, -1, "t", keep);
    for (const size_t offset : {size_t{500'000}, size_t{0}, size_t{299'990}, text.size() - 20, size_t{7}}) {
      INFO(keep << " kept, offset " << offset);
      CHECK(read(plain, static_cast<int64_t>(offset), 20) == text.substr(offset, 20));
    }
    CHECK(
        test::says(test::thrown_by([&] { read(plain, static_cast<int64_t>(text.size()) - 10, 11); }), "end too early"));
    CHECK(read(plain, 11, 5) == text.substr(11, 5));  // still usable
  }
}

TEST_CASE("gzip members one after the other are one text; plain files are not touched") {
  const test::TempDir folder;
  const Source two = open_maybe_gzip(folder.write("two.gz", gzip("hello ") + gzip("world")));
  CHECK(read(two, 3, 8) == "lo world");
  CHECK(read_all(*open_maybe_gzip(folder.write("plain", "text"))) == "text");
}

TEST_CASE("damaged compressed data are an error") {
  const test::TempDir folder;
  const std::string text = numbers(1000);
  std::string bytes = gzip(text);
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  const Source broken = open_maybe_gzip(folder.write("b.gz", bytes));
  CHECK(test::thrown_by([&] { read(broken, 0, text.size() + 1); }).code == Code::kBadInput);
}

TEST_CASE("the checksum behind the last compressed byte is looked at") {
  const test::TempDir folder;
  const std::string text = numbers(1000), good = gzip(text);
  for (size_t lost = 1; lost <= 8; ++lost) {
    const Source cut = open_maybe_gzip(folder.write("c.gz", good.substr(0, good.size() - lost)));
    CHECK(test::says(test::thrown_by([&] { read(cut, 0, text.size()); }), "end too early"));
  }
  std::string bytes = good;
  bytes[bytes.size() - 6] = static_cast<char>(~bytes[bytes.size() - 6]);
  const Source changed = open_maybe_gzip(folder.write("d.gz", bytes));
  CHECK(read(changed, 0, text.size() - 1) == text.substr(0, text.size() - 1));
  CHECK(test::says(test::thrown_by([&] { read(changed, 0, text.size()); }), "are damaged"));
}

}  // namespace mlopt
