#pragma once
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ir/attr.h"
#include "core/ir/type.h"
#include "core/tensor/tensor.h"

namespace mlopt {

class Graph;
class Node;

/// One place where a value is read: input `index` of `node` (which may be inside a nested body).
struct Use {
  Node* node;
  int index;
  friend bool operator==(const Use&, const Use&) = default;
};

/// An edge of the graph: a graph input, an initializer, or the output of a node. Owned by its Graph; the address is
/// stable.
struct Value {
  std::string name;
  Type type;
  Graph* graph = nullptr;
  Node* producer = nullptr;                  ///< null for graph inputs and initializers
  int output_index = 0;                      ///< which output of the producer
  bool is_input = false;                     ///< listed in graph->inputs()
  int output_uses = 0;                       ///< times listed in graph->outputs()
  std::vector<Use> uses;                     ///< maintained by Graph; includes captures from nested bodies
  std::optional<Tensor> constant;            ///< initializer's data, or the value of a Constant node's output
  std::optional<std::vector<Dim>> symbolic;  ///< elements of small integer tensors of shape arithmetic, row-major
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string unknown_fields;  ///< of its ValueInfo (or initializer), written back
  bool declared = false;       ///< the file states its type: types of inner values are written back only if so
  bool opaque = false;         ///< an initializer that is not interpreted (sparse), kept by its graph

  bool is_initializer() const { return constant && !producer; }
  /// An initializer that is also an input is a default that the caller may override: not a constant.
  const Tensor* known_constant() const { return constant && !is_input ? &*constant : nullptr; }
  bool is_output() const { return output_uses > 0; }
  /// Read exactly once, and not an output of its graph.
  bool single_use() const { return uses.size() == 1 && output_uses == 0; }

 private:
  friend class Graph;
  std::list<std::unique_ptr<Value>>::iterator place_;
};

/// An operator. Change its edges only through Graph, so that `uses` stay right.
class Node {
 public:
  std::string domain;  ///< "" for ai.onnx
  std::string op;
  std::string name;
  std::string overload;
  std::vector<Attr> attrs;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string unknown_fields;
  std::vector<std::string> origins;  ///< labels of the nodes that it was put in place of, not written; empty: none

  const std::vector<Value*>& inputs() const { return inputs_; }    ///< null: omitted
  const std::vector<Value*>& outputs() const { return outputs_; }  ///< null: omitted
  Value* input(int i) const { return i < static_cast<int>(inputs_.size()) ? inputs_[static_cast<size_t>(i)] : nullptr; }
  Value* output(int i) const {
    return i < static_cast<int>(outputs_.size()) ? outputs_[static_cast<size_t>(i)] : nullptr;
  }
  /// The first that is not omitted (an LSTM may give its last state only); null when all are.
  Value* first_output() const;
  Graph* graph() const { return graph_; }

  bool is(std::string_view op_name, std::string_view op_domain = "") const {
    return op == op_name && domain == op_domain;
  }
  const Attr* attr(std::string_view attr_name) const;
  void set_attr(std::string_view attr_name, AttrValue value);
  void remove_attr(std::string_view attr_name);
  /// Bodies of If, Loop, Scan, ... in attribute order.
  std::vector<Graph*> bodies() const;
  /// "Conv 'stem/conv1'", for messages; an unnamed node is named by its first output.
  std::string label() const;
  /// As globs know it: its name, or that of its first output where it has none.
  const std::string& called() const {
    const Value* first = first_output();
    return name.empty() && first ? first->name : name;
  }

 private:
  friend class Graph;
  std::vector<Value*> inputs_, outputs_;
  Graph* graph_ = nullptr;
  std::list<std::unique_ptr<Node>>::iterator place_;
};

/// A graph or a nested body. Owns nodes and values; node order is the schedule (topological).
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string unknown_fields;
  Node* owner = nullptr;  ///< the node whose attribute this body is; null for a main graph or a function body

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// All values in creation order; erased ones are absent.
  std::vector<Value*> values() const;
  /// Values with data and no producer, in creation order.
  std::vector<Value*> initializers() const;
  /// The schedule. Safe to erase or insert nodes while walking the returned copy, if the erased are not visited again.
  std::vector<Node*> nodes() const;
  size_t node_count() const { return nodes_.size(); }
  /// The node after `node` (null: the first) in the schedule; null after the last.
  Node* next(const Node* node) const;

  /// The value of that name in this graph, or null; lookup() also searches the enclosing graphs.
  Value* find(std::string_view name) const;
  Value* lookup(std::string_view name) const;

  Value* add_input(std::string name, Type type);
  /// An initializer. The name is made unique when it is taken.
  Value* add_constant(std::string name, Tensor tensor);
  /// A value without a producer yet (outputs of nodes added later); the name must be free.
  Value* add_value(std::string name, Type type = {});
  /// A node before `before` (null: at the end). Output values must have no producer; null outputs are omitted ones.
  /// Bodies are among `attrs`: they are not given to a node later.
  Node* add_node(std::string domain, std::string op, std::vector<Value*> inputs, std::vector<Value*> outputs,
                 std::vector<Attr> attrs = {}, const Node* before = nullptr);
  /// As add_node with `outputs` fresh values named after `hint`.
  Node* add_op(std::string op, std::vector<Value*> inputs, std::vector<Attr> attrs = {}, const Node* before = nullptr,
               const std::string& hint = {}, int outputs = 1, std::string domain = {});
  void add_output(Value* value);
  void set_output(int index, Value* value);
  void remove_output(int index);
  void remove_input(int index);

  /// Input `index` of `node` (in this graph) reads `value` from now on; null omits it. Grows the list when needed.
  void set_input(Node* node, int index, Value* value);
  void resize_inputs(Node* node, int count);
  /// The later ones move up by one place. Of an output, as drop_output() does.
  void remove_input(Node* node, int index);
  void remove_output(Node* node, int index);
  /// Drops output `index` (which nothing may use): it becomes omitted, trailing omitted outputs are removed.
  void drop_output(Node* node, int index);
  /// Every use of `from`, nested bodies and graph outputs included, reads `to`. When `from` is a graph output, `to`
  /// takes over its name if it is an ordinary inner value, so that output names never change.
  void replace_uses(Value* from, Value* to);
  /// Removes a node whose outputs nothing uses, with its outputs and bodies.
  void erase(Node* node);
  /// Removes a value that nothing uses and nothing produces.
  void erase(Value* value);
  void rename(Value* value, std::string name);
  /// Moves `node` directly before `before` in the schedule.
  void move_before(Node* node, const Node* before);
  /// A name based on `hint` that no value of this graph, its enclosing graphs or its bodies has.
  std::string fresh_name(std::string_view hint) const;
  /// Orders the nodes topologically (stable). Throws Error{kBadInput} naming a node on a cycle.
  void sort();

 private:
  void link(Node* node, int index, Value* value);
  void unlink(Node* node, int index);
  bool name_taken_below(const std::string& name) const;

  std::vector<Value*> inputs_, outputs_;
  std::list<std::unique_ptr<Node>> nodes_;
  std::list<std::unique_ptr<Value>> values_;
  std::vector<const Node*> with_bodies_;
  std::unordered_map<std::string, Value*> by_name_;
  mutable std::unordered_map<std::string, int> fresh_;
};

/// Every node of the graph and of its nested bodies, outer before inner, in schedule order.
std::vector<Node*> all_nodes(const Graph& graph);
/// Values of enclosing graphs that `body` (and its nested bodies) reads, each once, in order of first use.
std::vector<Value*> captures(const Graph& body);

}  // namespace mlopt
