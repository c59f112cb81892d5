#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

/// Inputs of a recurrent layer: X, W, R, then B, sequence_lens (none), initial_h and initial_c where asked for.
std::vector<Datum> inputs_of(int64_t gates, int64_t steps, int64_t batch, int64_t inputs, int64_t hidden,
                             int64_t directions, bool bias, int states) {
  std::vector<Datum> all{uniform({steps, batch, inputs}, -1, 1, DType::kF32, 1),
                         uniform({directions, gates * hidden, inputs}, -1, 1, DType::kF32, 2),
                         uniform({directions, gates * hidden, hidden}, -1, 1, DType::kF32, 3)};
  all.push_back(bias ? Datum(uniform({directions, 2 * gates * hidden}, -1, 1, DType::kF32, 4)) : Datum());
  all.emplace_back();
  for (int i = 0; i < states; ++i)
    all.emplace_back(uniform({directions, batch, hidden}, -1, 1, DType::kF32, 5 + static_cast<uint64_t>(i)));
  return all;
}

// Errors of single operations grow over the steps.
constexpr double kTolerance = 2e-5;

template <class Fn>
void for_layers(const Fn& fn) {
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    for (const auto& [steps, batch, inputs, hidden] :
         {std::array<int64_t, 4>{1, 1, 5, 7}, {6, 1, 3, 16}, {9, 3, 10, 5}})
      for (const bool bias : {false, true})
        for (const int states : {0, 1}) {
          INFO(direction << " " << steps << " steps of " << batch << ", bias " << bias << ", states " << states);
          fn(std::string(direction), steps, batch, inputs, hidden, bias, states);
        }
}

}  // namespace

TEST_CASE("LSTM gives what the reference gives") {
  for_layers([](const std::string& direction, int64_t steps, int64_t batch, int64_t inputs, int64_t hidden, bool bias,
                int states) {
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    require_as_reference(
        "LSTM", inputs_of(4, steps, batch, inputs, hidden, directions, bias, 2 * states),
        {.attrs = {{"direction", direction, ""}, {"hidden_size", hidden, ""}}, .outputs = 3, .fixed = true},
        kTolerance);
  });
}

TEST_CASE("GRU gives what the reference gives") {
  for_layers([](const std::string& direction, int64_t steps, int64_t batch, int64_t inputs, int64_t hidden, bool bias,
                int states) {
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    for (const int64_t linear : {0, 1})
      require_as_reference(
          "GRU", inputs_of(3, steps, batch, inputs, hidden, directions, bias, states),
          {.attrs = {{"direction", direction, ""}, {"hidden_size", hidden, ""}, {"linear_before_reset", linear, ""}},
           .outputs = 2,
           .fixed = true},
          kTolerance);
  });
}

TEST_CASE("RNN gives what the reference gives") {
  for_layers([](const std::string& direction, int64_t steps, int64_t batch, int64_t inputs, int64_t hidden, bool bias,
                int states) {
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    for (const char* activation : {"Tanh", "Relu"}) {
      const std::vector<std::string> all(static_cast<size_t>(directions), activation);
      require_as_reference(
          "RNN", inputs_of(1, steps, batch, inputs, hidden, directions, bias, states),
          {.attrs = {{"direction", direction, ""}, {"hidden_size", hidden, ""}, {"activations", all, ""}},
           .outputs = 2,
           .fixed = true},
          kTolerance);
    }
  });
}

TEST_CASE("long sequences and many of them are divided among threads") {
  constexpr int64_t kSteps = 210, kBatch = 10, kInputs = 6, kHidden = 40;
  struct Case {
    const char* op;
    int64_t gates, directions, linear;
  };
  for (const Case& c : {Case{"LSTM", 4, 1, 0},
                        {"LSTM", 4, 2, 0},
                        {"GRU", 3, 1, 0},
                        {"GRU", 3, 1, 1},
                        {"GRU", 3, 2, 0},
                        {"RNN", 1, 1, 0}}) {
    INFO(c.op << ", " << c.directions << " directions, linear " << c.linear);
    const auto numbers = [](Dims dims, uint64_t seed) {
      return uniform(std::move(dims), -0.2, 0.2, DType::kF32, seed);
    };
    const int64_t width = c.gates * kHidden;
    const std::vector<Datum> inputs{numbers({kSteps, kBatch, kInputs}, 1), numbers({c.directions, width, kInputs}, 2),
                                    numbers({c.directions, width, kHidden}, 3), numbers({c.directions, 2 * width}, 4)};
    std::vector<Attr> attrs{{"direction", std::string(c.directions == 2 ? "bidirectional" : "reverse"), ""},
                            {"hidden_size", kHidden, ""}};
    if (c.gates == 3) attrs.push_back({"linear_before_reset", c.linear, ""});
    require_as_reference(c.op, inputs, {.attrs = attrs, .outputs = 2, .fixed = true}, kTolerance);
  }
}

TEST_CASE("recurrent layers of other kinds are the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto inputs = inputs_of(4, 3, 2, 5, 7, 1, true, 0);
  for (const std::vector<Attr>& attrs :
       {std::vector<Attr>{{"clip", 0.5f, ""}}, {{"activations", std::vector<std::string>{"Relu", "Tanh", "Tanh"}, ""}}})
    require_close(run_op("LSTM", inputs, {.attrs = attrs, .fixed = true, .backend = cpu.get()}),
                  run_op("LSTM", inputs, {.attrs = attrs}), kTolerance);
  const auto simple = inputs_of(1, 3, 2, 5, 7, 2, true, 0);
  const std::vector<Attr> mixed = {{"direction", std::string("bidirectional"), ""},
                                   {"activations", std::vector<std::string>{"Tanh", "Relu"}, ""}};
  require_close(run_op("RNN", simple, {.attrs = mixed, .fixed = true, .backend = cpu.get()}),
                run_op("RNN", simple, {.attrs = mixed}), kTolerance);
}

}  // namespace mlopt::test
