#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/base/file.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/file_pages.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;
using mlopt::test::TempDir;
namespace fs = std::filesystem;

namespace {

Tensor ramp(int64_t count, float start) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), start);
  return Tensor::of({count}, values);
}

/// y = x + w + v, with weights of 4 KB and 400 KB.
Model weighty(float start = 0) {
  Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[1] x) => (float[M] y, float[M] z) { a = Add (x, x)  y = Identity (a)  z = Identity (a) })");
  Graph& g = *model.graph;
  g.set_input(g.nodes()[0], 1, g.add_constant("w", ramp(1000, start)));
  g.set_input(g.nodes()[1], 0, g.add_constant("v", ramp(100'000, start)));
  g.set_input(g.nodes()[2], 0, g.add_constant("same", *g.find("v")->constant));
  return model;
}

bool same_weights(const Model& a, const Model& b) {
  for (const char* name : {"w", "v", "same"}) {
    const auto left = a.graph->find(name)->constant->raw_bytes(), right = b.graph->find(name)->constant->raw_bytes();
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end())) return false;
  }
  return true;
}

std::vector<std::string> listed(const TempDir& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

/// A model whose one weight of 1024 bytes is external: key-value pairs as ONNX has them.
std::string referring(const std::string& location, const std::string& offset = "0",
                      const std::string& length = "1024") {
  const auto field = [](int number, const std::string& bytes) {
    const size_t n = bytes.size();
    std::string size(1, static_cast<char>(n < 128 ? n : (n & 127) | 128));
    if (n >= 128) size += static_cast<char>(n >> 7);
    return std::string(1, static_cast<char>(number << 3 | 2)) + size + bytes;
  };
  const auto entry = [&](const std::string& key, const std::string& value) {
    return field(13, field(1, key) + field(2, value));
  };
  const std::string tensor = std::string("\x08\x80\x02\x10\x01", 5) + field(8, "w") + entry("location", location) +
                             entry("offset", offset) + entry("length", length) + std::string("\x70\x01", 2);
  return std::string("\x08\x0a", 2) + field(7, field(5, tensor));
}

std::string read_error(const std::string& path) {
  return error_of([&] { read_model(path); });
}

}  // namespace

TEST_CASE("external data are written beside the model, aligned, once, and mapped when read") {
  const TempDir folder;
  const Model model = weighty();
  write_model(model, folder / "m.onnx", {.external = true});
  CHECK(listed(folder) == Names{"m.onnx", "m.onnx.data"});
  CHECK(fs::file_size(folder / "m.onnx.data") == 4096 + 400'000);
  CHECK(fs::file_size(folder / "m.onnx") < 1000);
  const Model read = read_model(folder / "m.onnx");
  CHECK(same_weights(model, read));
  CHECK(read.graph->find("v")->constant->is_view());
  CHECK(read.graph->find("v")->constant->raw() == read.graph->find("same")->constant->raw());
  CHECK(read.external_files == Names{"m.onnx.data"});
  CHECK(read.file_bytes == static_cast<int64_t>(4096 + 400'000 + fs::file_size(folder / "m.onnx")));
}

TEST_CASE("the same model gives the same bytes, whatever was there before") {
  const TempDir folder;
  write_model(weighty(), folder / "m.onnx", {.external = true});
  const std::string model = read_file(folder / "m.onnx"), data = read_file(folder / "m.onnx.data");
  write_model(weighty(), folder / "m.onnx", {.external = true});
  CHECK(read_file(folder / "m.onnx") == model);
  CHECK(read_file(folder / "m.onnx.data") == data);
  CHECK(listed(folder).size() == 2);
}

TEST_CASE("a model is written over the one whose data it views") {
  const TempDir folder;
  const std::string path = folder / "m.onnx";
  write_model(weighty(), path, {.external = true});
  Model model = read_model(path);
  model.graph->find("w")->constant = ramp(1000, 5);
  write_model(model, path, {.external = true});
  CHECK(listed(folder) == Names{"m.onnx", "m.onnx.1.data"});
  CHECK(same_weights(read_model(path), model));
  write_model(weighty(3), path, {.external = true});
  CHECK(listed(folder) == Names{"m.onnx", "m.onnx.data"});
  write_model(weighty(4), path);
  CHECK(listed(folder) == Names{"m.onnx"});
  CHECK(same_weights(read_model(path), weighty(4)));
}

TEST_CASE("data files of other models are left alone") {
  const TempDir folder;
  folder.write("m.onnx.data", "somebody's");
  folder.write("m.onnx.2.data", "somebody else's");
  write_model(weighty(), folder / "m.onnx", {.external = true});
  CHECK(read_file(folder / "m.onnx.data") == "somebody's");
  CHECK(read_model(folder / "m.onnx").external_files == Names{"m.onnx.1.data"});
}

TEST_CASE("data that another model uses stay when their model is replaced") {
  const TempDir folder;
  const std::string path = folder / "m.onnx", other = folder / "other.onnx";
  write_model(weighty(), path, {.external = true});
  fs::copy_file(path, other);
  write_model(weighty(3), path);
  CHECK(listed(folder) == Names{"m.onnx", "m.onnx.data", "other.onnx"});
  CHECK(same_weights(read_model(other), weighty()));
  CHECK(same_weights(read_model(path), weighty(3)));
}

TEST_CASE("data that are to be kept stay when their model is replaced") {
  const TempDir folder;
  const std::string path = folder / "m.onnx", data = folder / "m.onnx.data";
  write_model(weighty(), path, {.external = true});
  write_model(weighty(3), path, {.external = true, .kept = {data}});
  CHECK(listed(folder) == Names{"m.onnx", "m.onnx.1.data", "m.onnx.data"});
  write_model(weighty(4), path, {.kept = {data}});
  CHECK(listed(folder) == Names{"m.onnx", "m.onnx.data"});
}

TEST_CASE("external data are refused where they have no place") {
  const TempDir folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {std::string("-"), std::string("/dev/null"), pipe}) {
    CHECK(contains(error_of([&] { write_model(weighty(), path, {.external = true}); }), "external data"));
    CHECK_FALSE(takes_external(path));
  }
  CHECK(listed(folder) == Names{"pipe"});
  CHECK(takes_external(folder / "fresh.onnx"));
}

TEST_CASE("through a link the data go where the model goes") {
  const TempDir folder;
  write_model(weighty(), folder.write("sub/real.onnx", ""));
  fs::create_symlink("sub/real.onnx", folder / "link.onnx");
  const WriteOptions options{.external = true};
  const int64_t size = written_size(weighty(3), folder / "link.onnx", options);
  write_model(weighty(3), folder / "link.onnx", options);
  CHECK(listed(folder) == Names{"link.onnx", "sub"});
  CHECK(same_weights(read_model(folder / "sub/real.onnx"), weighty(3)));
  const Model linked = read_model(folder / "link.onnx");
  CHECK(same_weights(linked, weighty(3)));
  CHECK(linked.file_bytes == size);
  CHECK(fs::equivalent(external_path(linked.path, "real.onnx.data"), folder / "sub/real.onnx.data"));
}

TEST_CASE("a cache has links to a model and its data, which lie in one folder") {
  const TempDir folder;
  folder.write("blobs/b", std::string(2048, 'x'));
  folder.write("outside.bin", std::string(2048, 'x'));
  fs::create_directory(folder / "snapshot");
  fs::create_symlink("../blobs/a", folder / "snapshot/m.onnx");
  fs::create_symlink("../blobs/b", folder / "snapshot/m.onnx.data");
  fs::create_symlink("../outside.bin", folder / "snapshot/outside.bin");
  const auto error = [&](const std::string& location) {
    folder.write("blobs/a", referring(location));
    return read_error(folder / "snapshot/m.onnx");
  };
  CHECK(error("m.onnx.data").empty());
  CHECK(contains(error("outside.bin"), "link"));
  CHECK(contains(error("../blobs/b"), "leaves the model's folder"));
  CHECK(external_path(folder / "snapshot/m.onnx", "m.onnx.data") == folder / "snapshot/m.onnx.data");
}

TEST_CASE("a folder that cannot be written leaves the old model whole") {
  const TempDir folder;
  const std::string path = folder / "m.onnx";
  write_model(weighty(), path);
  const std::string before = read_file(path);
  CHECK_FALSE(error_of([&] { write_model(weighty(), folder / "none/m.onnx"); }).empty());
  fs::create_directory(folder / "taken.onnx");
  CHECK_FALSE(error_of([&] { write_model(weighty(), folder / "taken.onnx", {.external = true}); }).empty());
  CHECK(read_file(path) == before);
  CHECK(listed(folder) == Names{"m.onnx", "taken.onnx"});
}

TEST_CASE("external data must lie below the model's folder") {
  const TempDir folder;
  const std::string data(2048, 'x');
  folder.write("outside.bin", data);
  folder.write("models/sub/inside.bin", data);
  fs::create_symlink(fs::path(folder / "outside.bin"), folder / "models/link.bin");
  fs::create_directory_symlink(folder.path(), folder / "models/up");
  const auto error = [&](const std::string& location) {
    return read_error(folder.write("models/m.onnx", referring(location)));
  };
  CHECK(error("sub/inside.bin").empty());
  CHECK(error("./sub/inside.bin").empty());
  CHECK(contains(error("../outside.bin"), "leaves the model's folder"));
  CHECK(contains(error("sub/../../outside.bin"), "leaves the model's folder"));
  CHECK(contains(error("sub/../inside.bin"), "goes up by '..'"));
  CHECK(contains(error(folder / "outside.bin"), "absolute"));
  CHECK(contains(error("link.bin"), "link"));
  CHECK(contains(error("up/outside.bin"), "link"));
  CHECK(contains(error("missing.bin"), "missing"));
  CHECK(contains(error("sub"), "not a regular file"));
  CHECK(contains(error(""), "no file is named"));
}

TEST_CASE("external data must have the size of their tensor") {
  const TempDir folder;
  folder.write("w.bin", std::string(2048, 'x'));
  const auto error = [&](const std::string& offset, const std::string& length) {
    return read_error(folder.write("m.onnx", referring("w.bin", offset, length)));
  };
  CHECK(error("1024", "1024").empty());
  CHECK(contains(error("1025", "1024"), "end too early"));
  CHECK(contains(error("18446744073709551615", "1024"), "not a number"));
  CHECK(contains(error("9223372036854775807", "1024"), "end too early"));
  CHECK(contains(error("-1", "1024"), "not a number"));
  CHECK(contains(error("0", "1000"), "do not fit"));
}

TEST_CASE("weights that are copied from file to file need not lie in memory") {
  const TempDir folder;
  constexpr int64_t kCount = 2 << 20;
  Model model = weighty();
  model.graph->find("v")->constant = ramp(kCount, 0);
  write_model(model, folder / "m.onnx", {.external = true});
  const Model mapped = read_model(folder / "m.onnx");
  const int64_t before = test::file_pages();
  write_model(mapped, folder / "copy.onnx", {.external = true});
  CHECK(test::file_pages() - before < kCount * 4 / 4096 / 2);
  CHECK(same_weights(read_model(folder / "copy.onnx"), model));
}
