#pragma once
// What the files of this folder share: our IR and ONNX's messages, one into the other.
#include <onnx/onnx-ml.pb.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/model.h"
#include "core/onnx/wire.h"

namespace mlopt::proto {

/// Large data that stand outside of a message: its tensors hold the index (wire::kBlobField).
using Blobs = std::vector<Tensor>;

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Where the data of tensors come from while a model is read.
struct Source {
  std::string path;                   ///< of the model, for messages
  std::string folder;                 ///< external files must be below it; "": there may be none
  std::shared_ptr<const void> owner;  ///< keeps `blobs` alive
  std::vector<wire::Bytes> blobs;
  struct External {
    wire::Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  std::map<std::string, External> external;  ///< files mapped so far, by location
  std::vector<std::string> mended;           ///< see Model::mended
  int64_t ir_version = 0;                    ///< of the model, as far as it is read

  /// "tensor 'w' of model.onnx", for messages.
  std::string where(std::string_view what, std::string_view name) const;
};

/// The bytes of a file beside the model. Throws Error{kBadInput} when it is missing or outside the model's folder.
const Source::External& external_file(Source& source, const std::string& location);

/// Throws Error{kBadInput} naming the tensor when its data are missing, doubled, or do not fit its shape.
Tensor read_tensor(const onnx::TensorProto& tensor, Source& source);
/// Fills dims, type and data; data of 1 KB and more go to `blobs` (sharing their bytes).
void write_tensor(const Tensor& tensor, onnx::TensorProto& out, Blobs& blobs);

/// The same tensor with its zeros; nothing for one of more than 256 MB, and for elements of less than a byte and
/// strings.
std::optional<Tensor> dense(const onnx::SparseTensorProto& sparse, Source& source, const std::string& where);
/// Writes the constant as its elements other than 0; false, and nothing, where that would take more room.
bool write_sparse(const Value& value, onnx::GraphProto& out);
/// Notes what a Constant with a sparse value gives as the constant of its output.
void note_sparse_constant(Node& node, Source& source);

/// Unknown for types that the IR cannot express.
Type read_type(const onnx::TypeProto& type);
onnx::TypeProto write_type(const Type& type);

// What is read is cleared in the message and what is not understood stays there: its serialized form, the residue, is
// kept in `unknown_fields` and is the start of the message that is written. A field that is present but empty also
// stays.

/// The field's text, cleared if it is not empty.
template <class Message>
std::string take(Message& message, const std::string& (Message::*get)() const, void (Message::*clear)()) {
  std::string text = (message.*get)();
  if (!text.empty()) (message.*clear)();
  return text;
}

using Entries = google::protobuf::RepeatedPtrField<onnx::StringStringEntryProto>;
Metadata take_metadata(Entries* entries);
void put_metadata(const Metadata& metadata, Entries* entries);

/// An attribute; `read_body` makes the graphs in it.
Attr read_attribute(onnx::AttributeProto& message, Source& source, const std::string& where,
                    const std::function<GraphPtr(onnx::GraphProto&)>& read_body);
/// Its message; `write_body` makes those of the graphs in it.
void write_attribute(const Attr& attr, onnx::AttributeProto& out, Blobs& blobs,
                     const std::function<void(const Graph&, onnx::GraphProto&)>& write_body);

/// The main graph or, below it, bodies. `graph` is empty.
void read_graph(onnx::GraphProto& message, Graph& graph, Source& source, int64_t ir_version);
Function read_function(onnx::FunctionProto& message, Source& source, int64_t ir_version);
/// Type, documentation and the rest of a ValueInfoProto, moved into the value.
void read_value_info(onnx::ValueInfoProto& message, Value& value);
void write_value_info(const Value& value, onnx::ValueInfoProto& out);
/// What a tensor holds besides its data, kept in the value for write_initializer().
void keep_residue(onnx::TensorProto& tensor, Value& value);
void write_initializer(const Value& value, onnx::TensorProto& out, Blobs& blobs);
/// Clears dims, type and data.
void strip(onnx::TensorProto& tensor);
/// Whether the messages of two types are the same.
bool same(const onnx::TypeProto& a, const onnx::TypeProto& b);

/// The model in a message without its large data. The message is used up.
Model read_message(onnx::ModelProto& message, Source& source);

struct Written {
  onnx::ModelProto message;
  Blobs blobs;
};
Written write_message(const Model& model, bool sparse = false);

/// The index of a tensor's data in Blobs, if that is where they are.
std::optional<uint64_t> blob_index(const onnx::TensorProto& tensor);
/// Every tensor that may have large data: initializers, attributes, bodies, functions.
void for_each_tensor(onnx::ModelProto& model, const std::function<void(onnx::TensorProto&)>& visit);
/// Puts back the data of tensors below `limit` bytes; `stand_in` sees the others, with the index of their data.
void fill_in(Written& written, size_t limit, const std::function<void(onnx::TensorProto&, uint64_t)>& stand_in);
void write_graph(const Graph& graph, onnx::GraphProto& out, Blobs& blobs, int64_t ir_version, bool sparse = false);
void write_function(const Function& function, onnx::FunctionProto& out, Blobs& blobs, int64_t ir_version);

}  // namespace mlopt::proto
