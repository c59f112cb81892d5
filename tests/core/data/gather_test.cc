#include "core/data/gather.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// Sample i: a row of two numbers, and a setting without axes.
class WithSetting : public Dataset {
 public:
  explicit WithSetting(std::vector<double> settings) : settings_(std::move(settings)) {}

  int64_t size() const override { return static_cast<int64_t>(settings_.size()); }
  int64_t batch_size() const override { return 1; }
  bool labelled() const override { return false; }
  std::string name_of(int64_t i) const override { return "sample " + std::to_string(i); }
  Batch batch(int64_t first, int64_t) const override {
    const auto i = static_cast<double>(first);
    return {{tensor({1, 2}, {i, -i}), tensor({}, {settings_.at(static_cast<size_t>(first))}, DType::kI64)}, {}, 1};
  }

 private:
  std::vector<double> settings_;
};

}  // namespace

TEST_CASE("samples are put one behind the other, a setting is there once") {
  const std::vector<int64_t> which = {2, 0};
  const Batch all = gather(WithSetting({8, 8, 8}), which);
  CHECK(all.count == 2);
  CHECK(all.inputs[0].tensor().dims() == Dims{2, 2});
  CHECK(to_doubles(all.inputs[0].tensor()) == std::vector<double>{2, -2, 0, 0});
  CHECK(all.inputs[1].tensor().dims() == Dims{});
  CHECK(to_doubles(all.inputs[1].tensor()) == std::vector<double>{8});
}

TEST_CASE("samples that do not agree on a setting are no batch") {
  const std::vector<int64_t> which = {0, 2};
  const Error error = thrown_by([&] { gather(WithSetting({8, 8, 16}), which); });
  CHECK(error.code == Code::kBadInput);
  CHECK(error.where == "sample 2");
}

}  // namespace mlopt::test
