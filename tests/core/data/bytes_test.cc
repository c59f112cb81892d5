#include "core/data/open.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {

TEST_CASE("a text is cut into windows whose targets are the next bytes") {
  const test::TempDir folder;
  const std::string path = folder.write("t.txt", "abcdefghij\xff");
  const InputSpec tokens = test::input("tokens", DType::kI64, {-1, 3});
  const auto data = open_dataset(parse_data_spec("bytes:" + path), {tokens}, {});
  REQUIRE(data->size() == 3);  // the last window would have no target for its last byte
  const Batch batch = data->batch(0, 3);
  CHECK(batch.inputs[0].tensor().dims() == Dims{3, 3});
  CHECK(to_ints(batch.inputs[0].tensor())[3] == 'd');
  CHECK(to_ints(*batch.labels)[2] == 'd');
  CHECK(to_ints(*batch.labels)[8] == 'j');
  const auto end = open_dataset(parse_data_spec("bytes:" + path + ",split=0.5:1"), {tokens}, {});
  REQUIRE(end->size() == 1);  // bytes 5 to 10: "fghij" and one more
  CHECK(to_ints(end->batch(0, 1).inputs[0].tensor()) == std::vector<int64_t>{'f', 'g', 'h'});
  const std::string longer = folder.write("l.txt", std::string(99, 'x') + "y");
  const auto share = open_dataset(parse_data_spec("bytes:" + longer + ",split=0:0.58"), {tokens}, {});
  CHECK(share->size() == 19);  // 58 bytes: 19 windows of 3 and a target
  const auto indexed = open_dataset(parse_data_spec("bytes:" + path + ",split=7:11"), {tokens}, {});
  CHECK(to_ints(*indexed->batch(0, 1).labels) == std::vector<int64_t>{'i', 'j', 255});
}

TEST_CASE("a model of any length takes the length that is asked for") {
  const test::TempDir folder;
  const std::string path = folder.write("t.txt", std::string(300, 'x'));
  const InputSpec open_length = test::input("tokens", DType::kI32, {1, -1});
  CHECK(open_dataset(parse_data_spec("bytes:" + path), {open_length}, {})->batch(0, 1).inputs[0].tensor().dims() ==
        Dims{1, 128});
  CHECK(open_dataset(parse_data_spec("bytes:" + path + ",length=10"), {open_length}, {})->size() == 29);
  const InputSpec fixed = test::input("tokens", DType::kI32, {-1, 8});
  CHECK(test::says(test::thrown_by([&] { open_dataset(parse_data_spec("bytes:" + path + ",length=10"), {fixed}, {}); }),
                   "has 8 tokens"));
  const std::string tiny = folder.write("tiny.txt", "12345678");
  CHECK(test::says(test::thrown_by([&] { open_dataset(parse_data_spec("bytes:" + tiny), {fixed}, {}); }),
                   "8 bytes are too few"));
}

}  // namespace mlopt
