// ModelProto into Model and back.
#include <fmt/core.h>

#include <set>

#include "core/base/error.h"
#include "core/onnx/operands.h"
#include "core/onnx/proto.h"
#include "core/onnx/tools.h"

namespace mlopt::proto {

using onnx::ModelProto;

std::string Source::where(std::string_view what, std::string_view name) const {
  const std::string thing = name.empty() ? std::string(what) : fmt::format("{} '{}'", what, name);
  return path.empty() ? thing : fmt::format("{} of {}", thing, path);
}

Metadata take_metadata(Entries* entries) {
  Metadata metadata;
  for (const auto& entry : *entries) metadata.emplace_back(entry.key(), entry.value());
  entries->Clear();
  return metadata;
}

void put_metadata(const Metadata& metadata, Entries* entries) {
  for (const auto& [key, value] : metadata) {
    auto* entry = entries->Add();
    entry->set_key(key);
    entry->set_value(value);
  }
}

/// Runtimes accept models that use a domain without importing it; what they assume is made explicit.
void import_domains(const Graph& graph, int64_t ir_version, std::vector<OpsetImport>& opsets, Source& source) {
  std::set<std::string> known;
  for (const OpsetImport& import : opsets) known.insert(import.domain == "ai.onnx" ? "" : import.domain);
  for (const Node* node : all_nodes(graph)) {
    if (!known.insert(node->domain).second) continue;
    opsets.push_back({node->domain, node->domain.empty() ? opset_of_ir_version(ir_version) : 1});
    source.mended.push_back(fmt::format("{}: the opset of its domain '{}' is not imported ({} is assumed)",
                                        node->label(), node->domain, opsets.back().version));
  }
}

Model read_message(ModelProto& message, Source& source) {
  Model model;
  if (!message.has_graph()) input_error("not an ONNX model: there is no graph in it", source.path);
  model.ir_version = source.ir_version = message.ir_version();
  if (model.ir_version) message.clear_ir_version();
  for (const auto& opset : message.opset_import()) model.opsets.push_back({opset.domain(), opset.version()});
  message.clear_opset_import();
  model.producer_name = take(message, &ModelProto::producer_name, &ModelProto::clear_producer_name);
  model.producer_version = take(message, &ModelProto::producer_version, &ModelProto::clear_producer_version);
  model.domain = take(message, &ModelProto::domain, &ModelProto::clear_domain);
  model.doc = take(message, &ModelProto::doc_string, &ModelProto::clear_doc_string);
  model.model_version = message.model_version();
  if (model.model_version) message.clear_model_version();
  model.metadata = take_metadata(message.mutable_metadata_props());
  for (auto& function : *message.mutable_functions())
    model.functions.push_back(read_function(function, source, model.ir_version));
  message.clear_functions();
  model.sparse = message.graph().sparse_initializer_size() > 0;
  read_graph(*message.mutable_graph(), *model.graph, source, model.ir_version);
  message.clear_graph();
  model.unknown_fields = message.SerializeAsString();
  import_domains(*model.graph, model.ir_version, model.opsets, source);
  for (Function& function : model.functions) import_domains(*function.body, model.ir_version, function.opsets, source);
  model.mended = source.mended;
  model.path = source.path;
  for (const auto& [location, file] : source.external) model.external_files.push_back(location);
  check_operands(model);
  return model;
}

Written write_message(const Model& model, bool sparse) {
  Written written;
  ModelProto& out = written.message;
  out.ParseFromString(model.unknown_fields);
  if (model.ir_version) out.set_ir_version(model.ir_version);
  for (const OpsetImport& import : model.opsets) {
    auto* opset = out.add_opset_import();
    opset->set_domain(import.domain);
    opset->set_version(import.version);
  }
  if (!model.producer_name.empty()) out.set_producer_name(model.producer_name);
  if (!model.producer_version.empty()) out.set_producer_version(model.producer_version);
  if (!model.domain.empty()) out.set_domain(model.domain);
  if (!model.doc.empty()) out.set_doc_string(model.doc);
  if (model.model_version) out.set_model_version(model.model_version);
  put_metadata(model.metadata, out.mutable_metadata_props());
  for (const Function& function : model.functions)
    write_function(function, *out.add_functions(), written.blobs, model.ir_version);
  write_graph(*model.graph, *out.mutable_graph(), written.blobs, model.ir_version, sparse || model.sparse);
  return written;
}

}  // namespace mlopt::proto
