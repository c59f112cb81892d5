#include "cli/recipes/shrunk_student.h"

#include <fmt/core.h>

#include "cli/prune/groups.h"
#include "cli/prune/pruner.h"
#include "core/base/error.h"
#include "core/base/globs.h"

namespace mlopt::cli {
namespace {

constexpr std::string_view kShrink = "shrink:", kWidth = "width=";
constexpr int64_t kSamples = 128;  // that a method looks at, where it does

prune::Spec spec_of(std::string_view student) {
  std::string text = "magnitude:granularity=channel";
  for (const std::string& part : spec_pieces(student.substr(kShrink.size()), ';')) {
    if (!part.starts_with(kWidth)) {
      text += ";" + part;
      continue;
    }
    const double width = prune::parse_share(std::string_view(part).substr(kWidth.size()), "--student");
    text += fmt::format(";sparsity={}", 1 - width);
  }
  const prune::Spec spec = prune::parse_spec(text);
  prune::check(spec);
  if (spec.granularity.kind() != prune::Kind::kStructure)
    usage_error(fmt::format("{} leaves the student as large as it is", to_string(spec.granularity)), "--student",
                "leave the granularity out, or say head");
  return spec;
}

}  // namespace

bool is_shrunk(std::string_view student) { return student.starts_with(kShrink); }

Model shrunk_student(const Model& source, std::string_view student, const TrainOptions& options, Session& session) {
  const prune::Spec spec = spec_of(student);
  Pruner prune(options, kSamples, source, session);
  prune::Pruned made = prune(spec);
  for (const std::string& sentence : made.warnings) session.console.warn(sentence);
  session.report.data["student"] = report_channels(made, session.report);
  return std::move(made.model);
}

}  // namespace mlopt::cli
