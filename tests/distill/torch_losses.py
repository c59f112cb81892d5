"""Makes torch_losses.txt, what losses_torch_test.cc compares with: each loss and its gradient by the student's tensor as
PyTorch finds them in float64. A line: name, shape of the student, of the teacher, the loss, the gradient.

    python torch_losses.py > torch_losses.txt
"""

import torch
import torch.nn.functional as F

T = 4.0


def numbers(shape, step):
    count = int(torch.tensor(shape).prod())
    return torch.sin(step * torch.arange(count, dtype=torch.float64)).mul(2).reshape(shape)


def kl(s, t):
    if s.ndim == 4:
        s, t = s.permute(0, 2, 3, 1), t.permute(0, 2, 3, 1)
    s, t = s.reshape(-1, s.shape[-1]), t.reshape(-1, t.shape[-1])
    return F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T


def at(s, t):
    maps = [F.normalize(x.pow(2).mean(1).flatten(1), dim=1) for x in (s, t)]
    return F.mse_loss(*maps)


def attention(s, t):
    if s.shape[1] != t.shape[1]:
        s, t = s.mean(1), t.mean(1)
    return (s - t).pow(2).sum(-1).mean()


def rkd_distance(s, t):
    def relative(x):
        x = x.flatten(1)
        off = ~torch.eye(len(x), dtype=torch.bool)
        difference = x[:, None] - x[None]
        distance = torch.zeros(len(x), len(x), dtype=x.dtype)
        distance[off] = difference[off].norm(dim=-1)
        return distance / distance[off].mean()

    return F.smooth_l1_loss(relative(s), relative(t))


def rkd_angle(s, t):
    def cosines(x):
        x = x.flatten(1)
        n = len(x)
        off = ~torch.eye(n, dtype=torch.bool)
        e = torch.zeros(n, n, x.shape[1], dtype=x.dtype)
        e[off] = F.normalize((x[None] - x[:, None])[off], dim=-1)
        return torch.einsum("ijd,ikd->ijk", e, e)

    return F.smooth_l1_loss(cosines(s), cosines(t))


CASES = [
    ("kl", kl, (3, 5), None),
    ("kl", kl, (2, 3, 4), None),
    ("kl", kl, (2, 3, 2, 2), None),
    ("mse", F.mse_loss, (3, 5), None),
    ("hidden", F.mse_loss, (2, 3, 4), None),
    ("cosine", lambda s, t: 1 - F.cosine_similarity(s, t, dim=-1).mean(), (2, 3, 4), None),
    ("at", at, (2, 3, 2, 3), None),
    ("at", at, (2, 3, 2, 3), (2, 5, 2, 3)),
    ("attention", attention, (2, 2, 3, 3), None),
    ("attention", attention, (2, 2, 3, 3), (2, 4, 3, 3)),
    ("rkd-distance", rkd_distance, (4, 3), None),
    ("rkd-distance", rkd_distance, (4, 3), (4, 2, 4)),
    ("rkd-angle", rkd_angle, (4, 3), None),
    ("rkd-angle", rkd_angle, (4, 3), (4, 2, 4)),
]

for name, loss, student, teacher in CASES:
    teacher = teacher or student
    s = numbers(student, 1.7).requires_grad_()
    value = loss(s, numbers(teacher, 2.3))
    value.backward()
    print(name, ",".join(map(str, student)), ",".join(map(str, teacher)), f"{value.item():.12g}",
          *(f"{x:.10g}" for x in s.grad.flatten().tolist()))
