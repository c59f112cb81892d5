#include "cli/recipes/qat.h"

#include <fmt/core.h>

#include "backends/reference/backend.h"
#include "cli/backends.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "quantize/emit/fake.h"
#include "quantize/emit/read_qdq.h"

namespace mlopt::cli {

Qat begin_qat(const TrainOptions& o, const Model& model, const Dataset& data, Session& session) {
  Qat qat;
  qat.spec = quantize::parse_spec(o.qat);
  if (qat.spec.format != quantize::Format::kStatic)
    usage_error(fmt::format("{} has no rounding that training could take part in", o.qat), "--qat",
                "choose w8a8, w4a8, w8a4 or w4a4");
  if (qat.spec.weight_bits != 4 && qat.spec.weight_bits != 8)
    usage_error(
        fmt::format("weights of {} bits have no type of their own, which training takes the limits of codes from",
                    qat.spec.weight_bits),
        "--qat", "choose w8a8, w4a8, w8a4 or w4a4");
  const auto judge = reference_backend(), backend = open_backend(session.common.device);
  const Runner runner = make_runner(*backend, session.common);
  quantize::Means means;
  means.runner = &runner;
  means.passes = judged_by(*judge);
  means.passes.fold_bytes = usual_fold_bytes(model);
  means.data = &data;
  means.error_samples = 0;
  quantize::Spec fake = qat.spec;
  fake.emit = quantize::Emit::kFake;
  quantize::Quantized made = quantize::quantize(model, fake, means);
  if (made.layers == 0) input_error("no layer gains from the format", model.path, "train without --qat");
  for (const std::string& sentence : made.warnings) session.console.warn(sentence);
  session.report.line(fmt::format("{} layers train as {}, calibrated on {} samples", made.layers,
                                  quantize::name(qat.spec), made.samples));
  qat.model = std::move(made.model);
  qat.steps = std::move(made.steps);
  return qat;
}

Qat begin_coded(const Model& model, Session& session) {
  Qat qat;
  qat.spec = quantize::parse_spec("w8a8");  // of which only the kind counts: codes keep the types that they have
  qat.model = clone(model);
  const quantize::Emitted read = quantize::read_qdq(qat.model);
  qat.steps = quantize::emit_fake(qat.model, read);
  session.report.line(fmt::format("{} weights train as the codes that the model has", read.floats.size()));
  return qat;
}

}  // namespace mlopt::cli
