#pragma once
#include <map>
#include <string>

#include "core/ir/model.h"

namespace mlopt::train {

/// Names of weights that are copies, and of those in the model that they were made from.
using Copies = std::map<std::string, std::string>;

/// Gives values that happen to be equal, and are stored once, a weight each, so that training may tell them apart:
/// exporters give the others as Identity of one, optimizers let several nodes read one vector. The statistics of each
/// BatchNormalization become its own; other vectors stay shared by readers in one role beside one matrix, as a layer
/// that is applied twice has them. Gives the copies, with those from `before` that the model has already.
Copies untie_weights(Model& model, Copies before = {});

}  // namespace mlopt::train
