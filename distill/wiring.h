#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/train/graphs.h"
#include "distill/match.h"
#include "distill/teacher.h"

namespace mlopt::distill {

/// What the student learns from, and how much of each.
struct Settings {
  std::vector<Match> matches;
  std::map<std::string, double> weights;  ///< of losses by name, in place of the usual
  double temperature = 4;
  double alpha = 1;                      ///< share of the teachers' outputs; the rest is the labels'
  const LossDef* soft = nullptr;         ///< of all outputs; null: as the shape of each suggests
  const train::LossDef* hard = nullptr;  ///< of the labels; null: there are none
  const train::LossDef* named =
      nullptr;                           ///< the loss that the user says is right for the output; null: nothing is said
  std::optional<int64_t> label_numbers;  ///< of a sample: where they do not fit the output, labels are left out
  std::string output;                    ///< of the student: what labels are for, and alone follows; "": the first; all
};

/// One term of the loss.
struct Term {
  std::string student;  ///< name of a value
  size_t teacher = 0, tap = 0;
  const LossDef* loss = nullptr;
  double weight = 1;
};

/// Teachers and the terms that bind a student to them.
struct Wiring {
  std::vector<Teacher> teachers;  ///< not tapped yet
  std::vector<Term> terms;
  double hard_weight = 0;
  bool guessed = false;  ///< an output follows as class scores by its shape alone
};

/// Finds what settings name in student and teachers; `inputs` are the student's. Throws Error{kBadInput} where outputs
/// do not match, or a name means nothing.
Wiring wire(const Model& student, std::vector<Teacher> teachers, const train::BatchInputs& inputs,
            const Settings& settings, TypeRule types);

/// "hint 300 + kl 0.9 + hard 0.1": the losses and the sum of the weights of each.
std::string in_words(const Wiring& wiring);

}  // namespace mlopt::distill
