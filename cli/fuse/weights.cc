#include <fmt/core.h>

#include "cli/fuse/flags.h"
#include "cli/verb/left.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "core/rewrite/store_narrow.h"
#include "graphopt/low_rank.h"

namespace mlopt::cli {
namespace {

void factor(double percent, const PassContext& context, VerbResult& result, Report& report) {
  const graphopt::LowRank made = graphopt::factor_low_rank(result.model, percent / 100, context);
  Table table{"two thinner products in place of one", {"layer", "operator", "matrix", "rank", "energy kept"}, {}, 2};
  Json& layers = result.changes["low_rank"] = Json::array();
  for (const graphopt::Factored& f : made.layers) {
    table.rows.push_back({f.node, f.op, fmt::format("{}x{}", f.rows, f.columns), std::to_string(f.rank),
                          fmt::format("{:.1f} %", f.energy * 100)});
    layers.push_back(Json::object({{"node", f.node},
                                   {"operator", f.op},
                                   {"rows", f.rows},
                                   {"columns", f.columns},
                                   {"rank", f.rank},
                                   {"energy", f.energy}}));
  }
  if (!table.rows.empty()) report.blocks.emplace_back(std::move(table));
  report_left(made.left, report);
  for (const auto& [node, reason] : made.left)
    result.declined.push_back(
        Json::object({{"pass", "low_rank"}, {"reason", reason}, {"example", node}, {"times", 1}}));
  result.may_differ = true;
}

void store(const std::string& type, const PassContext& context, VerbResult& result, Report& report) {
  constexpr int64_t kLeast = 64;                       // a Cast takes as much as it saves
  const int64_t cast_since = type == "bf16" ? 13 : 6;  // before 6 the type of a Cast is a string
  if (result.model.opset() < cast_since)
    usage_error(fmt::format("{} needs opset {}", type, cast_since), "--store",
                fmt::format("raise it by --opset {}", cast_since));
  const Narrowed made = store_narrow(result.model, type == "bf16" ? DType::kBF16 : DType::kF16, kLeast,
                                     [&](const Node& node) { return context.allows(node); });
  infer(result.model, standard_types);
  report.line(fmt::format("{} weights stored in {}: {} less", made.tensors, type,
                          format_bytes(static_cast<double>(made.saved_bytes))));
  report_left(made.left, report);
  result.changes["stored"] = made.tensors;
}

}  // namespace

void change_weights(const FuseFlags& flags, const PassContext& context, VerbResult& result, Report& report) {
  if (flags.low_rank) factor(flags.low_rank->value, context, result, report);
  if (!flags.store.empty()) store(flags.store, context, result, report);
}

}  // namespace mlopt::cli
