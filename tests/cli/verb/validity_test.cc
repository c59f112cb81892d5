#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/models.h"

using namespace mlopt;
using namespace mlopt::cli;
using mlopt::test::contains;

namespace {

Model changed(const std::string& from, const std::string& to) {
  std::string text = test::kTwoLayers;
  text.replace(text.find(from), from.size(), to);
  return parse_text(text);
}

}  // namespace

TEST_CASE("a result with the source's interface is accepted") {
  const Model source = parse_text(test::kTwoLayers);
  CHECK(validity_of(source, clone(source)).rejection.empty());
  CHECK(validity_of(source, clone(source)).doubts.empty());
}

TEST_CASE("a result with other inputs or outputs is a bug, and says which") {
  const Model source = parse_text(test::kTwoLayers);
  for (const auto& [from, to, word] : {std::array<const char*, 3>{"float[N,4] x", "float[M,4] x", "inputs"},
                                       {"float[N,4] x", "float16[N,4] x", "inputs"},
                                       {"float[N,3] y", "float[N,K] y", "outputs"}}) {
    try {
      validity_of(source, changed(from, to));
      FAIL(to);
    } catch (const Error& e) {
      CHECK(e.code == Code::kInternal);
      CHECK(e.message.find(word) != std::string::npos);
    }
  }
}

TEST_CASE("a type or a rank that the source leaves out may become known") {
  Model source = parse_text(test::kTwoLayers);
  const Model result = clone(source);
  source.graph->outputs()[0]->type = Type();
  CHECK_NOTHROW(validity_of(source, result));
  CHECK_THROWS_AS(validity_of(result, source), Error);
  source.graph->outputs()[0]->type = result.graph->outputs()[0]->type;
  source.graph->outputs()[0]->type.dims.reset();
  CHECK_NOTHROW(validity_of(source, result));
  CHECK_THROWS_AS(validity_of(result, source), Error);
}

TEST_CASE("a result that ONNX's checker rejects is a bug") {
  const Model source = parse_text(test::kTwoLayers);
  Model result = clone(source);
  for (Node* node : result.graph->nodes()) {
    if (node->op == "Relu") node->op = "Rleu";
  }
  const Validity validity = validity_of(source, result);
  CHECK(contains(validity.rejection, "Rleu"));
  const auto code = [&](const Verification& verification) {
    try {
      require_accepted(validity, verification, source);
    } catch (const Error& e) {
      CHECK(contains(e.what(), "Rleu"));
      return e.code;
    }
    return Code::kOk;
  };
  Verification verification;
  CHECK(code(verification) == Code::kBadInput);  // the source does not run either
  verification.cannot_run = true;
  CHECK(code(verification) == Code::kInternal);
  verification = {};
  verification.comparison.emplace();
  CHECK(code(verification) == Code::kInternal);
  CHECK_NOTHROW(require_accepted({}, {}, source));
}

TEST_CASE("what shape inference holds against the result alone is told, and is no bug") {
  const std::string head =
      R"(<ir_version: 10, opset_import: ["" : 21, "nowhere" : 1]> g (float[2] x) => (float[3] y) )";
  const Model opaque = parse_text(head + "{ y = nowhere.Thing (x) }");
  const Model open = parse_text(head + "{ y = Identity (x) }");
  CHECK(validity_of(opaque, open).doubts.size() == 1);
  CHECK(validity_of(open, clone(open)).doubts.empty());  // of both: the rewrite is not to blame
}
