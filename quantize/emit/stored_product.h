#pragma once
#include <string>
#include <vector>

#include "core/calib/weights.h"
#include "core/ir/model.h"

namespace mlopt::quantize {

/// Does anything but the second operands of its layers read the weight, or what Transposes and Identities make of it?
bool read_by_others(const Weight& weight);

/// Why the layers that share a weight cannot become operators of com.microsoft that multiply rows by a stored matrix;
/// empty where they can.
std::string stored_product_problem(const Weight& weight);

/// Such an operator; it has attributes N and K.
struct StoredProduct {
  std::string op;
  std::vector<Value*> stored;  ///< inputs 1, 2, ...; null: omitted
  std::vector<Attr> attrs;
  int bias_at = -1;  ///< the input that a bias goes to; -1: none, it is added behind the product
};

/// Turns the layers that share the weight into it, each in its place.
void make_stored_products(Model& model, const Weight& weight, const StoredProduct& product);

}  // namespace mlopt::quantize
