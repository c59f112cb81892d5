#include "cli/distill/steps.h"

#include <fmt/core.h>

#include <memory>

#include "backends/reference/backend.h"
#include "cli/backends.h"
#include "cli/recipes/shrunk_student.h"
#include "cli/runner.h"
#include "cli/verb/origin.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "distill/blocks.h"
#include "distill/cache.h"
#include "distill/data_free.h"
#include "distill/objective.h"

namespace mlopt::cli {
namespace {

Model inlined(Model model) {
  inline_functions(model);
  return model;
}

/// A training under way from teacher to student.
class Distillation {
 public:
  Distillation(std::shared_ptr<const DistillOptions> o, Session& session)
      : options_(std::move(o)), o_(*options_), session_(session) {}

  Model student_of(const Model& source) {
    for (const std::string& path : o_.teachers) teachers_.push_back(inlined(read_model(path)));
    Model student = inlined(clone(source));
    if (o_.student.empty()) {
      if (teachers_.empty())
        usage_error("a student needs a teacher", "--teacher", "name one, or make a --student of it");
      return student;
    }
    if (teachers_.empty()) teachers_.push_back(clone(student));
    if (is_shrunk(o_.student)) return shrunk_student(source, o_.student, o_.train, session_);
    infer(student, standard_types);
    const auto layers = distill::parse_layers(o_.student, "--student");
    const std::vector<std::string> left_out = distill::keep_blocks(student, layers, "--student");
    session_.report.line(
        fmt::format("left out of the student: {} blocks, which end in {}", left_out.size(), join(left_out, ", ")));
    session_.report.data["left_out"] = left_out;
    return student;
  }

  std::unique_ptr<Dataset> made_samples() {
    distill::DataFreeSettings settings;
    settings.samples = *o_.data_free;
    settings.batch = o_.train.batch_of(settings.samples);
    settings.steps = o_.data_free_steps;
    settings.seed = session_.common.seed;
    settings.options.threads = session_.common.threads;
    mlopt::Progress progress = session_.console.progress("making samples", settings.samples);
    settings.progress = [&](int64_t done) { progress.set(done); };
    Model teacher = clone(teachers_.at(0));
    infer(teacher, standard_types);
    auto made = distill::make_samples(teacher, *open_backend(session_.common.device), settings, standard_types);
    session_.report.line(fmt::format(
        "without data: {} samples were made from what the teacher's normalizations remember; with real data, "
        "also unlabelled, the student would be better",
        settings.samples));
    return made;
  }

  /// Replaces the loss of the plan by what the teachers say.
  void adapt(TrainingPlan& plan) {
    const distill::Settings settings = settings_of(o_, plan.recipe, *plan.data);
    std::vector<distill::Teacher> made;
    for (const Model& teacher : teachers_)
      made.push_back(distill::make_teacher(teacher, plan.model, plan.inputs, standard_types));
    const auto wiring = std::make_shared<distill::Wiring>(
        distill::wire(plan.model, std::move(made), plan.inputs, settings, standard_types));
    const std::unique_ptr<Backend> judge = reference_backend();
    const PassContext context = judged_by(*judge);
    for (distill::Teacher& teacher : wiring->teachers) distill::tap(teacher, context);
    if (plan.recipe.precision.on()) lower(plan, *wiring);
    const distill::ObjectiveSettings how{settings.hard, settings.temperature, session_.common.seed, !o_.cache.empty()};
    plan.recipe.objective = [wiring, how](train::LossArgs& args) { return distill::objective(args, *wiring, how); };
    plan.loss = distill::in_words(*wiring);
    if (wiring->guessed)
      session_.report.line(
          "outputs follow as class scores (kl), as their shape suggests; --loss mse, or --soft mse of distill, says "
          "that they are other numbers");
    if (o_.train.label_smoothing > 0 && wiring->hard_weight == 0)
      usage_error("no labels are in the loss, whose targets it could smooth", "--label-smoothing",
                  "leave it out, or give labels and an --alpha below 1");
    if (settings.label_numbers && wiring->hard_weight == 0)
      session_.report.line("labels are left out, as the loss of this output takes others; --loss names one");
    // The data come first in a spec, and are none of --data-free.
    plan.spec = "distill:" + plan.spec.substr(plan.spec.find(o_.data_free ? ';' : ':') + 1) + spec_of(o_);
    if (!o_.cache.empty()) cache(plan, *wiring);
  }

 private:
  /// The teachers compute in the precision of the student.
  void lower(TrainingPlan& plan, distill::Wiring& wiring) {
    int64_t half = 0;
    for (distill::Teacher& teacher : wiring.teachers)
      half += train::lower_products(teacher.model, plan.recipe.precision, {}).half;
    for (const Model& teacher : teachers_) plan.teachers.push_back(&teacher);
    session_.report.line(fmt::format("{} of the teachers' products are in {} too", half, o_.train.precision));
    session_.report.data["teacher_half_products"] = half;
  }

  /// Rank 0 fills the cache first; the others then find it there, or where they share no disk fill one of their own.
  void cache(TrainingPlan& plan, const distill::Wiring& wiring) {
    distill::CacheSettings settings;
    settings.folder = o_.cache;
    for (const Model& teacher : teachers_) settings.models.push_back(source_hash(teacher) + precision());
    settings.data = o_.train.verb.data.spec;
    settings.options.threads = session_.common.threads;
    mlopt::Progress progress = session_.console.progress("teacher", plan.data->size());
    settings.progress = [&](int64_t done) { progress.set(done); };
    float one = 1;
    if (session_.ranks->rank() > 0) train::all_reduce(*session_.ranks, {&one, 1});
    plan.data =
        distill::with_cached_teachers(std::move(plan.data), wiring, *open_backend(session_.common.device), settings);
    if (session_.ranks->rank() == 0) train::all_reduce(*session_.ranks, {&one, 1});
  }

  /// What tells teachers in half precision from those in float32.
  std::string precision() const {
    if (o_.train.precision == "fp32") return {};
    return fmt::format(";{};{}", o_.train.precision, join(o_.train.keep_fp32, ","));
  }

  std::shared_ptr<const DistillOptions> options_;
  const DistillOptions& o_;
  Session& session_;
  std::vector<Model> teachers_;
};

}  // namespace

TrainingSteps distill_steps(std::shared_ptr<const DistillOptions> options, Session& session) {
  const bool data_free = options->data_free.has_value();
  const auto distillation = std::make_shared<Distillation>(std::move(options), session);
  TrainingSteps steps;
  steps.model = [distillation](const Model& source) { return distillation->student_of(source); };
  if (data_free) steps.data = [distillation](const Model&) { return distillation->made_samples(); };
  steps.adapt = [distillation](TrainingPlan& plan) { distillation->adapt(plan); };
  return steps;
}

}  // namespace mlopt::cli
