#include "core/exec/program.h"

#include <new>

#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/file_pages.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

std::weak_ptr<const void> watched;  // what `watch` gave last; kernels are plain functions and can be handed nothing

void watch(Call& call) {
  const auto owner = std::make_shared<std::vector<float>>(2, 1.0f);
  watched = owner;
  call.set(0, Tensor::view(DType::kF32, {2}, std::as_bytes(std::span(*owner)), owner));
}

void pass_on(Call& call) { call.set(0, call.datum(0)); }

void copy(Call& call) {
  const Tensor& x = call.in(0);
  std::memcpy(call.make(0, x.dtype(), x.dims()).mutable_raw(), x.raw(), x.bytes());
}

void choose(Call& call) { call.set(0, call.run_body(call.in(0).span<bool>()[0] ? 0 : 1, {})[0]); }

void allocate_too_much(Call&) { throw std::bad_alloc(); }

constexpr Kernel kKernels[] = {{"", "Watched", watch},
                               {"", "Identity", pass_on},
                               {"", "Copy", copy},
                               {"", "If", choose},
                               {"", "Huge", allocate_too_much}};
constexpr KernelList kLists[] = {{"test", kKernels}};

struct Lowered {
  explicit Lowered(const std::string& text, std::vector<std::string> taps = {})
      : model(parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main " + text)) {
    options.taps = std::move(taps);
    ProgramContext context{&model, &options, kLists, {}, {}, {}, {}};
    program = std::make_unique<Program>(*model.graph, context);
  }
  std::vector<Datum> run(const std::vector<Datum>& inputs) const {
    return program->run(inputs, {}, RunContext{&hooks, 0, nullptr, nullptr});
  }

  Model model;
  CompileOptions options;
  RunHooks hooks;
  std::unique_ptr<Program> program;
};

}  // namespace

TEST_CASE("a value is freed after its last use, and not before") {
  Lowered lowered(
      "(float[2] x) => (float[2] y) { a = Watched (x)  b = Copy (a)  c = Identity (a)  d = Copy (c)  y = Copy (d) }",
      {"b", "c", "d", "y"});
  std::vector<bool> alive;
  lowered.hooks.on_tap = [&](std::string_view, const Datum&) { alive.push_back(!watched.expired()); };
  lowered.run({Tensor::zeros(DType::kF32, {2})});
  CHECK(alive == std::vector<bool>{true, true, true, false});  // c shares the bytes until d is made
}

TEST_CASE("what a body captures lives as long as the body may read it") {
  Lowered lowered(R"((float[2] x, bool c) => (float[2] y) {
      a = Watched (x)
      y = If (c) <then_branch = f () => (t) { t = Copy (a) }, else_branch = g () => (e) { e = Copy (x) }> })",
                  {"t"});
  bool alive = false;
  lowered.hooks.on_tap = [&](std::string_view, const Datum&) { alive = !watched.expired(); };
  lowered.run({Tensor::zeros(DType::kF32, {2}), Tensor::scalar(true)});
  CHECK(alive);
  CHECK(watched.expired());
}

TEST_CASE("constants are handed out as they are") {
  Lowered lowered("(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Identity (w) }");
  const std::vector<Datum> first = lowered.run({Tensor::zeros(DType::kF32, {2})});
  CHECK(lowered.run({Tensor::zeros(DType::kF32, {2})})[0].tensor().raw() == first[0].tensor().raw());
}

TEST_CASE("a kernel that runs out of memory is an error of its node") {
  const Lowered lowered("(float[2] x) => (y) { y = Huge (x) }");
  const Error error = test::thrown_by([&] { lowered.run({Tensor::zeros(DType::kF32, {2})}); });
  CHECK(error.code == Code::kUnsupported);
  CHECK(test::says(error, "out of memory: Huge giving 'y'"));
}

TEST_CASE("weights that lie in a file need not lie in memory once they were used") {
  const test::TempDir folder;
  constexpr int64_t kBytes = 8 << 20;
  const auto file = MappedFile::open(folder.write("w", std::string(kBytes, 'x')));
  Model model =
      parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main () => (y) <uint8[1] w={0}> { y = Copy (w) }");
  model.graph->find("w")->constant = Tensor::view(DType::kU8, {kBytes}, file->bytes(), file);
  const CompileOptions options;
  const RunHooks hooks;
  ProgramContext context{&model, &options, kLists, {}, {}, {}, {}};
  const Program program(*model.graph, context);
  const int64_t before = test::file_pages();
  CHECK(program.run({}, {}, RunContext{&hooks, 0, nullptr, nullptr})[0].tensor().span<uint8_t>()[kBytes - 1] == 'x');
  CHECK(test::file_pages() - before < kBytes / 4096 / 2);
}
