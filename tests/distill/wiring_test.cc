#include "distill/wiring.h"

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "distill/scores.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// A linear classifier of `inputs` numbers into `classes`; `tail` may add nodes behind "s".
Model classifier(int inputs, int classes, const std::string& out = "y", const std::string& tail = {}, int opset = 21,
                 const std::string& input = "x") {
  const auto n = [](int v) { return std::to_string(v); };
  std::string weights;
  for (int i = 0; i < inputs * classes; ++i) weights += (i ? "," : "") + n(i % 5 - 2);
  const std::string scores = tail.empty() ? out : "s";
  Model model = parse_text("<ir_version: 8, opset_import: [\"\" : " + n(opset) + "]>\n" + "net (float[N," + n(inputs) +
                           "] " + input + ") => (float[N," + n(classes) + "] " + out + ") <float[" + n(inputs) + "," +
                           n(classes) + "] w = {" + weights + "}> {\n" + "  h = Relu (" + input + ")\n  " + scores +
                           " = MatMul (h, w)\n  " + tail + "\n}");
  model.path = "teacher.onnx";
  return model;
}

distill::Wiring wired(const Model& student, const std::vector<const Model*>& teachers,
                      const distill::Settings& settings) {
  const std::vector<Dims> dims = {{2, 4}};
  std::vector<distill::Teacher> made;
  for (const Model* t : teachers) made.push_back(distill::make_teacher(*t, student, dims, standard_types));
  return distill::wire(student, std::move(made), dims, settings, standard_types);
}

}  // namespace

TEST_CASE("outputs follow those of their name or place") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3, "logits");
  const distill::Wiring wiring = wired(student, {&teacher}, {});
  REQUIRE(wiring.terms.size() == 1);
  CHECK(wiring.terms[0].student == "y");
  CHECK(wiring.terms[0].loss->name == "kl");
  CHECK(wiring.teachers[0].taps == std::vector<std::string>{"logits"});
  CHECK(wiring.hard_weight == 0);
}

TEST_CASE("shares are followed by the scores behind them") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3, "p", "p = Softmax <axis = -1> (s)");
  const distill::Wiring wiring = wired(student, {&teacher}, {});
  CHECK(wiring.teachers[0].taps == std::vector<std::string>{"s"});
  const distill::Wiring turned = wired(teacher, {&student}, {});
  CHECK(turned.terms[0].student == "s");
}

TEST_CASE("of pictures the scores behind shares are those of a Softmax over the channels") {
  const auto pictures = [](int axis) {
    Model model = parse_text(R"(<ir_version: 8, opset_import: ["" : 21]>
      net (float[N,4,2,2] x) => (float[N,3,2,2] y) <float[3,4,1,1] w = {1,0,2,1, 0,1,1,2, 2,1,0,1}>
      { s = Conv (x, w)  y = Softmax <axis = )" +
                             std::to_string(axis) + "> (s) }");
    model.path = "teacher.onnx";
    return model;
  };
  distill::Settings settings;
  settings.soft = &distill::find_loss("kl", "--soft");
  const std::vector<Dims> dims = {{2, 4, 2, 2}};
  for (const auto& [axis, followed] : {std::pair{1, "s"}, std::pair{-3, "s"}, std::pair{3, "y"}}) {
    const Model student = pictures(axis);
    std::vector<distill::Teacher> teachers;
    teachers.push_back(distill::make_teacher(student, student, dims, standard_types));
    const distill::Wiring wiring = distill::wire(student, std::move(teachers), dims, settings, standard_types);
    CHECK(wiring.terms[0].student == followed);
    CHECK(wiring.teachers[0].taps == std::vector<std::string>{followed});
  }
}

TEST_CASE("what labels, or the user, say of an output decides how it follows, and a guess is noted") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3), shares = classifier(4, 3, "p", "p = Softmax (s)");
  distill::Settings settings;
  CHECK(wired(student, {&teacher}, settings).guessed);
  CHECK(!wired(shares, {&teacher}, settings).guessed);
  settings.named = train::find_loss("l1");
  const distill::Wiring numbers = wired(student, {&teacher}, settings);
  CHECK(distill::in_words(numbers) == "mse 1");
  CHECK(!numbers.guessed);
  settings.soft = &distill::find_loss("kl", "--soft");
  CHECK(distill::in_words(wired(student, {&teacher}, settings)) == "kl 1");
  settings = {};
  settings.hard = train::find_loss("cross-entropy");
  const distill::Wiring classes = wired(student, {&teacher}, settings);
  CHECK(distill::in_words(classes) == "kl 1");
  CHECK(!classes.guessed);
}

TEST_CASE("a teacher's input that the student's data fix is fixed for it too") {
  const auto scaled = [](const std::string& inputs) {
    return parse_text("<ir_version: 8, opset_import: [\"\" : 21]>\nnet (" + inputs + R"() => (float[N,4] y)
      <float[4,4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}> { h = MatMul (x, w)  y = Mul (h, s) })");
  };
  const Model student = scaled("float[N,4] x, float s"), model = scaled("float s, float[N,4] x");
  train::BatchInputs inputs({{2, 4}, {}});
  inputs.fixed.emplace(1, Tensor::scalar(0.5F));
  const distill::Teacher teacher = distill::make_teacher(model, student, inputs, standard_types);
  CHECK(teacher.inputs == std::vector<size_t>{1, 0});
  const Value* factor = teacher.model.graph->find("y")->producer->input(1);
  REQUIRE(factor->known_constant());
  CHECK(factor->known_constant()->data<float>()[0] == 0.5F);
}

TEST_CASE("a teacher of another opset, and whose input has another name, is followed") {
  const Model student = classifier(4, 3), old = classifier(4, 3, "y", {}, 9, "data");
  const distill::Wiring wiring = wired(student, {&old}, {});
  CHECK(wiring.teachers[0].model.opset() == 21);
  CHECK(wiring.teachers[0].inputs == std::vector<size_t>{0});
}

TEST_CASE("a teacher that cannot have the student's opset says which of them to convert") {
  Model student = classifier(4, 3, "y", {}, 11);
  const Model teacher = classifier(4, 3, "y", "y = Trilu (s)");
  student.path = "student.onnx";
  const Error error = thrown_by([&] { wired(student, {&teacher}, {}); });
  CHECK(error.code == Code::kUnsupported);
  CHECK(says(error, "mlopt convert student.onnx --opset 21"));
}

TEST_CASE("a teacher that does not fit the student is refused") {
  const Model student = classifier(4, 3), wide = classifier(4, 5), other = classifier(6, 3);
  const Error classes = thrown_by([&] { wired(student, {&wide}, {}); });
  CHECK(classes.code == Code::kBadInput);
  CHECK(says(classes,
             "the teacher's outputs do not match the student's: 'y' float32[2,3] is to follow 'y' "
             "float32[2,5]: teacher.onnx"));
  const Error inputs = thrown_by([&] { wired(student, {&other}, {}); });
  CHECK(inputs.code == Code::kBadInput);
  CHECK(says(inputs, "the teacher takes 'x' float32[N,6], and the student's batches are 'x' float32[2,4]"));
}

TEST_CASE("named tensors are found, by one name or by a pattern, in the teachers that have them") {
  const Model student = classifier(4, 3), plain = classifier(4, 3);
  const Model renamed = classifier(4, 3, "y", {}, 21, "x");
  distill::Settings settings;
  settings.alpha = 0;
  settings.matches = {distill::parse_match("t=[hy],loss=mse,w=2")};
  const distill::Wiring wiring = wired(student, {&plain, &renamed}, settings);
  REQUIRE(wiring.terms.size() == 4);
  CHECK(wiring.terms[0].weight == 1);  // the two teachers share it
  CHECK(distill::in_words(wiring) == "mse 4");
  settings.matches = {distill::parse_match("t=h,s=g,loss=mse")};
  CHECK(says(thrown_by([&] { wired(student, {&plain}, settings); }), "the student computes no tensor 'g'"));
  settings.matches = {distill::parse_match("t=hh,s=h,loss=mse")};
  CHECK(says(thrown_by([&] { wired(student, {&plain}, settings); }), "the teacher computes no tensor 'hh'"));
  settings.matches = {distill::parse_match("t=q*,loss=mse")};
  CHECK(says(thrown_by([&] { wired(student, {&plain}, settings); }), "no tensor that student and teacher both have"));
}

TEST_CASE("labels that the loss cannot take are left out, and the teacher has the whole share") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3);
  distill::Settings settings;
  settings.alpha = 0.9;
  settings.hard = train::find_loss("mse");
  settings.label_numbers = 1;  // a class of each picture, where the loss takes three numbers
  CHECK(distill::in_words(wired(student, {&teacher}, settings)) == "kl 1");
  settings.label_numbers = 3;
  CHECK(distill::in_words(wired(student, {&teacher}, settings)) == "mse 0.9 + hard 0.1");
  settings.hard = train::find_loss("cross-entropy");
  settings.label_numbers = 1;
  CHECK(distill::in_words(wired(student, {&teacher}, settings)) == "kl 0.9 + hard 0.1");
}

TEST_CASE("weights go by name, and what weighs nothing is left out") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3);
  distill::Settings settings;
  settings.alpha = 0.9;
  settings.hard = train::find_loss("cross-entropy");
  CHECK(distill::in_words(wired(student, {&teacher}, settings)) == "kl 0.9 + hard 0.1");
  settings.weights = {{"kl", 0}, {"hard", 0}, {"hint", 7}};
  settings.matches = {distill::parse_match("t=h,loss=hint")};
  CHECK(distill::in_words(wired(student, {&teacher}, settings)) == "hint 7");
  settings.matches.clear();
  CHECK(says(thrown_by([&] { wired(student, {&teacher}, settings); }), "the student follows nothing"));
}

TEST_CASE("weights of what nothing is learned by are refused") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3);
  for (const char* name : {"hint", "hard"}) {
    distill::Settings settings;
    settings.weights = {{name, 3}};
    const Error error = thrown_by([&] { wired(student, {&teacher}, settings); });
    CHECK(says(error, fmt::format("nothing is learned by the loss '{}'", name)));
    CHECK(error.code == Code::kUsage);
  }
}

TEST_CASE("names that are proposed can be followed") {
  const Model student = classifier(4, 3), teacher = classifier(4, 3);
  distill::Settings settings;
  settings.matches = {distill::parse_match("t=xx,s=h,loss=mse")};
  const Error error = thrown_by([&] { wired(student, {&teacher}, settings); });
  CHECK(says(error, "the teacher computes no tensor 'xx'"));
  CHECK(error.fix.find("'x'") == std::string::npos);
}

TEST_CASE("a teacher drops nothing") {
  const Model student = classifier(4, 3);
  const Model teacher = parse_text(R"(<ir_version: 8, opset_import: ["" : 21]>
    net (float[N,4] x) => (float[N,3] y) <float[4,3] w = {1,0,2, 1,0,1, 1,2,2, 1,0,1}, float r = {0.5}, bool t = {1}>
    { d, m = Dropout (x, r, t)  y = MatMul (d, w) })");
  const distill::Teacher made = distill::make_teacher(teacher, student, {{{2, 4}}}, standard_types);
  CHECK(made.model.graph->find("d")->producer->input(2) == nullptr);
}

}  // namespace mlopt::test
