#include <sys/mman.h>

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"

using namespace mlopt;

TEST_CASE("weights above 2 GB are refused where they cannot be external, before anything is written") {
  constexpr size_t kBytes = size_t{1} << 31;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  {
    Model model = parse_text(test::kTwoLayers);
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(memory), kBytes);
    Value* w = model.graph->add_constant("large", Tensor::view(DType::kU8, {1 << 16, 1 << 15}, bytes, nullptr));
    model.graph->add_op("Identity", {w}, {});
    CHECK_THROWS_WITH(written_size(model, "-"),
                      Catch::Contains("2 GB") && Catch::Contains("write the model to a file"));
    CHECK_THROWS_WITH(written_size(model, "m.onnx", {.external = false}), Catch::Contains("2 GB"));
    const test::TempDir folder;
    CHECK_THROWS_WITH(write_model(model, folder / "m.onnx", {.external = false}), Catch::Contains("2 GB"));
    CHECK(std::filesystem::is_empty(folder.path()));
  }
  ::munmap(memory, kBytes);
}
