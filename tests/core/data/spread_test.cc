#include "core/data/spread.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;

namespace {

/// Sample i is the number i.
class Numbers final : public Dataset {
 public:
  explicit Numbers(int64_t size, int64_t batch = 0) : size_(size), batch_(batch) {}
  int64_t size() const override { return size_; }
  int64_t batch_size() const override { return batch_; }
  bool labelled() const override { return false; }
  std::string name_of(int64_t i) const override { return std::to_string(i); }
  Batch batch(int64_t first, int64_t count) const override {
    std::vector<int64_t> numbers;
    for (int64_t i = first; i < first + count; ++i) numbers.push_back(i);
    return {{Datum(Tensor::ints(numbers))}, std::nullopt, count};
  }

 private:
  int64_t size_, batch_;
};

std::vector<int64_t> samples_of(const Dataset& data) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < data.size(); i += data.batch_size()) {
    const Batch batch = data.batch(i, data.batch_size());
    const auto* numbers = batch.inputs[0].tensor().data<int64_t>();
    all.insert(all.end(), numbers, numbers + batch.count);
    CHECK(data.name_of(i) == std::to_string(numbers[0]));
  }
  return all;
}

}  // namespace

TEST_CASE("spread data are evenly spaced over the whole") {
  using List = std::vector<int64_t>;
  const Numbers ten(10), blocks(11, 2);
  CHECK(samples_of(*spread(ten, 5)) == List{0, 2, 4, 6, 8});
  CHECK(samples_of(*spread(ten, 4)) == List{0, 2, 5, 7});
  CHECK(samples_of(*spread(ten, 100)) == List{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(samples_of(*spread(ten, 1)) == List{0});
  CHECK(samples_of(*spread(blocks, 4)) == List{0, 1, 4, 5});
  CHECK(samples_of(*spread(blocks, 1)) == List{0, 1});  // a whole batch at least
}

TEST_CASE("spread data give only batches of their own size") {
  const Numbers ten(10);
  const auto data = spread(ten, 5);
  CHECK(test::contains(test::error_of([&] { data->batch(0, 2); }), "do not have"));
  CHECK(test::contains(test::error_of([&] { data->batch(5, 1); }), "do not have"));
}
