#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cli/bench/bench.h"
#include "cli/describe.h"
#include "cli/model_info.h"
#include "cli/verb/verb.h"
#include "core/base/memory.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kMostMemory = 0.8;  // of what is free

Entry entry_of(const std::string& path, const ModelInfo& info, const Latency& latency, const std::vector<Block>& blocks,
               const Plans& plans) {
  Entry entry;
  entry.path = path;
  entry.device = plans.device();
  entry.threads = plans.threads();
  entry.size_bytes = info.file_bytes;
  entry.nodes = info.nodes;
  entry.blocks = blocks;
  entry.latency = latency;
  entry.throughput = throughput(blocks);
  return entry;
}

/// The plans of both hold the weights of each, packed anew.
std::string too_large(const Model& source, const Model& result) {
  int64_t bytes = 0;
  for (const Model* model : {&source, &result}) {
    for (const auto& [type, size] : model_info(*model).sizes) bytes += size.bytes;
  }
  return lack_of_memory(bytes, "the weights of both");
}

/// On one item of the data, or on generated inputs whose free dimensions are 1. Compiling counts.
SideBySide measure(const VerbOptions& verb, const Model& source, Plans& plans, const Session& session) {
  DataFlags flags = verb.data;
  if (flags.spec.empty()) flags.spec = "random:1";
  const auto data = open_data(flags, source, {.seed = session.common.seed});
  const Batch batch = data->batch(0, std::max<int64_t>(1, data->batch_size()));
  const auto start = std::chrono::steady_clock::now();
  Executable &before = plans.source(), &after = plans.result();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const double left = std::max(verb.bench_seconds() / 2, verb.bench_seconds() - spent.count());
  return measure_side_by_side(before, batch.inputs, after, batch.inputs, left, session.common.seed);
}

}  // namespace

std::string lack_of_memory(int64_t bytes, const std::string& what) {
  const int64_t available = available_memory();
  if (available == 0 || static_cast<double>(bytes) < kMostMemory * static_cast<double>(available)) return {};
  return fmt::format("{} take {}, and {} of memory are free", what, format_bytes(static_cast<double>(bytes)),
                     format_bytes(static_cast<double>(available)));
}

SideBySide time_both(const VerbOptions& verb, const Model& source, const Model& result, Plans& plans,
                     const Session& session) {
  SideBySide latency;
  latency.left_out = verb.no_bench ? "--no-bench was given"
                     : plans.in_parts()
                         ? "so large a model is run part by part; --bench S holds both in memory to time them"
                         : too_large(source, result);
  if (!latency.left_out.empty()) return latency;
  try {
    return measure(verb, source, plans, session);
  } catch (const Error& e) {
    if (e.code == Code::kUsage || e.code == Code::kInternal) throw;
    latency.left_out = in_words(e);
    return latency;
  }
}

Json latency_json(const VerbOptions& verb, const Ending& e, Plans& plans) {
  const SideBySide& l = e.latency;
  if (!l.left_out.empty()) return Json::object({{"left_out", l.left_out}});
  std::vector<Entry> entries = {entry_of(verb.model, e.source, l.source, l.source_blocks, plans),
                                entry_of(verb.output, e.result, l.result, l.result_blocks, plans)};
  entries[0].compile_ms = plans.source_compile_ms();
  entries[1].compile_ms = plans.result_compile_ms();
  entries[0].fallback_nodes = plans.source().fallback_nodes();
  entries[1].fallback_nodes = plans.result().fallback_nodes();
  return Json::object({{"models", std::vector<Json>{to_json(entries[0]), to_json(entries[1])}},
                       {"ratios", std::vector<Json>{to_json(Comparison{1, 0, l.ratio}, entries)}}});
}

std::vector<Gate> judge_speed(const VerbOptions& verb, const SideBySide& latency) {
  std::vector<Gate> gates;
  const auto unmeasured = [&](const char* name, double limit) {
    gates.push_back({name, limit, Json(), false, "not measured: " + latency.left_out});
  };
  const bool measured = latency.left_out.empty();
  if (verb.min_speedup && !measured) unmeasured("min-speedup", *verb.min_speedup);
  if (verb.min_speedup && measured) gates.push_back(speedup_gate(latency.ratio, *verb.min_speedup, ""));
  if (verb.max_latency_ms && !measured) unmeasured("max-latency", *verb.max_latency_ms);
  if (verb.max_latency_ms && measured) {
    const double limit = *verb.max_latency_ms, p50 = latency.result.p50;
    gates.push_back(interval_gate("max-latency", limit, p50, latency.result_p50.low, latency.result_p50.high,
                                  fmt::format("p50 is {:.4g} ms, the limit is {:.4g} ms", p50, limit)));
  }
  return gates;
}

}  // namespace mlopt::cli
