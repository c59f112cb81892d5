#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/file.h"
#include "core/ir/model.h"
#include "core/tensor/datum.h"

namespace mlopt {

/// Reads a model file ("-" is standard input). Weights of 1 KB and more are views of the mapped file, also inside the
/// protobuf and in external data files; they are not touched. External paths must stay inside the model's folder.
/// Throws Error{kBadInput} naming file, node or tensor.
Model read_model(const std::string& path);
/// From bytes in memory (kept alive by the tensors that view them). `folder` is where external data are looked for.
Model read_model_bytes(std::string bytes, const std::string& folder = {});
/// Where a data file of the model at `model` lies, by its name there: beside it or, where that is a link, beside what
/// the link leads to.
std::string external_path(const std::string& model, const std::string& name);
/// ONNX's text form (onnx.parser), for tests and `convert`.
Model parse_text(std::string_view text);

struct WriteOptions {
  /// Where weights of 1 KB and more go: nothing decides by size (external above 2 GB), true always external, false
  /// inline.
  std::optional<bool> external = {};
  bool sparse = false;  ///< constants that take less room as their elements other than 0 and the places of these
  std::vector<std::string> kept = {};  ///< data files of others, which stay where the model that is replaced used them
};
/// Whether data can lie beside it: standard output, a device and a pipe have no such place.
bool takes_external(const std::string& path);
/// Writes atomically ("-" is standard output): external data first under a name of their own (NAME.onnx.data), the
/// model last. Where a link leads to, the model is and the data are. Byte for byte the same for the same model.
void write_model(const Model& model, const std::string& path, const WriteOptions& options = {});
std::string write_model_bytes(const Model& model);
/// The files that write_model would write, under temporary names beside `path`: there to be read until this object
/// goes.
class Draft {
 public:
  Draft(const Model& model, const std::string& path, const WriteOptions& options = {});
  const std::string& path() const { return model_.temporary(); }

 private:
  AtomicFile model_;
  std::optional<AtomicFile> data_;
};
/// The bytes of the file with the weights inside, piece by piece.
void write_model_to(const Model& model, const std::function<void(std::span<const std::byte>)>& sink);
/// Bytes of the files that write_model would write to a path; throws as it does when the weights are too many for that.
int64_t written_size(const Model& model, const std::string& path, const WriteOptions& options = {});
/// ONNX's text form; throws Error{kUnsupported} for a model that its parser could not read back.
std::string print_text(const Model& model);

/// A tensor or any value in the form of ONNX's test data (TensorProto, SequenceProto, OptionalProto as `type` says);
/// `name` becomes what a tensor is called there.
Datum read_datum(const std::string& path, const Type& type, std::string* name = nullptr);
void write_datum(const Datum& value, const Type& type, const std::string& name, const std::string& path);

}  // namespace mlopt
