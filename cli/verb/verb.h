#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/data.h"
#include "cli/gates.h"
#include "cli/model_info.h"
#include "cli/verb/plans.h"
#include "core/ir/model.h"
#include "core/measure/side_by_side.h"
#include "core/onnx/io.h"

namespace mlopt::cli {

/// What every verb that writes a model takes.
struct VerbOptions {
  std::string model, output;
  DataFlags data;
  std::string metric;
  int64_t samples = 16;         ///< that the results are compared on, at most
  std::optional<double> bench;  ///< seconds of timing both; unset: one, but none of large models
  bool no_bench = false, strict = false, no_write_on_fail = false;
  std::string external;  ///< "yes", "no"; empty: by size
  bool sparse = false;   ///< weights that take less room so are written without their zeros
  std::optional<double> min_speedup, max_latency_ms;
  std::optional<SizeLimit> max_memory;  ///< of a fresh process that runs the result
  std::string baseline;                 ///< a report of this command made earlier
  std::optional<Percent> max_regress;   ///< of its figures; unset: 5 %
  ResultGates gates;

  double bench_seconds() const { return bench.value_or(1); }
};
/// Declares all of them; MODEL and -o first.
void declare_verb(Options& options, VerbOptions& verb);

/// The first gate that was asked for, as the option is written, --strict too; empty: none.
std::string first_gate(const VerbOptions& verb);

/// Reads the model, and checks what says how results are looked at.
Model read_source(const VerbOptions& verb);

/// read_source(), and checks all else that can be checked before the work starts. Takes standard output for `-o -`.
Model begin_verb(const VerbOptions& verb, Session& session);

/// The items of an option that takes comma-separated lists, and may be given again.
std::vector<std::string> list_items(const std::vector<std::string>& lists);

/// Sees that the globs of --only or --skip mean nodes of the model; an unnamed node goes by its first output. A name of
/// none throws Error{kUsage} with the nearest one; of a pattern that matches none, the user is warned.
void check_node_names(const std::vector<std::string>& globs, const char* option, const Model& model,
                      const Session& session);

/// What a verb made.
struct VerbResult {
  Model model;
  std::string spec;                       ///< the whole configuration, which makes the same result again
  Json changes = Json::object();          ///< what was done
  Json declined = Json::array();          ///< what was not, and why
  std::vector<std::string> not_verified;  ///< what the verb itself could not verify, one sentence each
  bool may_differ = false;                ///< other outputs than the source's are what was asked for
  std::string source_hash = {};           ///< source_hash(), where it is known already; else empty
};

/// Where the weights of the result go.
WriteOptions write_options(const VerbOptions& verb);

/// The common ending: verifies the result numerically against the source, scores and times both, judges the gates,
/// writes the model with its origin in its metadata, and adds the table of before and after. Throws Error{kInternal},
/// and writes nothing, when the result is no valid graph.
void finish_verb(const VerbOptions& verb, const Model& source, VerbResult result, Session& session);

// The steps of the ending, one a file.

struct Validity {
  std::string rejection;  ///< what ONNX's checker holds against the result alone
  /// What ONNX's shape inference says of the result and not of the source, and which of ONNX's tools came to no end in
  /// time.
  std::vector<std::string> doubts;
};
/// Throws Error{kInternal} when the graph verifier rejects the result, or its inputs or outputs are not those of the
/// source.
Validity validity_of(const Model& source, const Model& result);

/// The outputs of both on the same data: on the reference backend or, where it cannot run them, on the session's.
struct Verification {
  std::optional<RunComparison> comparison;
  std::string data, device;  ///< what it ran on
  std::string problem;       ///< why there is no comparison; empty when there is one
  bool cannot_run = false;   ///< it is that they cannot be run here at all
};
/// `cost` is that of a run of the source.
Verification verify_result(const VerbOptions& verb, const Model& source, const Model& result, const RunCost& cost,
                           Plans& plans, const Session& session);
/// Throws Error{kInternal}: of what was asked for, nothing is left behind.
[[noreturn]] void result_is_broken(const std::string& what, const std::string& where);
/// Throws Error{kInternal} where an output has another shape than the source's and the shape does not depend on what
/// the inputs hold, as the number of boxes that a detector finds does. `comparison` is of the source and its result on
/// `data`, `batch` samples at once where they can be stacked.
void require_same_shapes(const RunComparison& comparison, const Model& source, const Dataset& data, int64_t batch);
/// Throws when there is a rejection: Error{kBadInput} where the source does not even run, else Error{kInternal}.
void require_accepted(const Validity& validity, const Verification& verification, const Model& source);
/// Why there cannot be so many bytes of "the weights of both", or what else `what` says; empty when there can.
std::string lack_of_memory(int64_t bytes, const std::string& what);

/// The score of both on the device of the session.
struct Scores {
  Score source, result;
};
Scores score_both(const VerbOptions& verb, const Model& source, Plans& plans, const Session& session);

/// The latency of both on the device of the session; left_out says why there is none.
SideBySide time_both(const VerbOptions& verb, const Model& source, const Model& result, Plans& plans,
                     const Session& session);
/// --min-speedup and --max-latency.
std::vector<Gate> judge_speed(const VerbOptions& verb, const SideBySide& latency);

/// --max-memory: measured in a process of its own, which a gate alone is worth.
std::vector<Gate> judge_memory(const VerbOptions& verb, const Model& source, const Model& result,
                               const Session& session);
/// The report at --baseline; throws Error{kBadInput} when it is none of a verb's.
Json read_baseline(const std::string& path);
/// --baseline: size, score and latency of `report` against the earlier one.
std::vector<Gate> judge_regress(const VerbOptions& verb, const SideBySide& latency, const Json& report);

/// Adds version, spec and the source's hash to the metadata of the result.
void record_origin(const Model& source, const VerbResult& made, Model& result);

/// What the ending found out, and how the report says it.
struct Ending {
  ModelInfo source, result;
  RunCost source_cost, result_cost;
  Verification verification;
  std::optional<Scores> scores;
  SideBySide latency;
  std::vector<std::string> not_verified;
};
void add_table(const Ending& ending, Report& report);
void add_figures(const VerbOptions& verb, const Ending& ending, Plans& plans, Json& data);
/// `.models` and `.ratios` as `bench` writes them, or `.left_out`.
Json latency_json(const VerbOptions& verb, const Ending& ending, Plans& plans);

}  // namespace mlopt::cli
