#include "backends/cpu/strided.h"

#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::cpu;

namespace {

template <class T>
void require_copied(const Dims& dims, const Dims& from, const Dims& to, int64_t first, int64_t from_size) {
  std::vector<T> in(static_cast<size_t>(from_size)), out(static_cast<size_t>(element_count(dims)));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 0x9e3779b97f4a7c15u >> 20);
  std::vector<T> expected = out;
  for (int64_t k = 0; k < element_count(dims); ++k) {
    int64_t rest = k, a = first, b = 0;
    for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
      a += rest % dims[axis] * from[axis];
      b += rest % dims[axis] * to[axis];
    }
    expected[static_cast<size_t>(b)] = in[static_cast<size_t>(a)];
  }
  const StridedCopy copy(sizeof(T), dims, from, to);
  copy.run(reinterpret_cast<const std::byte*>(in.data() + first), reinterpret_cast<std::byte*>(out.data()));
  REQUIRE(out == expected);
}

template <class T>
void require_all_ways() {
  require_copied<T>({4, 5, 6}, {30, 6, 1}, {30, 6, 1}, 0, 120);             // as it is
  require_copied<T>({4, 5, 6}, {-30, 6, -1}, {30, 6, 1}, 95, 120);          // backwards
  require_copied<T>({4, 5, 6}, {0, 1, 0}, {30, 6, 1}, 0, 5);                // repeated
  require_copied<T>({4, 5, 6}, {30, 6, 1}, {1, 24, 4}, 0, 120);             // turned
  require_copied<T>({3, 1, 2, 40}, {80, 7, 40, 1}, {80, 9, 1, 2}, 0, 240);  // interleaved
  require_copied<T>({}, {}, {}, 2, 3);
  require_copied<T>({300, 70, 3}, {420, 6, 2}, {3, 900, 1}, 1, 126000);  // enough for several threads
}

}  // namespace

TEST_CASE("elements of every width are copied between any strides") {
  for (const int threads : {1, 3})
    with_threads(threads, [] {
      require_all_ways<uint8_t>();
      require_all_ways<uint16_t>();
      require_all_ways<uint32_t>();
      require_all_ways<uint64_t>();
    });
}

TEST_CASE("elements side by side along two axes are moved in tiles, whatever is left at the ends") {
  const auto require_turned = []<class T>(T, int64_t rows, int64_t columns) {
    INFO(rows << " by " << columns << " elements of " << sizeof(T) << " bytes");
    const Dims dims{2, rows, columns}, from{rows * columns, 1, rows}, to{rows * columns, columns, 1};
    CHECK(StridedCopy(sizeof(T), dims, from, to).is_tiled() == (std::min(rows, columns) * sizeof(T) >= 16));
    require_copied<T>(dims, from, to, 0, 2 * rows * columns);
  };
  const std::pair<int64_t, int64_t> sizes[] = {{1, 9},   {2, 2},    {3, 5},     {4, 4},    {16, 17},   {19, 16},
                                               {35, 67}, {64, 129}, {300, 190}, {515, 33}, {64, 1024}, {70, 2048}};
  for (const int threads : {1, 3})
    with_threads(threads, [&] {
      for (const auto& [rows, columns] : sizes) {
        require_turned(uint8_t{}, rows, columns);
        require_turned(uint16_t{}, rows, columns);
        require_turned(uint32_t{}, rows, columns);
        require_turned(uint64_t{}, rows, columns);
      }
    });
}

TEST_CASE("a copy knows when it is nothing") {
  CHECK(StridedCopy(4, {2, 3, 4}, {12, 4, 1}, {12, 4, 1}).is_nothing());
  CHECK(StridedCopy(4, {1, 3, 1}, {99, 1, 7}, {3, 1, 1}).is_nothing());
  CHECK_FALSE(StridedCopy(4, {2, 3}, {4, 1}, {3, 1}).is_nothing());
  CHECK_FALSE(StridedCopy(4, {3}, {0}, {1}).is_nothing());
  CHECK(element_bytes(DType::kC128) == 16u);
  CHECK_FALSE(element_bytes(DType::kI4));
}
