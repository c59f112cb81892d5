#pragma once
#include <memory>
#include <string>

#include "core/exec/backend.h"
#include "core/ir/model.h"

namespace mlopt::cli {

/// Is it a model that is not held in memory whole? It is run part by part, and what is made of it waits in files.
bool is_large(const Model& source);

/// Does the device (empty: the default one) run it part by part, for it is this machine's memory that it would fill?
bool runs_in_parts(const std::string& device, const Model& source);
/// open_backend(), which then does so.
std::unique_ptr<Backend> open_backend_for(const std::string& device, const Model& source);

/// Where what is made of a large model waits until it is written to `output`; empty: in memory, of others.
std::string waiting_folder(const Model& source, const std::string& output);

}  // namespace mlopt::cli
