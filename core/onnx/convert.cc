#include <fmt/core.h>
#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/ir/view.h"
#include "core/onnx/contained.h"
#include "core/onnx/older/write.h"
#include "core/onnx/proto.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr int kSeconds = 60;
constexpr size_t kShapeData = 64 << 10;  // bytes of a tensor that a conversion may look at

/// Large data go through the converter as external data of a name that leads back to them.
std::string stand_in(uint64_t index) { return fmt::format("blob {}", index); }

/// The converter's reason without the place in its source: "...: Assertion `...` failed: REASON".
std::string reason_of(const std::string& message) {
  const std::string mark = "failed: ";
  const size_t at = message.find(mark);
  return at == std::string::npos ? message : message.substr(at + mark.size());
}

[[noreturn]] void refuse(const Model& model, int64_t opset, const std::string& why) {
  unsupported_error(fmt::format("cannot convert opset {} to {}: {}", model.opset(), opset, why), model.path,
                    "choose an opset nearer to the model's");
}

/// Functions and what is said of nodes need newer readers than the opset does.
int64_t oldest_ir_version(const Model& model) {
  constexpr int64_t kPlain = 4, kFunctions = 8, kOverloads = 10;
  const auto overloaded = [](const Function& f) { return !f.overload.empty(); };
  if (std::any_of(model.functions.begin(), model.functions.end(), overloaded)) return kOverloads;
  return model.functions.empty() ? kPlain : kFunctions;
}

/// As far down as write_in_older() goes. The bodies of operators that the older opset lacks may be of an opset that the
/// model does not have.
void lower_opset(const Model& source, Model& model, int64_t opset) {
  const int64_t lower = std::max(opset, proto::kOldestWritten);
  std::string why;
  try {
    expand_newer_operators(model, lower);
    if (lower < model.opset()) why = proto::write_in_older(model, lower);
    if (why.empty() && opset < lower) expand_newer_operators(model, opset);
  } catch (const Error& e) {
    if (e.code != Code::kUnsupported) throw;
    why = e.message;
  }
  if (!why.empty()) refuse(source, opset, why);
  model.ir_version = std::min(model.ir_version, std::max(ir_version_for(opset), oldest_ir_version(model)));
}

onnx::ModelProto converted(const Model& model, int64_t opset, proto::Source& source) {
  proto::Written written = proto::write_message(model);
  written.message.clear_functions();  // they have opsets of their own
  proto::fill_in(written, kShapeData, [&](onnx::TensorProto& tensor, uint64_t index) {
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = tensor.add_external_data();
    entry->set_key("location");
    entry->set_value(stand_in(index));
    const auto blob = std::make_shared<const Tensor>(written.blobs.at(index));
    source.external[stand_in(index)] = {blob->raw_bytes(), blob};
  });
  // The first character tells the message from a reason why there is none.
  const auto result = run_contained(
      [&]() -> std::string {
        try {
          return "=" +
                 onnx::version_conversion::ConvertVersion(written.message, static_cast<int>(opset)).SerializeAsString();
        } catch (const std::exception& e) {
          return std::string("!") + e.what();
        }
      },
      kSeconds);
  if (!result) refuse(model, opset, result.error().reason);
  onnx::ModelProto message;
  if (result->front() != '=') refuse(model, opset, reason_of(result->substr(1)));
  if (!message.ParseFromString(result->substr(1))) refuse(model, opset, "the result is damaged");
  return message;
}

void copy_value_notes(const Graph& from, Graph& to) {
  for (Value* value : to.values()) {
    const Value* old = from.find(value->name);
    value->declared = old && old->declared;
    if (!old) continue;
    value->doc = old->doc;
    value->metadata = old->metadata;
    value->unknown_fields = old->unknown_fields;
    if (old->type.kind != Type::Kind::kUnknown) value->type = old->type;
  }
}

/// The converter drops what it does not need: names, documentation and metadata of what is still there are put back.
void copy_notes(const Graph& from, Graph& to) {
  to.name = from.name;
  to.doc = from.doc;
  to.metadata = from.metadata;
  to.unknown_fields = from.unknown_fields;
  copy_value_notes(from, to);
  for (Node* node : to.nodes()) {
    const Value* output = node->outputs().empty() ? nullptr : node->output(0);
    const Value* old_output = output ? from.find(output->name) : nullptr;
    const Node* old = old_output ? old_output->producer : nullptr;
    if (!old || old->op != node->op || old->domain != node->domain) continue;
    node->name = old->name;
    node->overload = old->overload;
    node->doc = old->doc;
    node->metadata = old->metadata;
    node->unknown_fields = old->unknown_fields;
    const std::vector<Graph*> bodies = node->bodies(), old_bodies = old->bodies();
    for (size_t i = 0; i < bodies.size() && i < old_bodies.size(); ++i) copy_notes(*old_bodies[i], *bodies[i]);
  }
}

bool uses_standard(const Graph& graph) {
  const std::vector<Node*> nodes = all_nodes(graph);
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* node) { return node->domain.empty(); });
}

/// Nodes of the operators that ONNX Runtime has added to the standard's domain get one of their own; gives how many
/// there are. They mean the same in every opset.
int64_t set_aside(Model& model, const std::string& domain) {
  int64_t moved = 0;
  for (Node* node : all_nodes(*model.graph)) {
    if (!added_to_standard(node->domain, node->op, model.opset())) continue;
    node->domain = domain;
    ++moved;
  }
  return moved;
}

void require_known(const Model& model) {
  const int64_t opset = model.opset();
  if (opset > newest_opset())
    unsupported_error(fmt::format("the model has opset {}, the newest known is {}", opset, newest_opset()), model.path,
                      "export the model with an older opset");
  for (const Node* node : all_nodes(*model.graph))
    if (node->domain.empty() && !known_operator("", node->op, opset))
      unsupported_error(fmt::format("{} is not an operator of opset {}", node->label(), opset), model.path,
                        "export the model with the opset that has it, or put its nodes into a domain of their own");
}

/// Scan of opset 8 has a batch axis that later ones lack; the converter takes it over as it is.
void require_convertible(const Model& model, int64_t opset) {
  if ((model.opset() < 9) == (opset < 9)) return;
  for (const Node* node : all_nodes(*model.graph))
    if (node->is("Scan"))
      unsupported_error(fmt::format("cannot convert opset {} to {}: {} means something else there", model.opset(),
                                    opset, node->label()),
                        model.path, "choose an opset on the model's side of 9");
}

/// The nearest element to a position is the one before it, but the one behind it where a Resize of opset 10 shrinks.
std::string rounding_of(const Node& node, bool was_upsample, const Model& source) {
  if (was_upsample || NodeView(node, 0).get_string("mode", "nearest") != "nearest") return "floor";
  const Value* given = node.input(2);
  const Tensor* known = given ? given->known_constant() : nullptr;
  const std::vector<float> scales = known ? to_floats(*known) : std::vector<float>();
  const auto grows = [](float scale) { return scale >= 1; };
  const auto shrinks = [](float scale) { return scale <= 1; };
  if (!scales.empty() && std::all_of(scales.begin(), scales.end(), grows)) return "floor";
  if (!scales.empty() && std::all_of(scales.begin(), scales.end(), shrinks)) return "ceil";
  unsupported_error(fmt::format("{} finds the nearest elements in two ways where it shrinks and where it grows, and "
                                "newer opsets in one",
                                node.label()),
                    source.path, "leave the opset at 10");
}

/// Resize of opset 10 and Upsample count coordinates from the corner, without saying so; the converter forgets to say
/// it.
void say_asymmetric(const Graph& graph, const Model& source) {
  std::set<std::string> upsampled;
  for (const Node* node : all_nodes(*source.graph))
    if (node->is("Upsample") && node->first_output()) upsampled.insert(node->first_output()->name);
  for (Node* node : all_nodes(graph)) {
    if (!node->is("Resize") || node->attr("coordinate_transformation_mode") || !node->first_output()) continue;
    node->set_attr("coordinate_transformation_mode", std::string("asymmetric"));
    if (!node->attr("nearest_mode"))
      node->set_attr("nearest_mode", rounding_of(*node, upsampled.contains(node->first_output()->name), source));
  }
}

/// Up to opset 12 Hardmax takes all axes from the given one on as one; the converter leaves it as it is.
void flatten_hardmax(const Graph& result) {
  for (Node* node : all_nodes(result)) {
    if (!node->is("Hardmax") || !node->input(0) || !node->first_output()) continue;
    const int64_t axis = NodeView(*node, 0).get_int("axis", 1);
    Value* x = node->input(0);
    node->set_attr("axis", int64_t{-1});
    if (const auto& dims = x->type.dims; axis == -1 || (dims && axis + 1 == std::ssize(*dims))) continue;
    Graph& graph = *node->graph();
    const std::string& name = node->first_output()->name;
    Node* flat = graph.add_op("Flatten", {x}, {{"axis", axis, ""}}, node, name + "_flat");
    Node* same = graph.add_op("Hardmax", {flat->output(0)}, node->attrs, node, name + "_rows");
    Node* shape = graph.add_op("Shape", {x}, {}, node, name + "_shape");
    node->op = "Reshape";
    node->attrs.clear();
    graph.set_input(node, 0, same->output(0));
    graph.set_input(node, 1, shape->output(0));
  }
}

/// The converter may write what the standard does not allow: refused unless it was found in the model before.
void require_valid(const Model& converted, const Model& before) {
  const std::vector<std::string> findings = check_with_onnx(converted).errors;
  if (findings.empty()) return;
  const std::vector<std::string> old = check_with_onnx(before).errors;
  for (const std::string& finding : findings)
    if (std::find(old.begin(), old.end(), finding) == old.end())
      unsupported_error("the converted model would not be valid: " + finding, before.path,
                        "choose an opset nearer to the model's");
}

void run_converter(const Model& model, Model& result, int64_t opset) {
  proto::Source source;
  source.path = model.path;
  onnx::ModelProto message = converted(result, opset, source);
  Model read = proto::read_message(message, source);
  copy_notes(*model.graph, *read.graph);
  result.graph = std::move(read.graph);
  result.set_opset("", opset);
  result.ir_version = std::max(result.ir_version, ir_version_for(opset));
  if (model.opset() <= 10 && opset > 10) say_asymmetric(*result.graph, model);
  if (model.opset() <= 12 && opset > 12) flatten_hardmax(*result.graph);
}

}  // namespace

Model convert_opset(const Model& model, int64_t opset) {
  if (opset < 1 || opset > newest_opset())
    usage_error(fmt::format("there is no opset {}", opset), {}, fmt::format("choose one from 1 to {}", newest_opset()));
  Model result = clone(model);
  if (model.opset() == opset) return result;
  if (!uses_standard(*model.graph)) {
    result.set_opset("", opset);
    return result;
  }
  const std::string aside = "mlopt.aside";
  if (Model rest = clone(model); set_aside(rest, aside) > 0) {
    rest.set_opset(aside, 1);
    result = convert_opset(rest, opset);
    for (Node* node : all_nodes(*result.graph))
      if (node->domain == aside) node->domain.clear();
    std::erase_if(result.opsets, [&](const OpsetImport& import) { return import.domain == aside; });
    return result;
  }
  require_known(model);
  require_convertible(model, opset);
  if (opset < model.opset()) lower_opset(model, result, opset);
  if (opset != result.opset()) run_converter(model, result, opset);
  require_valid(result, model);
  return result;
}

}  // namespace mlopt
