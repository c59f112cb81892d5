#include "distill/wiring.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "distill/scores.h"

namespace mlopt::distill {
namespace {

std::string shown(const Value& v) { return fmt::format("'{}' {}", v.name, to_string(v.type)); }

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value* v : graph.values())
    if (v->producer) names.push_back(v->name);
  return names;
}

bool is_of_classes(const train::LossDef& loss) { return loss.name == "cross-entropy" || loss.name == "next-token"; }

class Wirer {
 public:
  Wirer(const Model& student, std::vector<Teacher> teachers, const train::BatchInputs& inputs, const Settings& settings,
        TypeRule types)
      : student_(clone(student)), settings_(settings) {
    wiring_.teachers = std::move(teachers);
    train::bind_batch(student_, inputs, types);
  }

  Wiring run() {
    const bool labels = settings_.hard && labels_fit(*output());
    said_ = settings_.named ? settings_.named : labels ? settings_.hard : nullptr;
    if (labels) wiring_.hard_weight = weight_of("hard", 1 - settings_.alpha);
    alpha_ = settings_.hard && !labels ? 1 : settings_.alpha;
    if (alpha_ > 0) follow_outputs();
    for (const Match& match : settings_.matches) follow(match);
    if (wiring_.terms.empty())
      usage_error("the student follows nothing", "--alpha", "give a positive --alpha, or pairs with --match");
    require_terms_of_weights();
    return std::move(wiring_);
  }

 private:
  const Graph& own() const { return *student_.graph; }
  const Graph& graph(size_t teacher) const { return *wiring_.teachers[teacher].model.graph; }

  double weight_of(const std::string& loss, double usual) {
    weighed_.insert(loss);
    const auto found = settings_.weights.find(loss);
    return found == settings_.weights.end() ? usual : found->second;
  }

  void require_terms_of_weights() const {
    for (const auto& [name, weight] : settings_.weights)
      if (weight > 0 && !weighed_.contains(name))
        usage_error(fmt::format("nothing is learned by the loss '{}'", name), "--weights",
                    name == "hard" ? "give data whose labels fit the output, or leave it out"
                                   : fmt::format("give --match t=...,s=...,loss={}, or leave it out", name));
  }

  Value* output() const {
    const std::vector<Value*>& all = own().outputs();
    if (settings_.output.empty()) return all.at(0);
    std::vector<std::string> names;
    for (Value* v : all) {
      if (v->name == settings_.output) return v;
      names.push_back(v->name);
    }
    usage_error(fmt::format("the student has no output '{}'", settings_.output), "--loss-output",
                suggestion(settings_.output, names));
  }

  /// Has a sample as many labels as the loss takes: one of the sample, one of each position, or one of each number?
  bool labels_fit(const Value& output) const {
    const Dims dims = output.type.static_dims().value_or(Dims{});
    if (!settings_.label_numbers || dims.empty()) return true;
    const int64_t numbers = element_count(dims) / std::max<int64_t>(1, dims[0]);
    const bool classes = is_of_classes(*settings_.hard);
    return *settings_.label_numbers == (classes ? numbers / std::max<int64_t>(1, dims.back()) : numbers);
  }

  /// The teacher's output that is that of the student: of its name, else in its place.
  Value* counterpart(const Value& output, size_t teacher) const {
    const std::vector<Value*>&all = own().outputs(), &theirs = graph(teacher).outputs();
    for (Value* v : theirs)
      if (v->name == output.name) return v;
    const auto place = static_cast<size_t>(std::find(all.begin(), all.end(), &output) - all.begin());
    return all.size() == theirs.size() || place == 0 ? theirs.at(place) : nullptr;
  }

  void follow_outputs() {
    for (Value* output : own().outputs()) {
      const bool must = output == this->output();
      if ((!must && !settings_.output.empty()) || !is_float(output->type.dtype)) continue;
      for (size_t t = 0; t < wiring_.teachers.size(); ++t) {
        Value* theirs = counterpart(*output, t);
        const bool same = theirs && theirs->type.static_dims() == output->type.static_dims();
        if (same)
          follow(output, t, theirs);
        else if (must)
          input_error(fmt::format("the teacher's outputs do not match the student's: {} is to follow {}",
                                  shown(*output), theirs ? shown(*theirs) : "no output"),
                      wiring_.teachers[t].model.path,
                      "choose a teacher for the same task, or follow other tensors: --alpha 0 --match t=...,s=...");
      }
    }
  }

  /// By its shape, unless the loss of the labels says that these are no classes.
  const LossDef& soft_loss(const Value* output) {
    if (settings_.soft) return *settings_.soft;
    const LossDef& loss = usual_loss(*output);
    if (loss.name != "kl") return loss;
    const train::LossDef* said = output == this->output() ? said_ : nullptr;
    if (said && !is_of_classes(*said)) return find_loss("mse", "--soft");
    if (!said && !is_of_shares(*output)) wiring_.guessed = true;
    return loss;
  }

  void follow(Value* output, size_t teacher, Value* theirs) {
    const LossDef& loss = soft_loss(output);
    const double weight = weight_of(std::string(loss.name), alpha_);
    if (loss.name == "kl") {
      output = scores_behind(output, student_.opset());
      theirs = scores_behind(theirs, wiring_.teachers[teacher].model.opset());
    }
    add({output->name, teacher, 0, &loss, weight}, *theirs, wiring_.teachers.size());
  }

  void follow(const Match& match) {
    const auto is_glob = [](const std::string& name) { return name.find_first_of("*?[") != std::string::npos; };
    if (match.student != match.teacher || !is_glob(match.student)) return follow(match, match.student, match.teacher);
    bool found = false;
    for (const std::string& name : names_of(own())) {
      if (!glob_match(match.student, name) || !is_float(own().find(name)->type.dtype)) continue;
      if (!knows_any(name)) continue;
      follow(match, name, name);
      found = true;
    }
    if (!found)
      input_error(fmt::format("no tensor that student and teacher both have is called '{}'", match.student), "--match",
                  "name one of each: t=NAME,s=NAME");
  }

  bool knows_any(const std::string& name) const {
    for (size_t t = 0; t < wiring_.teachers.size(); ++t)
      if (const Value* v = graph(t).find(name); v && v->producer) return true;
    return false;
  }

  void follow(const Match& match, const std::string& student, const std::string& theirs) {
    const Value* followed = own().find(student);
    if (!followed || !followed->producer)
      input_error(fmt::format("the student computes no tensor '{}'", student), "--match",
                  suggestion(student, names_of(own())));
    if (!knows_any(theirs))
      input_error(fmt::format("the teacher computes no tensor '{}'", theirs), "--match",
                  suggestion(theirs, names_of(graph(0))));
    const double weight = match.weight.value_or(weight_of(std::string(match.loss->name), match.loss->weight));
    size_t teachers = 0;
    for (size_t t = 0; t < wiring_.teachers.size(); ++t)
      if (const Value* v = graph(t).find(theirs); v && v->producer) ++teachers;
    for (size_t t = 0; t < wiring_.teachers.size(); ++t)
      if (const Value* v = graph(t).find(theirs); v && v->producer)
        add({student, t, 0, match.loss, weight}, *v, teachers);
  }

  /// One of `among` terms that share a weight.
  void add(Term term, const Value& tapped, size_t among) {
    if (term.weight == 0) return;
    require_samples(*own().find(term.student));
    require_samples(tapped);
    std::vector<std::string>& taps = wiring_.teachers[term.teacher].taps;
    const auto found = std::find(taps.begin(), taps.end(), tapped.name);
    term.tap = static_cast<size_t>(found - taps.begin());
    if (found == taps.end()) taps.push_back(tapped.name);
    term.weight /= static_cast<double>(among);
    wiring_.terms.push_back(std::move(term));
  }

  static void require_samples(const Value& v) {
    const auto dims = v.type.static_dims();
    if (!is_float(v.type.dtype) || !dims || dims->empty())
      input_error(fmt::format("{} cannot be followed", shown(v)), "--match",
                  "floats of a known shape can, whose first axis is the sample");
  }

  Model student_;
  const Settings& settings_;
  double alpha_ = 1;
  const train::LossDef* said_ = nullptr;  ///< what the output is to the labels
  std::set<std::string> weighed_;         ///< losses that there are terms of
  Wiring wiring_;
};

}  // namespace

Wiring wire(const Model& student, std::vector<Teacher> teachers, const train::BatchInputs& inputs,
            const Settings& settings, TypeRule types) {
  return Wirer(student, std::move(teachers), inputs, settings, types).run();
}

std::string in_words(const Wiring& wiring) {
  std::map<std::string, double> losses;
  for (const Term& term : wiring.terms) losses[std::string(term.loss->name)] += term.weight;
  std::string text;
  for (const auto& [name, weight] : losses) text += fmt::format("{}{} {:.4g}", text.empty() ? "" : " + ", name, weight);
  if (wiring.hard_weight > 0) text += fmt::format(" + hard {:.4g}", wiring.hard_weight);
  return text;
}

}  // namespace mlopt::distill
