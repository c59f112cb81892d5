#include "cli/distill/options.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kUsualAlpha = 0.9;  // as most reproductions of Hinton et al. (2015)

std::string losses_help() {
  std::vector<std::string> all;
  for (const distill::LossDef& l : distill::losses()) all.push_back(fmt::format("{} ({})", l.name, l.doc));
  return join(all, ", ");
}

}  // namespace

void declare_distill(Options& options, DistillOptions& o) {
  declare_train(options, o.train);
  options
      .add("--teacher", o.teachers, "MODEL",
           "the network to follow; given again, the mean of several (default with --student: MODEL)")
      .reads = true;
  options.add(
      "--student", o.student, "HOW",
      "make the student of MODEL: layers=I/J/... takes of its repeated blocks (a transformer's layers, residual "
      "blocks) only these, counted from 0; shrink:width=0.5 keeps that share of the channels of each layer, "
      "those that are needed most (also shrink:flops=50% and other parts of a pruning, between semicolons)");
  options.add("--temperature", o.temperature, "F", "that softens the class scores of both (default: 4)");
  options.add(
      "--alpha", o.alpha, "F",
      "share of the teacher's outputs in the loss, the rest being the labels' (default: 0.9; 1 without labels)");
  options
      .add("--soft", o.soft, "kl|mse",
           "how outputs follow the teacher's (default: kl for class scores, mse for all else)")
      .choices = {"kl", "mse"};
  options.add("--match", o.match, "PAIR",
              "also make a tensor of the student follow the teacher's: t=NAME,s=NAME,loss=LOSS,w=F; without s= all of "
              "that name, which may have a *; LOSS is one of: " +
                  losses_help());
  options.add("--cache-teacher", o.cache, "DIR",
              "keep there what the teacher gives for each sample, and run it only for what is not there yet");
  options.add("--data-free", o.data_free, "N",
              "without --data: make N samples that the teacher's BatchNormalizations take for their data; weaker");
  options.add("--data-free-steps", o.data_free_steps, "N", "updates in which these are made (default: 200)");
  options.add("--weights", o.weights, "LIST",
              "weights of losses by name, in place of the usual: kl=0.7,hard=0.3,hint=100");
}

distill::Settings settings_of(const DistillOptions& o, const train::Recipe& recipe, const Dataset& data) {
  const bool labelled = data.labelled();
  if (!(o.temperature > 0)) usage_error("a positive number is needed", "--temperature");
  if (!o.cache.empty() && !o.train.augment.empty())
    usage_error("what a teacher gives cannot be kept where pictures change in each epoch", "--cache-teacher",
                "leave out --cache-teacher or --augment");
  if (o.alpha && !(*o.alpha >= 0 && *o.alpha <= 1)) usage_error("a share from 0 to 1 is needed", "--alpha");
  distill::Settings settings;
  settings.weights = distill::parse_weights(list_items(o.weights));
  for (const std::string& text : o.match) settings.matches.push_back(distill::parse_match(text));
  settings.temperature = o.temperature;
  settings.alpha = o.alpha.value_or(labelled ? kUsualAlpha : 1);
  if (!o.soft.empty()) settings.soft = &distill::find_loss(o.soft, "--soft");
  if (!o.train.loss.empty()) settings.named = recipe.loss;
  settings.output = o.train.output;
  const bool follows_tensors_alone = settings.alpha == 0 && !settings.matches.empty();
  if (!labelled && settings.alpha < 1 && !follows_tensors_alone)
    usage_error("the data have no labels to share the loss with", "--alpha", "give 1");
  if (!labelled) return settings;
  settings.hard = recipe.loss;
  // What the user names is meant: that labels do not fit is then an error.
  if (o.train.loss.empty() && !o.alpha) settings.label_numbers = data.batch(0, 1).labels->size();
  return settings;
}

void check_data_free(const DistillOptions& o) {
  if (o.data_free && !o.train.verb.data.spec.empty()) usage_error("give one of --data and --data-free", "--data-free");
  const bool none = o.data_free && *o.data_free < 1;
  if (none || o.data_free_steps < 1)
    usage_error("a number of at least 1 is needed", none ? "--data-free" : "--data-free-steps");
}

std::string spec_of(const DistillOptions& o) {
  std::string spec = fmt::format(";teacher={};temperature={}", join(o.teachers, ","), o.temperature);
  if (o.alpha) spec += fmt::format(";alpha={}", *o.alpha);
  if (!o.student.empty()) spec += ";student=" + o.student;
  if (o.data_free) spec += fmt::format(";data-free={};data-free-steps={}", *o.data_free, o.data_free_steps);
  if (!o.soft.empty()) spec += ";soft=" + o.soft;
  if (!o.weights.empty()) spec += ";weights=" + join(list_items(o.weights), ",");
  for (const std::string& match : o.match) spec += ";match=" + match;
  return spec;
}

}  // namespace mlopt::cli
