#include "backends/gpu/conv_product.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {

using Ints = std::vector<int64_t>;

TEST_CASE("convolutions on a GPU") {
  struct Case {
    Dims x, w;
    std::vector<Attr> attrs;
  };
  const Case cases[] = {
      {{2, 3, 9, 11}, {20, 3, 3, 3}, {attr("pads", Ints{1, 1, 1, 1})}},
      {{1, 16, 7, 7}, {70, 16, 1, 1}, {}},
      {{2, 5, 8, 9}, {3, 5, 3, 2}, {attr("strides", Ints{2, 1}), attr("pads", Ints{0, 1, 2, 0})}},
      {{1, 8, 10, 10}, {8, 1, 3, 3}, {attr("group", 8), attr("pads", Ints{1, 1, 1, 1})}},
      {{2, 32, 6, 6}, {64, 16, 3, 3}, {attr("group", 2), attr("dilations", Ints{2, 2})}},
      {{2, 6, 30}, {18, 6, 5}, {attr("strides", Ints{3})}},
      {{1, 3, 5, 6, 7}, {17, 3, 2, 3, 3}, {attr("auto_pad", "SAME_UPPER")}},
      {{3, 32, 5, 5}, {32, 32, 1, 1}, {attr("strides", Ints{2, 2})}},
      {{2, 32, 5, 6}, {40, 16, 1, 1}, {attr("group", 2)}},
      {{1, 144, 4, 4}, {144, 16, 3, 3}, {attr("group", 9)}},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.x) << " by " << to_string(c.w));
    const Tensor x = uniform(c.x, -1, 1), w = uniform(c.w, -1, 1, DType::kF32, 2),
                 b = uniform({c.w[0]}, -1, 1, DType::kF32, 3);
    require_on_gpu("Conv", {x, w, b}, {.attrs = c.attrs});
    require_on_gpu("Conv", {x, w}, {.attrs = c.attrs});
  }
  for (const int64_t kernel : {1, 3})
    for (const auto& [type, tolerance] : {std::pair(DType::kF16, 1e-2), std::pair(DType::kBF16, 8e-2)})
      require_on_gpu("Conv",
                     {uniform({1, 16, 6, 6}, -1, 1, type), uniform({16, 16, kernel, kernel}, -1, 1, type),
                      uniform({16}, -1, 1, type)},
                     {}, tolerance);
}

TEST_CASE("a convolution by products takes images in turn, and keeps to its rule") {
  gpu::ConvArgs args{};
  args.batch = 20, args.channels_in = 64, args.channels_out = 32, args.groups = 1;
  args.windows = {{1, 56, 56}, {1, 56, 56}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
  const auto columns = gpu::conv_columns(args, 4);  // 7.2 MB an image
  REQUIRE(columns);
  CHECK((columns->m == 32 && columns->k == 576 && columns->n == 3136 && columns->images == 4));
  CHECK(columns->bytes == 4 * 4 * 576 * 3136);
  CHECK(gpu::conv_columns(args, 1, 16, 16)->images == 18);
  gpu::ConvArgs one = args;
  one.windows.kernel[1] = one.windows.kernel[2] = 1, one.windows.before[1] = one.windows.before[2] = 0;
  CHECK(gpu::conv_columns(one, 4)->bytes == 0);
  CHECK(gpu::conv_columns(one, 4)->images == 20);
  one.windows.stride[2] = 2, one.windows.out[2] = 28;
  CHECK(gpu::conv_columns(one, 4)->bytes > 0);
  gpu::ConvArgs small = args;
  small.channels_out = 8;
  CHECK_FALSE(gpu::conv_columns(small, 4));
  small = args;
  small.groups = 16;
  CHECK_FALSE(gpu::conv_columns(small, 4));
  small = args;
  for (int* sides : {small.windows.in, small.windows.out}) sides[1] = sides[2] = 1000;
  CHECK_FALSE(gpu::conv_columns(small, 4));
}

TEST_CASE("images that do not fit into columns at once on a GPU") {
  const std::vector<Datum> inputs{uniform({3, 16, 64, 64}, -1, 1), uniform({16, 16, 7, 7}, -0.1, 0.1, DType::kF32, 2)};
  const OpOptions options{.attrs = {attr("pads", Ints{3, 3, 3, 3})}};  // 12.8 MB of columns an image
  const auto plan = gpu_on_host()->compile(one_node("Conv", inputs, options, 1), {});
  require_close(plan->run(std::vector<Datum>{inputs[0]})[0].tensor(), run_op("Conv", inputs, options), 1e-5);
}

TEST_CASE("a fused convolution on a GPU adds, then activates") {
  const Tensor x = uniform({2, 8, 6, 6}, -1, 1), w = uniform({24, 8, 3, 3}, -1, 1), b = uniform({24}, -1, 1),
               z = uniform({2, 24, 4, 4}, -1, 1);
  require_on_gpu("FusedConv", {x, w, b, z}, {.attrs = {attr("activation", "Relu")}, .domain = "com.microsoft"});
}

TEST_CASE("transposed convolutions on a GPU") {
  const Tensor x = uniform({2, 6, 5, 4}, -1, 1), b = uniform({4}, -1, 1);
  require_on_gpu("ConvTranspose", {x, uniform({6, 4, 3, 3}, -1, 1), b});
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    require_on_gpu("ConvTranspose", {x, uniform({6, 4, 3, 3}, -1, 1), b},
                   {.attrs = {attr("auto_pad", mode), attr("strides", Ints{2, 2})}});
  require_on_gpu("ConvTranspose", {x, uniform({6, 4, 3, 3}, -1, 1), b},
                 {.attrs = {attr("output_shape", Ints{10, 8}), attr("strides", Ints{2, 2})}});
  require_on_gpu("ConvTranspose", {x, uniform({6, 2, 3, 2}, -1, 1), b},
                 {.attrs = {attr("group", 2), attr("strides", Ints{2, 3}), attr("pads", Ints{1, 0, 1, 1}),
                            attr("output_padding", Ints{1, 0})}});
  require_on_gpu("ConvTranspose", {uniform({1, 3, 7}, -1, 1), uniform({3, 5, 4}, -1, 1)},
                 {.attrs = {attr("strides", Ints{2}), attr("dilations", Ints{2})}});
}

TEST_CASE("transposed convolutions by products on a GPU") {
  struct Case {
    Dims x, w;
    std::vector<Attr> attrs;
  };
  const Case cases[] = {
      {{2, 16, 5, 4}, {16, 20, 3, 3}, {attr("pads", Ints{1, 1, 1, 1})}},
      {{2, 32, 5, 4}, {32, 8, 3, 2}, {attr("group", 2), attr("strides", Ints{2, 3}), attr("pads", Ints{1, 0, 1, 1})}},
      {{3, 16, 6, 7}, {16, 24, 1, 1}, {}},
      {{2, 40, 6, 7}, {40, 16, 1, 1}, {attr("group", 2)}},
      {{1, 16, 9}, {16, 5, 4}, {attr("strides", Ints{2}), attr("dilations", Ints{2})}},
      {{1, 16, 4, 3, 5}, {16, 3, 2, 3, 3}, {attr("strides", Ints{1, 2, 2})}},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.x) << " by " << to_string(c.w));
    const int64_t groups = c.attrs.empty() || c.attrs[0].name != "group" ? 1 : 2;
    const Tensor x = uniform(c.x, -1, 1), w = uniform(c.w, -1, 1, DType::kF32, 2),
                 b = uniform({c.w[1] * groups}, -1, 1, DType::kF32, 3);
    require_on_gpu("ConvTranspose", {x, w, b}, {.attrs = c.attrs});
    require_on_gpu("ConvTranspose", {x, w}, {.attrs = c.attrs});
  }
  require_on_gpu("ConvTranspose",
                 {uniform({1, 16, 5, 4}, -1, 1, DType::kF16), uniform({16, 9, 3, 3}, -1, 1, DType::kF16)}, {}, 1e-2);
}

}  // namespace mlopt::test
