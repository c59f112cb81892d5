#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cli/fuse/flags.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/bind.h"
#include "core/onnx/infer.h"
#include "core/rewrite/extract.h"
#include "graphopt/equal_sizes.h"

namespace mlopt::cli {
namespace {

void extract_part(const FuseFlags& flags, Model& source) {
  constexpr std::string_view kBetween = "..";
  const size_t at = flags.part.find(kBetween);
  if (at == std::string::npos || flags.part == kBetween)
    usage_error(fmt::format("'{}' is not IN..OUT", flags.part), "--extract",
                "names of values as in a,b..c; nothing on one side stands for the model's own");
  const auto names = [&](const std::string& list) { return list_items({list}); };
  infer(source, standard_types);
  extract(source, names(flags.part.substr(0, at)), names(flags.part.substr(at + kBetween.size())));
  source.file_bytes = written_size(source, flags.verb.output, write_options(flags.verb));
}

constexpr int64_t kMostSize = INT32_MAX;

/// Is it the free dimension of this name that an input begins with?
bool begins_input(const Graph& graph, const std::string& name) {
  return std::any_of(graph.inputs().begin(), graph.inputs().end(), [&](const Value* input) {
    const auto& dims = input->type.dims;
    return dims && !dims->empty() && dims->front().symbol_name() == name;
  });
}

void fix_sizes(const FuseFlags& flags, Model& source) {
  std::map<std::string, Dim> sizes;
  for (const std::string& item : list_items(flags.fixed)) {
    const size_t at = item.find('=');
    if (at == 0 || at == std::string::npos || at + 1 == item.size())
      usage_error(fmt::format("'{}' is not NAME=SIZE", item), "--fix", "as in seq=128, or mask_seq=seq");
    const auto size = parse_int(item.substr(at + 1));
    if (size && (*size < 1 || *size > kMostSize))
      usage_error(fmt::format("'{}' gives no size from 1 to {}", item, kMostSize), "--fix", "as in seq=128");
    const std::string name = item.substr(0, at);
    if (!sizes.emplace(name, size ? Dim(*size) : Dim::symbol(item.substr(at + 1))).second)
      usage_error(fmt::format("'{}' is given a size twice", name), "--fix", "give one");
    if (flags.batch && size && size != flags.batch && begins_input(*source.graph, name))
      usage_error(fmt::format("--batch {} and --fix {} give one dimension two sizes", *flags.batch, item), "--batch",
                  "leave one of them out");
  }
  if (flags.batch && (*flags.batch < 1 || *flags.batch > kMostSize))
    usage_error(fmt::format("a batch has from 1 to {} samples", kMostSize), "--batch");
  if (!sizes.empty() || flags.batch) fix_dimensions(source, sizes, flags.batch.value_or(0), standard_types);
}

}  // namespace

std::string likely_equal(const Model& source) {
  std::string all;
  for (const auto& [name, dim] : graphopt::likely_sizes(source, standard_types))
    if (const auto other = dim.symbol_name()) all += (all.empty() ? "" : ",") + name + "=" + *other;
  return all;
}

void change_source(const FuseFlags& flags, Model& source) {
  if (!flags.part.empty()) extract_part(flags, source);
  fix_sizes(flags, source);
}

}  // namespace mlopt::cli
