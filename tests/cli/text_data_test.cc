#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// The mean of the vectors of a text's tokens, then a layer: which of two classes.
constexpr const char* kClassifier = R"(
<ir_version: 10, opset_import: ["" : 21], producer_name: "test">
classifier (int64[N,8] input_ids, int64[N,8] attention_mask) => (float[N,2] logits)
<float[10,3] table = {0.1,-0.2,0.3, 0.2,0.1,-0.1, -0.3,0.2,0.1, 0.1,0.1,-0.2, 0.2,-0.1,0.3, 0.1,0.3,-0.2, -0.1,0.2,0.2,
                      0.3,-0.3,0.1, -0.2,-0.1,0.1, 0.1,0.2,0.3},
 float[3,2] w = {0.3,-0.2, 0.1,0.2, -0.3,0.1}, float[2] b = {0.1, -0.1}, int64[1] last = {2}, int64[1] tokens = {1}>
{
  vectors = Gather (table, input_ids)
  mask = Cast <to = 1> (attention_mask)
  masks = Unsqueeze (mask, last)
  seen = Mul (vectors, masks)
  mean = ReduceMean <keepdims = 0> (seen, tokens)
  logits = Gemm (mean, w, b)
})";

struct Setup {
  test::TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", kClassifier), out = folder / "out.onnx";
  std::string spec;

  Setup() {
    const std::string words = folder.write("v.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\nbad\nfilm\n##s\nthe\na\n");
    std::string rows = "opinion,text\n";
    for (int i = 0; i < 8; ++i) {
      rows += "for,\"A good film\"\nagainst,\"bad, the film\"\nfor,the GOOD films of " + std::string(i + 1, 'x') +
              "\nagainst,films: bad\n";
    }
    spec = "text:" + folder.write("t.csv", rows) + ",text=text,label=opinion,vocab=" + words;
  }

  Json eval(const std::string& path, const std::string& device) const {
    const test::Outcome done =
        run_mlopt({"eval", path, "--data", spec, "--metric", "top1", "--json", "-", "--device", device});
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    return Json::parse(done.out);
  }
};

}  // namespace

TEST_CASE("a classifier of texts is trained and scored on a table of them") {
  const Setup s;
  const test::Outcome trained = run_mlopt({"train", s.model, "-o", s.out, "--data", s.spec, "--epochs", "40", "--lr",
                                           "0.05", "--batch-size", "8", "--no-bench"});
  INFO(trained.err << trained.out);
  REQUIRE(trained.status == 0);
  const Json before = s.eval(s.model, "reference"), after = s.eval(s.out, "reference");
  CHECK(before.find("score")->find("value")->number() < 0.9);
  CHECK(after.find("score")->find("value")->number() == 1);
  CHECK(after.find("score")->find("samples")->integer() == 32);
  CHECK(after.find("data")->string() == s.spec);
}

TEST_CASE("what is wrong with texts or their vocabulary is bad input, named") {
  const Setup s;
  const auto refused = [&](const std::string& spec, int status, const std::string& words) {
    const test::Outcome done = run_mlopt({"eval", s.model, "--data", spec, "--metric", "top1"});
    INFO(done.err);
    CHECK(done.status == status);
    CHECK(done.err.find(words) != std::string::npos);
  };
  const std::string table = "text:" + s.folder / "t.csv";
  refused(table, 2, "the vocabulary is missing");
  refused(table + ",vocab=" + s.folder / "none", 3, "no such file or folder");
  refused(table + ",vocab=" + s.folder.write("broken.model", std::string("\x0a\x05\0\0", 4)), 3, "broken.model");
  refused(s.spec + ",max-len=9", 3, "the model's inputs have 8 tokens");
  const std::string large = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\ne\nf\ng\n";
  refused(table + ",vocab=" + s.folder.write("large.txt", large), 3, "11 tokens, the model's table of them 10 rows");
}
