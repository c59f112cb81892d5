#pragma once
#include <string>

#include "core/ir/graph.h"

/// Each writes a node of an operator as the version before the one of ai.onnx that is named has it, and gives the
/// reason where that one cannot say it, else "".
namespace mlopt::proto::older {

std::string reduce(Node& node);
std::string squeeze(Node& node);
std::string split(Node& node);
std::string split_sizes(Node& node);
std::string pad(Node& node);
std::string dft(Node& node);
std::string resize_inputs(Node& node);
std::string dropout(Node& node);
std::string shape(Node& node);
std::string softmax(Node& node);
std::string constant(Node& node);
std::string or_equal(Node& node);
std::string of_integers(Node& node);

}  // namespace mlopt::proto::older
