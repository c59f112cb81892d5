// The optimizers of ai.onnx.preview.training -> arithmetic: Adagrad (Duchi, Hazan and Singer 2011), Adam (Kingma and Ba
// 2015) and Momentum. Inputs are the rate, the number of updates, and lists of values, gradients and moments; outputs
// the values and moments that follow.
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

/// Writes down arithmetic of one type.
class Terms {
 public:
  Terms(const Match& m, Builder& builder)
      : view_(builder.view(*m.root)), builder_(builder), type_(m.root->input(2)->type.dtype) {}

  Value* attribute(const char* name, float otherwise) { return number(view_.get_float(name, otherwise)); }
  Value* number(float v) { return builder_.constant("number", cast(Tensor::scalar(v), type_)); }
  Value* op(const char* op, std::vector<Value*> operands) {
    return builder_.op(op, std::move(operands), {}, Type::tensor(type_));
  }
  Value* add(Value* a, Value* b) { return op("Add", {a, b}); }
  Value* sub(Value* a, Value* b) { return op("Sub", {a, b}); }
  Value* mul(Value* a, Value* b) { return op("Mul", {a, b}); }
  Value* div(Value* a, Value* b) { return op("Div", {a, b}); }
  Value* root(Value* a) { return op("Sqrt", {a}); }
  Value* cast_of(Value* v) {
    return builder_.op("Cast", {v}, {{"to", static_cast<int64_t>(type_), ""}}, Type::tensor(type_));
  }
  /// `a` from the second update on, else `b`.
  Value* later(Value* count, Value* a, Value* b) {
    return op("Where", {builder_.op("Greater", {cast_of(count), number(0)}, {}, Type::tensor(DType::kBool)), a, b});
  }
  const NodeView& view() const { return view_; }

 private:
  NodeView view_;
  Builder& builder_;
  DType type_;
};

/// What all updates of a node share, and what becomes of a value, its gradient and its moments.
struct Optimizer {
  size_t lists;
  Value* (*rate)(Terms& t, Value* rate, Value* count);
  std::vector<Value*> (*step)(Terms& t, Value* rate, Value* count, const std::vector<Value*>& v);
};

Value* decayed(Terms& t, Value* rate, Value* count) {
  return t.div(rate, t.add(t.number(1), t.mul(t.cast_of(count), t.attribute("decay_factor", 0))));
}

Value* same(Terms&, Value* rate, Value*) { return rate; }

/// Without the bias that moments have in the beginning.
Value* unbiased(Terms& t, Value* rate, Value* count) {
  const auto rest = [&](const char* name, float otherwise) {
    return t.sub(t.number(1), t.op("Pow", {t.attribute(name, otherwise), t.cast_of(count)}));
  };
  return t.later(count, t.div(t.mul(rate, t.root(rest("beta", 0.999f))), rest("alpha", 0.9f)), rate);
}

Value* gradient_of(Terms& t, const std::vector<Value*>& v) {
  return t.add(t.mul(t.attribute("norm_coefficient", 0), v[0]), v[1]);
}

std::vector<Value*> adagrad(Terms& t, Value* rate, Value*, const std::vector<Value*>& v) {
  Value* g = gradient_of(t, v);
  Value* squares = t.add(v[2], t.mul(g, g));
  Value* size = t.add(t.root(squares), t.attribute("epsilon", 1e-6f));
  return {t.sub(v[0], t.div(t.mul(rate, g), size)), squares};
}

std::vector<Value*> momentum(Terms& t, Value* rate, Value* count, const std::vector<Value*>& v) {
  Value *g = gradient_of(t, v), *alpha = t.attribute("alpha", 0);
  Value* beta = t.later(count, t.attribute("beta", 1), t.number(1));
  Value* velocity = t.add(t.mul(alpha, v[2]), t.mul(beta, g));
  const bool nesterov = t.view().get_string("mode", "standard") == "nesterov";
  return {t.sub(v[0], t.mul(rate, nesterov ? t.add(g, t.mul(alpha, velocity)) : velocity)), velocity};
}

std::vector<Value*> adam(Terms& t, Value* rate, Value*, const std::vector<Value*>& v) {
  Value *g = gradient_of(t, v), *alpha = t.attribute("alpha", 0.9f), *beta = t.attribute("beta", 0.999f);
  Value* mean = t.add(t.mul(alpha, v[2]), t.mul(t.sub(t.number(1), alpha), g));
  Value* squares = t.add(t.mul(beta, v[3]), t.mul(t.sub(t.number(1), beta), t.mul(g, g)));
  Value* size = t.add(t.root(squares), t.attribute("epsilon", 1e-6f));
  Value* x = t.sub(v[0], t.div(t.mul(rate, mean), size));
  return {t.mul(t.sub(t.number(1), t.attribute("norm_coefficient_post", 0)), x), mean, squares};
}

template <const Optimizer& optimizer>
Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<Value*>& inputs = m.root->inputs();
  if (inputs.size() < 2 + optimizer.lists || (inputs.size() - 2) % optimizer.lists != 0)
    return Decline{"the lists of tensors differ in length"};
  if (!is_float(inputs[2]->type.dtype)) return Decline{"its type is not known"};
  const size_t count = (inputs.size() - 2) / optimizer.lists;
  Terms t(m, builder);
  Value* rate = optimizer.rate(t, t.cast_of(inputs[0]), inputs[1]);
  Replacement made((optimizer.lists - 1) * count);
  for (size_t k = 0; k < count; ++k) {
    std::vector<Value*> given;
    for (size_t list = 0; list < optimizer.lists; ++list) given.push_back(inputs[2 + list * count + k]);
    const std::vector<Value*> next = optimizer.step(t, rate, inputs[1], given);
    for (size_t list = 0; list < next.size(); ++list) made[list * count + k] = next[list];
  }
  made.resize(m.root->outputs().size());
  return made;
}

constexpr Optimizer kAdagrad{3, decayed, adagrad}, kMomentum{3, same, momentum}, kAdam{4, unbiased, adam};

std::vector<Rule> rules() {
  const auto op = [](const char* name) { return Pattern::op(name, {}).open().domain("ai.onnx.preview.training"); };
  return {{op("Adagrad"), rewrite<kAdagrad>}, {op("Momentum"), rewrite<kMomentum>}, {op("Adam"), rewrite<kAdam>}};
}

}  // namespace

const Pass preview_training = {"preview_training", "optimizers of ai.onnx.preview.training as arithmetic", rules};

}  // namespace mlopt::lower
