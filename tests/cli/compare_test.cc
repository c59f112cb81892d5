#include "core/base/text.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// The two layers with another bias.
std::string changed(const test::TempDir& folder) {
  std::string text = test::kTwoLayers;
  const std::string bias = "{0.5, -1, 2}";
  text.replace(text.find(bias), bias.size(), "{0.5, -1, 2.5}");
  return write_text_model(folder, "changed.onnx", text);
}

}  // namespace

TEST_CASE("compare tells how far two models are apart") {
  const test::TempDir folder;
  const std::string a = write_text_model(folder, "a.onnx", test::kTwoLayers), b = changed(folder);
  const Json same = Json::parse(run_mlopt({"compare", a, a, "--json", "-"}).out);
  const Json& equal = same.find("outputs")->items().at(0);
  CHECK(equal.find("name")->string() == "y");
  CHECK(equal.find("max_abs")->number() == 0);
  CHECK(equal.find("sqnr_db")->number() == 999);
  CHECK(equal.find("argmax_agreement")->number() == 1);

  const test::Outcome outcome = run_mlopt({"compare", a, b, "--json", "-", "--device", "reference"});
  CHECK(outcome.status == 0);
  const Json report = Json::parse(outcome.out);
  const Json& other = report.find("outputs")->items().at(0);
  CHECK(other.find("max_abs")->number() == Approx(0.5).margin(1e-5));
  CHECK(other.find("sqnr_db")->number() < 60);
  for (const char* key : {"max_rel", "cosine"}) CHECK(other.find(key));
}

TEST_CASE("models that leave their batch open but run with one sample only are compared with one") {
  const test::TempDir folder;
  const std::string a =
      write_text_model(folder, "a.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,4] x) => (float[N,8] y) "
                       "<float[1,4] token = {1, 2, 3, 4}> { y = Concat <axis = 1> (x, token) }");
  CHECK(run_mlopt({"compare", a, a, "--tolerance", "0", "-q"}).status == 0);
}

TEST_CASE("compare's gates") {
  const test::TempDir folder;
  const std::string a = write_text_model(folder, "a.onnx", test::kTwoLayers), b = changed(folder);
  const test::Outcome quiet = run_mlopt({"compare", a, b, "--tolerance", "1e-3", "-q"});
  CHECK(quiet.status == 1);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.find("FAILS  tolerance: ") == 0);
  CHECK(run_mlopt({"compare", a, b, "--tolerance", "10", "-q"}).status == 0);
  CHECK(run_mlopt({"compare", a, b, "--min-sqnr", "100", "-q"}).status == 1);
  const Json equal = Json::parse(run_mlopt({"compare", a, a, "--min-sqnr", "100", "--json", "-"}).out);
  CHECK(equal.find("gates")->items().at(0).find("value")->number() == 999);
  CHECK(run_mlopt({"compare", a, b, "--max-size", "200%", "-q"}).status == 0);
  CHECK(run_mlopt({"compare", a, b, "--max-drop", "1", "-q"}).status == 2);
}

TEST_CASE("models that cannot be compared are an error that lists both") {
  const test::TempDir folder;
  const std::string a = write_text_model(folder, "a.onnx", test::kTwoLayers);
  const std::string c = write_text_model(
      folder, "c.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,4] z) => (float[N,4] y) { y = Relu (z) }");
  const test::Outcome outcome = run_mlopt({"compare", a, c});
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("x and z") != std::string::npos);
}

TEST_CASE("NaN in one model only is no equality") {
  const test::TempDir folder;
  const auto model = [&](const std::string& name, const std::string& number) {
    return write_text_model(folder, name,
                            "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,2] x) => (float[N,2] y) "
                            "<float[2] zero = {0, 0}, float[2] one = {1, " +
                                number + "}> { q = Div (zero, one) y = Add (x, q) }");
  };
  const std::string a = model("a.onnx", "1"), b = model("b.onnx", "0");
  for (const bool swapped : {false, true}) {
    const std::vector<std::string> args = {"compare", swapped ? b : a, swapped ? a : b, "--device", "reference"};
    const test::Outcome text = run_mlopt(args);
    CHECK(text.out.find("NaN or infinity in one only") != std::string::npos);
    CHECK(text.out.find("equal") == std::string::npos);
    std::vector<std::string> with_json = args;
    with_json.insert(with_json.end(), {"--json", "-"});
    const Json report = Json::parse(run_mlopt(with_json).out);
    const Json& output = report.find("outputs")->items().at(0);
    for (const char* key : {"max_abs", "max_rel", "cosine"}) CHECK(output.find(key)->is_null());
    CHECK(output.find("sqnr_db")->number() == -999);
    CHECK(output.find("argmax_agreement")->number() == 0);
    CHECK_FALSE(output.find("same_nonfinite")->boolean());
  }
}
