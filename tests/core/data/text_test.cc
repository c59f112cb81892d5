#include "core/data/open.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/pieces.h"
#include "tests/support/temp_dir.h"
#include "tests/support/testdata.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

using Ids = std::vector<int64_t>;

const char* const kWords = "[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\nbad\nfilm\n##s\n,\n";  // 0 to 8

const InputSpec kIds = test::input("input_ids", DType::kI64, {-1, 6});

struct Opened {
  test::TempDir folder;
  std::unique_ptr<Dataset> data;

  Opened(const std::string& text, const std::vector<InputSpec>& inputs, const std::string& options = "") {
    const std::string vocabulary = folder.write("v.txt", kWords);
    data = open_dataset(parse_data_spec("text:" + folder.write("t.csv", text) + ",vocab=" + vocabulary + options),
                        inputs, {});
  }
  Ids ids(int64_t i, size_t input = 0) const { return to_ints(data->batch(i, 1).inputs[input].tensor()); }
  Ids labels() const { return to_ints(*data->batch(0, data->size()).labels); }
};

Error refused(const std::string& text, const std::vector<InputSpec>& inputs, const std::string& options = "") {
  const Error error = test::thrown_by([&] { const Opened opened(text, inputs, options); });
  CHECK(error.code == Code::kBadInput);
  return error;
}

}  // namespace

TEST_CASE("texts give ids, mask and types, by the names of the inputs and in their types") {
  const std::vector<InputSpec> inputs = {test::input("attention_mask", DType::kI32, {-1, 6}), kIds,
                                         test::input("token_type_ids", DType::kI64, {-1, 6})};
  const Opened opened("1,good films\n0,\"bad, bad, bad\"\n", inputs, ",label=0");
  REQUIRE(opened.data->size() == 2);
  const Batch batch = opened.data->batch(0, 2);
  CHECK(batch.inputs[0].tensor().dtype() == DType::kI32);
  CHECK(batch.inputs[1].tensor().dims() == Dims{2, 6});
  CHECK(to_ints(batch.inputs[0].tensor()) == Ids{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1});
  CHECK(to_ints(batch.inputs[1].tensor()) == Ids{2, 4, 6, 7, 3, 0, 2, 5, 8, 5, 8, 3});  // cut off before [SEP]
  CHECK(to_ints(batch.inputs[2].tensor()) == Ids(12, 0));
  CHECK(to_ints(*batch.labels) == Ids{1, 0});
  CHECK(opened.data->name_of(1).find("line 2") != std::string::npos);
}

TEST_CASE("TensorFlow's names, and the only integer input, take the ids") {
  const std::vector<InputSpec> tensorflow = {test::input("segment_ids:0", DType::kI32, {-1, 6}),
                                             test::input("input_mask:0", DType::kF32, {-1, 6}),
                                             test::input("input_ids:0", DType::kI32, {-1, 6})};
  const Opened opened("good,1\n", tensorflow);
  CHECK(opened.ids(0, 2) == Ids{2, 4, 3, 0, 0, 0});
  CHECK(to_doubles(opened.data->batch(0, 1).inputs[1].tensor()) == std::vector<double>{1, 1, 1, 0, 0, 0});
  CHECK(Opened("good,1\n", {test::input("tokens", DType::kI32, {1, 4})}).ids(0) == Ids{2, 4, 3, 0});
}

TEST_CASE("the length is the model's, else max-len, else 128") {
  const InputSpec open_length = test::input("input_ids", DType::kI64, {-1, -1});
  CHECK(Opened("good,1\n", {open_length}).ids(0).size() == 128);
  CHECK(Opened("good,1\n", {open_length}, ",max-len=3").ids(0) == Ids{2, 4, 3});
  CHECK(Opened("good,1\n", {kIds}, ",max-len=6").ids(0).size() == 6);
  CHECK(test::says(refused("good,1\n", {kIds}, ",max-len=5"), "inputs have 6 tokens"));
  CHECK(test::says(refused("good,1\n", {open_length}, ",max-len=2"), "leave no room"));
  CHECK(Opened("good,1\n", {open_length}, ",max-len=2,special=none").ids(0) == Ids{4, 0});
  CHECK(Opened("good,1\n", {open_length}, ",max-len=3,special=end").ids(0) == Ids{4, 3, 0});
}

TEST_CASE("columns of texts and the label are chosen, texts joined with a space") {
  const std::string headed = "class,title,body\nspam,good,film\nham,bad,films\nspam,good,good\n";
  const Opened named(headed, {kIds}, ",text=title/body,label=class");
  CHECK(named.data->size() == 3);
  CHECK(named.ids(1) == Ids{2, 5, 6, 7, 3, 0});
  CHECK(named.labels() == Ids{1, 0, 1});  // words in sorted order
  const Opened by_index(headed, {kIds}, ",text=2,label=0");
  CHECK(by_index.data->size() == 3);  // no other row has the label 'class'
  CHECK(by_index.ids(0) == Ids{2, 6, 3, 0, 0, 0});
  CHECK(Opened("Class Index,text\n3,good\n4,bad\n", {kIds}, ",label=0").labels() == Ids{3, 4});
  CHECK(Opened("3,good\n4,bad\n", {kIds}, ",text=1").labels() == Ids{3, 4});  // the last that is no text
  CHECK(Opened("good,3\nbad,4\n", {kIds}).labels() == Ids{3, 4});
  CHECK(!Opened("good\nbad\n", {kIds}).data->labelled());
  CHECK(!Opened("good,bad\n", {kIds}, ",label=none").data->labelled());
  CHECK(Opened("good,bad\n", {kIds}, ",label=none").ids(0) == Ids{2, 4, 5, 3, 0, 0});
}

TEST_CASE("samples are selected by their classes") {
  const Opened opened("good,a\nbad,a\nfilm,b\nfilms,b\n", {kIds}, ",per-class=1");
  REQUIRE(opened.data->size() == 2);
  CHECK(opened.labels() == Ids{0, 1});
}

TEST_CASE("a model or a table that texts do not fit is refused") {
  const InputSpec other = test::input("pixels", DType::kF32, {-1, 6});
  CHECK(test::says(refused("good,1\n", {kIds, other}), "the model takes 'input_ids' int64[N,6], 'pixels'"));
  CHECK(test::says(refused("good,1\n", {kIds, test::input("position_ids", DType::kI64, {-1, 6})}), "position_ids"));
  CHECK(test::says(refused("good,1\n", {other}), "texts give input_ids"));
  CHECK(test::says(refused("good,1\n", {test::input("input_ids", DType::kF32, {-1, 6})}), "texts give integers"));
  CHECK(
      test::says(refused("good,1\n", {test::input("attention_mask", DType::kI64, {-1, 6})}), "no input takes the ids"));
  CHECK(test::says(refused("good,1\n", {test::input("input_ids", DType::kI64, {-1, 2, 3})}), "rank 1 or 2"));
  CHECK(test::says(refused("good,1\nbad\n", {kIds}), "1 cells, the first row has 2"));
  CHECK(test::says(refused("good,1\n", {kIds}, ",text=0,label=0"), "as a text and as the label"));
  CHECK(test::says(refused("a,b\ngood,1\n", {kIds}, ",text=c"), "no column 'c'"));
  CHECK(test::says(refused("", {kIds}), "no rows"));
  InputSpec small = kIds;
  small.range = ValueRange{.low = 0, .high = 5};
  CHECK(test::says(refused("good,1\n", {small}), "the vocabulary has 9 tokens, the model's table of them 6 rows"));
  const test::TempDir folder;
  const std::string spec = "text:" + folder.write("t.csv", "a,1\n") + ",vocab=" + folder / "none.txt";
  CHECK(test::says(test::thrown_by([&] { open_dataset(parse_data_spec(spec), {kIds}, {}); }), "none.txt"));
}

TEST_CASE("news are read by a SentencePiece model") {
  const auto folder = test::testdata();
  if (!folder) return test::skip("the folder of test data is missing");
  const test::TempDir out;
  const std::string model =
      out.write("m.model", test::unknown_piece() + test::piece("<s>", 0, 3) + test::piece("</s>", 0, 3) +
                               test::piece("\xe2\x96\x81", -3) + test::piece("the", -2) + test::piece("e", -4));
  const auto data = open_dataset(
      parse_data_spec("text:" + (*folder / "data/ag_news_test_first6000.csv").string() + ",text=1/2,vocab=" + model),
      {kIds}, {});
  CHECK(data->size() == 6000);
  CHECK(to_ints(*data->batch(0, 3).labels) == Ids{3, 4, 4});
  CHECK(to_ints(data->batch(0, 1).inputs[0].tensor()) == Ids{1, 3, 0, 5, 0, 2});  // "Fears": unknown, e, unknown
}

}  // namespace mlopt
