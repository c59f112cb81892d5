#pragma once
#include "core/ir/model.h"

namespace mlopt::train {

/// Gives values that happen to be equal, and are stored once, a weight each, so that training may tell them apart:
/// exporters give the others as Identity of one, optimizers let several nodes read one vector. The statistics of each
/// BatchNormalization become its own; other vectors stay shared by readers in one role beside one matrix, as a layer
/// that is applied twice has them.
void untie_weights(Model& model);

}  // namespace mlopt::train
