#include "cli/train/options.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/train/precision.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

template <class Defs>
std::vector<std::string> names_of(const Defs& defs) {
  std::vector<std::string> names;
  for (const auto& def : defs) names.emplace_back(def.name);
  return names;
}

template <class Defs>
std::string help_of(std::string_view what, const Defs& defs) {
  std::vector<std::string> all;
  for (const auto& def : defs) all.push_back(fmt::format("{} ({})", def.name, def.doc));
  return fmt::format("{}: {}", what, join(all, ", "));
}

/// What the outputs are most likely scores of. One column is no class among others, whatever its rank.
std::string usual_loss(const Model& model, const std::string& output) {
  const Value* scored = output.empty() ? model.graph->outputs().front() : model.graph->find(output);
  const size_t rank = scored && scored->type.dims ? scored->type.dims->size() : 0;
  if (rank > 1 && scored->type.dims->back().value() == 1)
    return scored->producer && scored->producer->is("Sigmoid") ? "bce" : "mse";
  return rank == 2 ? "cross-entropy" : rank == 3 ? "next-token" : "mse";
}

void require_positive(int64_t value, const char* option) {
  if (value < 1) usage_error("a number of at least 1 is needed", option);
}

/// What only some optimizers or trainings have is not left aside without a word.
void check_rates(const TrainOptions& o) {
  if (o.momentum && !(*o.momentum >= 0 && *o.momentum < 1))
    usage_error("a number from 0 to below 1 is needed", "--momentum");
  if (o.momentum && o.optimizer != "sgd")
    usage_error(fmt::format("{} has no momentum to set", o.optimizer), "--momentum",
                "leave it out, or give --optimizer sgd");
  if (!(o.weight_decay >= 0)) usage_error("it is not negative", "--weight-decay");
  if (o.clip && !(*o.clip > 0))
    usage_error("a positive number is needed", "--clip", "leave it out, and the norm may be any");
  if (!(o.average >= 0 && o.average < 1)) usage_error("a share from 0 to below 1 is needed", "--average");
}

}  // namespace

int64_t TrainOptions::batch_of(int64_t samples) const {
  constexpr int64_t kUsual = 64;
  return batch_size.value_or(std::clamp<int64_t>(samples, 1, kUsual));
}

void declare_train(Options& options, TrainOptions& o) {
  declare_verb(options, o.verb);
  options
      .add("--loss", o.loss, "L",
           help_of("what to make small, by default as the shape of the output suggests", train::losses()))
      .choices = names_of(train::losses());
  options.add("--loss-output", o.output, "NAME", "the output that the loss is of (default: the first)");
  options.add("--html", o.html, "FILE", "write the report, with its curves, as one page").writes = true;
  const size_t first = options.all().size();
  options.add("--label-smoothing", o.label_smoothing, "F",
              "share of the target given to all classes alike (default: 0)");
  options.add("--epochs", o.epochs, "N", "times through the data (default: 1)");
  options.add("--steps", o.steps, "N", "updates, in place of --epochs");
  options.add("--batch-size", o.batch_size, "N", "samples of an update (default: 64, or all where there are fewer)");
  options.add("--accumulate", o.accumulate, "N", "compute each update in N portions, one after the other (default: 1)");
  options
      .add("--optimizer", o.optimizer, "O",
           help_of("how weights follow gradients", train::optimizers()) + "; default: adamw")
      .choices = names_of(train::optimizers());
  options.add("--lr", o.rate, "F",
              "the highest learning rate (default: 0.01 for sgd, else 0.001; 0.3 of that with --qat of weights alone)");
  options.add("--momentum", o.momentum, "F", "of sgd, Nesterov's (default: 0.9)");
  options.add("--schedule", o.schedule, "S", help_of("how the rate changes", train::schedules()) + "; default: cosine")
      .choices = names_of(train::schedules());
  options.add("--warmup-steps", o.warmup_steps, "N", "updates in which the rate grows from 0 (default: 0)");
  options.add("--weight-decay", o.weight_decay, "F", "pull of weights to 0, not of biases and norms (default: 0)");
  options.add("--clip", o.clip, "F", "largest norm of all gradients together (default: any)");
  options.add("--average", o.average, "F",
              "give the moving average of the weights, which keeps this share of itself in each update (like 0.999)");
  options.add(
      "--recompute", o.recompute, "sqrt|MB",
      "compute parts of the forward pass again in the backward pass, so that values take less memory: about its "
      "square root, or so many megabytes");
  options
      .add("--offload", o.offload, "activations",
           "on a GPU: what the backward pass needs lies in the host's memory until then; the report shows what that "
           "costs")
      .choices = {"activations"};
  options
      .add("--precision", o.precision, "fp32|bf16|fp16",
           "what matrix products and convolutions read and give, forward and backward; weights, sums and all else stay "
           "float32; fp16 scales the loss (default: fp32)")
      .choices = {"fp32", "bf16", "fp16"};
  options.add("--keep-fp32", o.keep_fp32, "GLOB",
              "products of these names, or of weights of these names, stay float32");
  options.add("--trainable", o.trainable, "GLOB",
              "train only weights of these names (default: all that look like weights)");
  options.add("--freeze", o.freeze, "GLOB", "leave weights of these names as they are");
  options
      .add("--bn", o.batch_norm, "train|frozen|sync",
           "batch normalization by the batch, its statistics updated, or by those it has; sync: under mpirun by the "
           "whole "
           "batch, not a rank's part (default: train)")
      .choices = {"train", "frozen", "sync"};
  options.add(
      "--dropout", o.dropout, "model|off|F",
      "share that the model's Dropouts drop in training: what each says itself, none, or this (default: model)");
  options.add("--keep-zeros", o.keep_zeros, "weights that are 0 stay 0, such as those of a pruned model");
  options.add("--reset-weights", o.reset_weights, "begin with random weights");
  options.add(
      "--qat", o.qat, "FORMAT",
      "round as a format of quantize does while training, and write the model in it: w8a8, w4a4 and the like, "
      "w2, ternary, nf4, codebook3 and other formats of weights alone, mixed:size=40%, w8a8-dynamic, fp16, bf16");
  options
      .add("--qat-schedule", o.qat_schedule, "NAME",
           "of --qat with weights alone: constant, or gradual: 8 bits first, then fewer until each layer has its own "
           "width, in the first quarter of the updates (default: constant)")
      .choices = {"constant", "gradual"};
  options.add("--layer-plan", o.layer_plan, "FILE", "of --qat: a format for each layer, as quantize takes it");
  options.add(
      "--augment", o.augment, "LIST",
      "random changes of pictures: crop=4/flip/cutout=8; mixup=0.2 mixes each sample and its label with another");
  options.add("--checkpoint", o.checkpoint, "DIR", "keep what is needed to go on: after each epoch, and on Ctrl-C");
  options.add("--checkpoint-every", o.checkpoint_every, "N", "also after every N updates");
  options.add("--resume", o.resume, "go on from the newest checkpoint, with the same options");
  options.add("--patience", o.patience, "N",
              "end when --metric on --val has not improved for N epochs; keep the best weights");
  options.add("--val", o.val, "SPEC", "data to score with --metric after each epoch, and at the end");
  options.add("--log", o.log, "FILE", "a line of CSV for each update").writes = true;
  options.add("--bucket", o.bucket_mb, "MB",
              "under mpirun: megabytes of gradients that ranks add up at once (default: 4; 25 by NCCL)");
  options.add("--compress", o.compress, "C",
              help_of("under mpirun: gradients on their way to other ranks", train::compressions()));
  options.add("--sync", o.sync, "local:H", "under mpirun: each rank by itself, the mean of all after every H updates");
  options.add("--tensorboard", o.tensorboard, "DIR", "curves as TensorBoard reads them");
  for (size_t i = first; i < options.all().size(); ++i) options.all()[i].trains = true;
}

train::Recipe recipe_of(const TrainOptions& o, const Model& model) {
  if (model.graph->outputs().empty())
    input_error("the model has no outputs", model.path, "give a model with an output that a loss can be of");
  train::Recipe recipe;
  recipe.loss = train::find_loss(o.loss.empty() ? usual_loss(model, o.output) : o.loss);
  recipe.optimizer = train::find_optimizer(o.optimizer);
  if (!(o.label_smoothing >= 0 && o.label_smoothing < 1))
    usage_error("a share from 0 to below 1 is needed", "--label-smoothing");
  if (o.label_smoothing > 0 && !recipe.loss->smooths)
    usage_error(fmt::format("the loss {} has no classes to smooth", recipe.loss->name), "--label-smoothing",
                "leave it out, or give --loss cross-entropy");
  check_rates(o);
  recipe.label_smoothing = o.label_smoothing;
  recipe.settings.momentum = o.momentum.value_or(recipe.settings.momentum);
  recipe.settings.weight_decay = o.weight_decay;
  recipe.choice = {list_items(o.trainable), list_items(o.freeze), {}};
  recipe.output = o.output;
  recipe.train_batch_norm = o.batch_norm != "frozen";
  recipe.clip = o.clip.value_or(0);
  recipe.average = o.average;
  recipe.dropout = train::parse_dropout(o.dropout);
  recipe.keep_zeros = o.keep_zeros;
  recipe.precision = mixed_precision_of(o);
  recipe.recompute = train::parse_recompute(o.recompute);
  return recipe;
}

train::LoopSettings loop_of(const TrainOptions& o, int64_t samples, uint64_t seed) {
  if (o.batch_size) require_positive(*o.batch_size, "--batch-size");
  require_positive(o.accumulate, "--accumulate");
  if (o.epochs && o.steps) usage_error("give one of --epochs and --steps", "--epochs");
  if (o.epochs) require_positive(*o.epochs, "--epochs");
  if (o.patience) require_positive(*o.patience, "--patience");
  if (o.patience && (o.val.empty() || o.verb.metric.empty()))
    usage_error("--patience needs --val and --metric", "--patience");
  if (o.schedule == "plateau" && (o.val.empty() || o.verb.metric.empty()))
    usage_error("plateau follows the score on validation data, of which there are none", "--schedule",
                "give --val and --metric, or choose another schedule");
  if (o.steps) require_positive(*o.steps, "--steps");
  const int64_t batch = o.batch_of(samples);
  if (batch % o.accumulate != 0)
    usage_error(fmt::format("a batch of {} has no {} equal portions", batch, o.accumulate), "--accumulate");
  if (!o.val.empty() && o.verb.metric.empty()) usage_error("--val needs what to score", "--val", "add --metric");
  if (o.warmup_steps < 0) usage_error("it is not negative", "--warmup-steps");
  train::LoopSettings loop;
  loop.batch = batch;
  if (!o.augment.empty()) loop.augmentation = train::parse_augmentation(o.augment);
  loop.accumulate = o.accumulate;
  loop.seed = seed;
  loop.schedule.kind = train::find_schedule(o.schedule);
  loop.schedule.rate = o.rate.value_or(train::find_optimizer(o.optimizer)->rate);
  if (!(loop.schedule.rate > 0)) usage_error("a positive number is needed", "--lr");
  loop.schedule.warmup = o.warmup_steps;
  loop.schedule.steps = o.steps.value_or(o.epochs.value_or(1) * (samples / batch));
  return loop;
}

/// H of "local:H".
int64_t local_steps(const std::string& sync) {
  if (sync.empty()) return 1;
  const auto steps = sync.starts_with("local:") ? parse_int(std::string_view(sync).substr(6)) : std::nullopt;
  if (!steps || *steps < 1) usage_error(fmt::format("'{}' is not known", sync), "--sync", "for example local:8");
  return *steps;
}

void share_loop(const TrainOptions& o, const std::shared_ptr<train::Communicator>& ranks, train::LoopSettings& loop) {
  constexpr double kMost = 1024;
  if (o.bucket_mb && !(*o.bucket_mb > 0 && *o.bucket_mb <= kMost))
    usage_error(fmt::format("a number above 0 and at most {} is needed", kMost), "--bucket");
  loop.ranks = ranks;
  if (o.bucket_mb) loop.bucket_bytes = std::max<int64_t>(1, static_cast<int64_t>(*o.bucket_mb * (1 << 20)));
  loop.compression = train::parse_compression(o.compress);
  loop.local_steps = local_steps(o.sync);
  loop.sync_batch_norm = o.batch_norm == "sync";
  if (loop.compression.kind && loop.local_steps > 1)
    usage_error("--compress is for gradients, which --sync local:H sends none of", "--compress");
  if (loop.batch % (loop.accumulate * ranks->size()) != 0)
    usage_error(fmt::format("{} samples have no equal parts for {} ranks", loop.batch / loop.accumulate, ranks->size()),
                "--batch-size", fmt::format("give a multiple of {}", loop.accumulate * ranks->size()));
}

std::string spec_of(const TrainOptions& o, const train::LoopSettings& loop) {
  std::string spec = fmt::format("train:data={};batch-size={};optimizer={};schedule={};bn={};seed={}", o.verb.data.spec,
                                 loop.batch, o.optimizer, o.schedule, o.batch_norm, loop.seed);
  const auto add = [&](const char* name, const auto& value) { spec += fmt::format(";{}={}", name, value); };
  if (!o.verb.data.shapes.empty()) add("shape", join(o.verb.data.shapes, ","));
  if (!o.verb.data.ranges.empty()) add("range", join(o.verb.data.ranges, ","));
  if (o.calibration_samples != TrainOptions().calibration_samples) add("calibration-samples", o.calibration_samples);
  if (!o.loss.empty()) add("loss", o.loss);
  if (o.steps) add("steps", *o.steps);
  if (o.epochs) add("epochs", *o.epochs);
  if (o.rate) add("lr", *o.rate);
  if (o.accumulate > 1) add("accumulate", o.accumulate);
  if (o.warmup_steps > 0) add("warmup-steps", o.warmup_steps);
  if (o.weight_decay > 0) add("weight-decay", o.weight_decay);
  if (o.clip) add("clip", *o.clip);
  if (o.average > 0) add("average", o.average);
  const double usual_momentum = train::OptimizerSettings().momentum;
  if (o.momentum.value_or(usual_momentum) != usual_momentum) add("momentum", *o.momentum);
  if (!o.output.empty()) add("loss-output", o.output);
  if (o.label_smoothing > 0) add("label-smoothing", o.label_smoothing);
  if (!o.trainable.empty()) add("trainable", join(list_items(o.trainable), ","));
  if (!o.freeze.empty()) add("freeze", join(list_items(o.freeze), ","));
  if (!o.augment.empty()) add("augment", o.augment);
  if (!o.compress.empty()) add("compress", o.compress);
  if (!o.sync.empty()) add("sync", o.sync);
  if (!o.qat.empty()) add("qat", o.qat);
  if (o.qat_schedule != "constant") add("qat-schedule", o.qat_schedule);
  if (!o.layer_plan.empty()) add("layer-plan", o.layer_plan);
  if (o.dropout != "model") add("dropout", o.dropout);
  if (o.precision != "fp32") add("precision", o.precision);
  if (!o.keep_fp32.empty()) add("keep-fp32", join(list_items(o.keep_fp32), ","));
  if (o.keep_zeros) spec += ";keep-zeros";
  if (o.reset_weights) spec += ";reset-weights";
  return spec;
}

}  // namespace mlopt::cli
