#!/usr/bin/env python3
"""Times PyTorch on the architectures that gpu-check runs, with random weights.

    torch_models.py MODEL BATCH TYPE [--compile|--train]    MODEL: resnet50, bert_base, vit_b_16 or decoder_160m
                                                     TYPE: fp32, tf32, fp16 or bf16

Prints milliseconds of a run (median of 50) as a CUDA graph launches it: with copies of inputs and outputs from and to
pinned memory, which is what mlopt is timed with, and without; then the most memory that tensors took, in MB. With
--compile the model goes through torch.compile first. With --train it is an update of a classifier of pictures by
momentum. Needs PyTorch alone.
"""
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.a = nn.Conv2d(before, width, 1)
        self.b = nn.Conv2d(width, width, 3, stride, 1)
        self.c = nn.Conv2d(width, 4 * width, 1)
        differs = stride != 1 or before != 4 * width
        self.beside = nn.Conv2d(before, 4 * width, 1, stride) if differs else nn.Identity()

    def forward(self, x):
        y = self.c(F.relu(self.b(F.relu(self.a(x)))))
        return F.relu(y + self.beside(x))


def resnet50():
    """He et al. 2015, batch normalization folded into the convolutions as in the exported graph."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(before, width, stride if i == 0 else 1))
            before = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def heads_of(x, count):
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


class Encoder(nn.Module):
    """A block of BERT (norms behind) or of a vision transformer (norms before)."""

    def __init__(self, norm_first):
        super().__init__()
        self.qkv, self.out = nn.Linear(768, 2304), nn.Linear(768, 768)
        self.up, self.down = nn.Linear(768, 3072), nn.Linear(3072, 768)
        self.one, self.two = nn.LayerNorm(768), nn.LayerNorm(768)
        self.norm_first = norm_first

    def attend(self, x, mask):
        q, k, v = (heads_of(y, 12) for y in self.qkv(x).chunk(3, -1))
        return self.out(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attend(self.one(x), mask)
            return x + self.down(F.gelu(self.up(self.two(x))))
        x = self.one(x + self.attend(x, mask))
        return self.two(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(30522, 768), nn.Embedding(512, 768), nn.Embedding(2, 768)
        self.norm = nn.LayerNorm(768)
        self.blocks = nn.ModuleList(Encoder(False) for _ in range(12))
        self.pool, self.classify = nn.Linear(768, 768), nn.Linear(768, 2)

    def forward(self, ids, mask):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places) + self.kinds(torch.zeros_like(ids)))
        seen = mask.bool()[:, None, None, :]
        for block in self.blocks:
            x = block(x, seen)
        return self.classify(torch.tanh(self.pool(x[:, 0])))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 16, 16)
        self.first, self.places = nn.Parameter(torch.zeros(1, 1, 768)), nn.Parameter(torch.zeros(1, 197, 768))
        self.blocks = nn.ModuleList(Encoder(True) for _ in range(12))
        self.norm, self.classify = nn.LayerNorm(768), nn.Linear(768, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(x.shape[0], -1, -1), x), 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.classify(self.norm(x)[:, 0])


class Rms(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(768))

    def forward(self, x):
        return F.rms_norm(x, (768,), self.scale, 1e-5)


class Decoder(nn.Module):
    """A block with rotary positions, 12 heads of queries over 4 of keys, and SwiGLU."""

    def __init__(self):
        super().__init__()
        linear = lambda m, n: nn.Linear(m, n, bias=False)  # noqa: E731
        self.q, self.k, self.v, self.out = linear(768, 768), linear(768, 256), linear(768, 256), linear(768, 768)
        self.gate, self.up, self.down = linear(768, 2048), linear(768, 2048), linear(2048, 768)
        self.one, self.two = Rms(), Rms()

    def forward(self, x, cos, sin):
        def turned(y):
            left, right = y.chunk(2, -1)
            return y * cos + torch.cat((-right, left), -1) * sin

        y = self.one(x)
        q, k, v = turned(heads_of(self.q(y), 12)), turned(heads_of(self.k(y), 4)), heads_of(self.v(y), 4)
        k, v = k.repeat_interleave(3, 1), v.repeat_interleave(3, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.out(y)
        y = self.two(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(32000, 768)
        self.blocks = nn.ModuleList(Decoder() for _ in range(12))
        self.norm, self.out = Rms(), nn.Linear(768, 32000, bias=False)
        angle = torch.outer(torch.arange(2048), 10000 ** (-torch.arange(0, 64, 2) / 64)).repeat(1, 2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = block(x, self.cos[: ids.shape[1]], self.sin[: ids.shape[1]])
        return self.out(self.norm(x))


def inputs_of(name, batch, dtype):
    length = 128  # as gpu-check gives mlopt
    if name == "bert_base":
        return torch.randint(30522, (batch, length)), torch.ones(batch, length, dtype=torch.long)
    if name == "decoder_160m":
        return (torch.randint(32000, (batch, length)),)
    return (torch.randn(batch, 3, 224, 224, dtype=dtype),)


MODELS = {"resnet50": resnet50, "bert_base": Bert, "vit_b_16": Vit, "decoder_160m": Language}
TYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def captured(model, inputs):
    """The graph of a call, and where its output lies."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            model(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = model(*inputs)
    return graph, output


def milliseconds(run):
    times = []
    for i in range(60):
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        if i >= 10:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def update_of(model, batch):
    """A function that makes one update and gives the loss."""
    model.train()
    labels = torch.arange(batch, device="cuda") * 7 % 1000
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, nesterov=True)

    def update(x):
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return update


def main():
    name, batch, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = kind == "tf32"
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    trains = "--train" in sys.argv
    with torch.enable_grad() if trains else torch.inference_mode():
        model = MODELS[name]().eval().to("cuda", TYPES[kind])
        if name == "resnet50" and kind in ("fp16", "bf16"):
            model = model.to(memory_format=torch.channels_last)
        given = [x.pin_memory() for x in inputs_of(name, batch, TYPES[kind])]
        inputs = [x.cuda() for x in given]
        if "--compile" in sys.argv:
            model = torch.compile(model)
        graph, output = captured(update_of(model, batch) if trains else model, inputs)
        back = torch.empty_like(output, device="cpu").pin_memory()

        def request():
            for to, x in zip(inputs, given):
                to.copy_(x, non_blocking=True)
            graph.replay()
            back.copy_(output, non_blocking=True)

        memory = torch.cuda.max_memory_allocated() / 1e6
        print(f"{milliseconds(request):.4f} {milliseconds(graph.replay):.4f} {memory:.0f}")


main()
