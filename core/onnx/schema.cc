#include <onnx/defs/schema.h>

#include <algorithm>

#include "core/ir/infer.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

struct Release {
  int64_t opset, ir_version;
};
/// The first IR version that a model with an opset may have.
constexpr Release kReleases[] = {{8, 3},  {9, 4},   {10, 5},  {11, 6},  {14, 7},  {18, 8},
                                 {20, 9}, {22, 10}, {23, 11}, {24, 12}, {27, 13}, {28, 14}};

}  // namespace

bool known_operator(std::string_view domain, std::string_view op, int64_t opset) {
  const auto& domains = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  if (opset < 1 || opset > INT32_MAX || !domains.contains(std::string(domain))) return false;
  const auto* schema = onnx::OpSchemaRegistry::Schema(std::string(op), static_cast<int>(opset), std::string(domain));
  return schema && !schema->Deprecated();
}

bool known_operator(const Node& node, const Model& model) {
  return has_type_rule(node) || known_operator(node.domain, node.op, model.opset(node.domain));
}

std::vector<OperatorVersion> standard_operators() {
  using Schema = onnx::OpSchema;
  std::vector<OperatorVersion> all;
  for (const Schema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.domain() != onnx::ONNX_DOMAIN || schema.Deprecated()) continue;
    const auto& inputs = schema.inputs();
    const auto required = std::ranges::count(inputs, Schema::Single, &Schema::FormalParameter::GetOption);
    all.push_back(
        {schema.Name(), schema.SinceVersion(), static_cast<size_t>(required), static_cast<size_t>(schema.max_input())});
  }
  return all;
}

bool added_to_standard(std::string_view domain, std::string_view op, int64_t opset) {
  return domain.empty() && (op == "SimplifiedLayerNormalization" || (op == "LayerNormalization" && opset < 17));
}

int64_t newest_opset() {
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().LastReleaseVersionMap().at(onnx::ONNX_DOMAIN);
}

int64_t newest_ir_version() { return onnx::Version::IR_VERSION; }

int64_t ir_version_for(int64_t opset) {
  for (const Release& release : kReleases)
    if (opset <= release.opset) return release.ir_version;
  return newest_ir_version();
}

int64_t opset_of_ir_version(int64_t ir_version) {
  if (ir_version > 0 && ir_version < 3) return 1;
  int64_t opset = kReleases[0].opset;
  for (const Release& release : kReleases)
    if (release.ir_version <= ir_version) opset = release.opset;
  return opset;
}

}  // namespace mlopt
