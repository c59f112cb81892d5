#include "core/ir/infer.h"
#include "core/rewrite/qdq/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

constexpr int64_t kRows = 9, kColumns = 24;

struct Table {
  DType type = DType::kU8;
  Dims scales = {kRows};
  int64_t axis = 0, block = 0;
  bool zeros = true;
  int64_t gathered = 0;  ///< axis of the Gather
  SymDims places = {2, 3};
};

Net net_of(const Table& t) {
  Net net;
  Value* indices = net.graph().add_input("i", Type::tensor(DType::kI64, t.places));
  const bool narrow = t.type == DType::kI4;
  const auto codes = [&](const Dims& dims) {
    return net.constant(uniform(dims, narrow ? -8 : 0, narrow ? 7 : 120, t.type, 3));
  };
  std::vector<Value*> inputs{codes({kRows, kColumns}), net.constant(uniform(t.scales, 0.01, 0.02))};
  if (t.zeros) inputs.push_back(codes(t.scales));
  Value* floats = net.op("DequantizeLinear", inputs, {{"axis", t.axis, ""}, {"block_size", t.block, ""}});
  net.output(net.op("Gather", {floats, indices}, {{"axis", t.gathered, ""}}));
  infer(net.model);
  return net;
}

std::string reason(const Net& net, Target target = Target::kOnnx) {
  Model model = clone(net.model);
  PassContext context = pass_context();
  context.target = target;
  const PassTally tally = run_pass(model, qdq::gather_before_dequantize, context);
  CHECK(tally.applied == 0);
  return tally.declined.empty() ? "" : tally.declined.begin()->first;
}

}  // namespace

TEST_CASE("rows of a stored table are looked up before they become floats") {
  for (const Table& t :
       {Table{}, Table{.type = DType::kI8}, Table{.zeros = false}, Table{.scales = {kRows, 3}, .axis = 1, .block = 8},
        Table{.scales = {kRows, 2}, .axis = -1, .block = 16}})
    CHECK(rewritten(qdq::gather_before_dequantize, net_of(t).model, 0) ==
          (t.zeros ? "Gather Gather Gather DequantizeLinear" : "Gather Gather DequantizeLinear"));
  for (const bool zeros : {true, false}) {
    Net net = net_of({.zeros = zeros});
    net.model.set_opset("", 17);
    CHECK(rewritten(qdq::gather_before_dequantize, net.model, 0) ==
          (zeros ? "Gather Cast Gather Cast Sub Gather Mul" : "Gather Cast Gather Mul"));
  }
  CHECK(rewritten(qdq::gather_before_dequantize, net_of({.scales = {}}).model, 0) == "Gather DequantizeLinear");
  Net old = net_of({.scales = {}});
  old.model.set_opset("", 17);
  CHECK(rewritten(qdq::gather_before_dequantize, old.model, 0) == "Gather DequantizeLinear");
}

TEST_CASE("one scale says of which type its codes are, as the opset has it") {
  const auto inputs_of = [](const Table& t, int64_t opset) {
    Net net = net_of(t);
    net.model.set_opset("", opset);
    rewritten(qdq::gather_before_dequantize, net.model, 0);
    run_pass(net.model, qdq::gather_before_dequantize, pass_context());
    const Node* last = net.graph().outputs()[0]->producer;
    const Value* zero = last->input(2);
    if (zero) CHECK((zero->known_constant()->dtype() == t.type && zero->known_constant()->rank() == 0));
    return last->op + (zero ? " with" : " without");
  };
  const Table plain{.type = DType::kI8, .scales = {}, .zeros = false}, shifted{.type = DType::kI8, .scales = {}};
  CHECK(inputs_of(plain, 17) == "DequantizeLinear with");
  CHECK(inputs_of(plain, 21) == "DequantizeLinear without");
  CHECK(inputs_of(shifted, 17) == "DequantizeLinear with");
  CHECK(inputs_of(shifted, 21) == "Mul without");
  CHECK(inputs_of({.scales = {}, .zeros = false}, 17) == "DequantizeLinear without");
  CHECK(reason(net_of({.type = DType::kI32, .scales = {}, .zeros = false})) ==
        "ONNX Runtime stores no floats as int32");
}

TEST_CASE("a single row has one scale, for which there are no blocks") {
  CHECK(rewritten(qdq::gather_before_dequantize, net_of({.places = {}}).model, 0) ==
        "Gather Cast Gather Cast Sub Gather Mul");
  const Table blocks{.scales = {kRows, 3}, .axis = 1, .block = 8, .places = {}};
  CHECK(rewritten(qdq::gather_before_dequantize, net_of(blocks).model, 0) == "Gather Gather Gather DequantizeLinear");
}

TEST_CASE("a scale that is one number stays one, however many axes it is given with, also for a single index") {
  for (const Dims& scales : {Dims{}, Dims{1}, Dims{1, 1}})
    for (const SymDims& places : {SymDims{}, SymDims{2}}) {
      INFO(scales.size() << " axes, indices of " << places.size());
      const int64_t rows = scales.size() == 2 ? 1 : kRows, block = scales.size() == 2 ? kColumns : 0;
      Net stored;
      Value* index = stored.graph().add_input("i", Type::tensor(DType::kI64, places));
      Value* codes = stored.constant(uniform({rows, kColumns}, 0, 120, DType::kU8, 3));
      Value* floats = stored.op("DequantizeLinear", {codes, stored.constant(uniform(scales, 0.01, 0.02))},
                                {{"axis", int64_t{scales.size() == 2}, ""}, {"block_size", block, ""}});
      stored.output(stored.op("Gather", {floats, index}));
      infer(stored.model);
      if (scales.size() != 1)  // the standard has one scale for an axis of nine only where it is a scalar
        CHECK(rewritten(qdq::gather_before_dequantize, stored.model, 0) == "Gather DequantizeLinear");
      Model result = clone(stored.model);
      run_pass(result, qdq::gather_before_dequantize, pass_context());
      CHECK(result.graph->outputs()[0]->producer->input(1)->known_constant()->rank() == 0);
      Net spelt;
      index = spelt.graph().add_input("i", Type::tensor(DType::kI64, places));
      Value* numbers = spelt.op("Cast", {spelt.constant(uniform({kRows, kColumns}, 0, 120, DType::kU8, 3))},
                                {{"to", int64_t{1}, ""}});
      Value* levels = spelt.op("Sub", {numbers, spelt.constant(tensor(scales, {7}))});
      spelt.output(spelt.op("Gather", {spelt.op("Mul", {levels, spelt.constant(tensor(scales, {0.25}))}), index}));
      infer(spelt.model);
      CHECK(rewritten(qdq::gather_before_dequantize, spelt.model, 0) == "Gather Cast Sub Mul");
    }
}

TEST_CASE("rows of a table whose numbers are spelt out are looked up before as well") {
  const auto net_of = [](const Dims& scales, bool cast_zeros) {
    Net net;
    Value* indices = net.graph().add_input("i", Type::tensor(DType::kI64, SymDims{2, 3}));
    const std::vector<Attr> to_float = {{"to", int64_t{1}, ""}};
    Value* codes = net.op("Cast", {net.constant(uniform({kRows, kColumns}, 0, 255, DType::kU8, 3))}, to_float);
    Value* zeros = cast_zeros ? net.op("Cast", {net.constant(uniform(scales, 0, 255, DType::kU8, 4))}, to_float)
                              : net.constant(tensor({}, {128}));
    Value* scale = net.constant(uniform(scales, 0.01, 0.02));
    net.output(net.op("Gather", {net.op("Mul", {net.op("Sub", {codes, zeros}), scale}), indices}));
    net.model.set_opset("", 17);
    infer(net.model);
    return net;
  };
  CHECK(rewritten(qdq::gather_before_dequantize, net_of({kRows, 1}, true).model, 0) ==
        "Gather Cast Gather Cast Sub Gather Mul");
  CHECK(rewritten(qdq::gather_before_dequantize, net_of({kRows, 1}, false).model, 0) == "Gather Cast Sub Gather Mul");
  CHECK(rewritten(qdq::gather_before_dequantize, net_of({}, false).model, 0) == "Gather Cast Sub Mul");
  CHECK(reason(net_of({1, kColumns}, false)) == "its scales are not those of rows");
}

TEST_CASE("the CPU backend looks up rows of stored tables") {
  for (const Table& t : {Table{}, Table{.scales = {kRows, 3}, .axis = 1, .block = 8}}) {
    const Net net = net_of(t);
    CHECK(prepared_ops(net.model) == "DequantizeLinear 1, Gather 3");
  }
}

TEST_CASE("tables stay before other operators and readers, and where the opset or the target has no such rows") {
  CHECK(reason(net_of({.scales = {kColumns}, .axis = 1})) == "its scales are not those of rows");
  CHECK(reason(net_of({.scales = {3, kColumns}, .axis = 0, .block = 3})) == "its scales are not those of rows");
  CHECK(reason(net_of({.gathered = 1})) == "it does not look up rows");
  for (const DType type : {DType::kI4, DType::kF8E4M3FN})
    CHECK(reason(net_of({.type = type, .zeros = false})) ==
          "Gather takes neither integers of less than 8 bits nor floats of 8 bits");
  CHECK(reason(net_of({}), Target::kTensorrt) == "the target reads tables behind DequantizeLinear");
  Net read = net_of({});
  read.output(read.graph().outputs()[0]->producer->input(0));
  CHECK(reason(read) != "");
  Net given = net_of({});
  Node* dequantize = given.graph().outputs()[0]->producer->input(0)->producer;
  given.graph().set_input(dequantize, 1, given.input({kRows}));
  CHECK(reason(given) == "its scales are not constant");
}

}  // namespace mlopt::test
