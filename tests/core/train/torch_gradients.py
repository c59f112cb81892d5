"""Makes torch_gradients.txt, what graphs_torch_test.cc compares with: the gradients of trained networks as PyTorch's
autograd finds them, in float64, from the operators of the ONNX file. Needs torch, onnx and the folder of test models.

    python torch_gradients.py TESTDATA > torch_gradients.txt
"""

import sys

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

BATCH = 2


def batch_norm(x, scale, bias, mean, var, epsilon=1e-5, **_):
    return F.batch_norm(x, mean.detach().clone(), var.detach().clone(), scale, bias, True, 0.1, epsilon)


def conv(x, w, b=None, pads=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1), group=1, **_):
    assert pads[0] == pads[2] and pads[1] == pads[3]
    return F.conv2d(x, w, b, strides, pads[:2], dilations, group)


def gemm(a, b, c, transA=0, transB=0, alpha=1.0, beta=1.0):
    return alpha * (a.T if transA else a) @ (b.T if transB else b) + beta * c


def reshape(x, shape, **_):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape.tolist())])


OPS = {
    "Add": lambda a, b: a + b,
    "BatchNormalization": batch_norm,
    "Conv": conv,
    "Div": lambda a, b: a / b,
    "Dropout": lambda x, *_, **__: x,
    "Erf": torch.erf,
    "Flatten": lambda x, axis=1: x.flatten(axis),
    "Gather": lambda x, i, axis=0: x.index_select(axis, i.flatten()).reshape(i.shape + x.shape[1:]),
    "Gemm": gemm,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "LayerNormalization": lambda x, w, b, epsilon=1e-5, **_: F.layer_norm(x, w.shape, w, b, epsilon),
    "MatMul": lambda a, b: a @ b,
    "MaxPool": lambda x, kernel_shape, strides, **_: F.max_pool2d(x, kernel_shape, strides),
    "Mul": lambda a, b: a * b,
    "Relu": F.relu,
    "Reshape": reshape,
    "Softmax": lambda x, axis=-1: F.softmax(x, axis),
    "Split": lambda x, sizes, axis=0: x.split(sizes.tolist(), axis),
    "Transpose": lambda x, perm: x.permute(perm),
}


def tensor(proto):
    value = torch.tensor(numpy_helper.to_array(proto).copy())
    return value.double() if value.is_floating_point() else value


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def inputs_of(model):
    """Numbers that are easily made again: sines, or bytes."""
    value = model.graph.input[0]
    dims = [BATCH] + [d.dim_value for d in value.type.tensor_type.shape.dim][1:]
    index = torch.arange(torch.Size(dims).numel()).reshape(dims)
    return value.name, torch.sin(0.37 * index.double()) if value.type.tensor_type.elem_type == 1 else index * 37 % 256


def gradients(path):
    model = onnx.load(path)
    name, x = inputs_of(model)
    values = {i.name: tensor(i) for i in model.graph.initializer}
    values = {k: v.requires_grad_() if v.is_floating_point() else v for k, v in values.items()}
    values[name] = x
    for node in model.graph.node:
        given = [values[i] if i else None for i in node.input]
        if node.op_type == "Constant":
            made = tensor(attributes(node)["value"])
        elif node.op_type == "Identity" and given[0].is_leaf:  # weights that the exporter found equal
            made = given[0].detach().clone().requires_grad_()
        else:
            made = OPS[node.op_type](*given, **attributes(node))
        for output, value in zip(node.output, made if node.op_type == "Split" else [made]):
            values[output] = value
    scores = values[model.graph.output[0].name]
    scores = scores.reshape(-1, scores.shape[-1])
    labels = torch.arange(len(scores)) * 3 % scores.shape[-1]
    loss = F.cross_entropy(scores, labels)
    loss.backward()
    leaves = {k: v.grad for k, v in values.items() if v.is_leaf and v.grad is not None}
    return loss.item(), leaves


for model in ["cifar_resnet20_trainbn", "cifar_vgg_bn_trainbn", "char_gpt"]:
    loss, leaves = gradients(f"{sys.argv[1]}/models/trained/{model}.onnx")
    print(model, "loss", f"{loss:.12g}")
    for name, grad in sorted(leaves.items()):
        flat = grad.flatten()
        waves = torch.cos(torch.arange(len(flat), dtype=torch.float64))
        print(model, name, f"{flat.norm():.12g} {flat.sum():.12g} {flat @ waves:.12g}")
