"""IIFR's algorithm 2, literally: two loops over a batch, a cosine and a divergence at a time."""

import math

import torch


def cosine(a, b):
    lengths = a.norm() * b.norm()
    return float(a @ b / lengths) if lengths > 0 else 0.0


def js(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        total = total + a * torch.log(2 * a / (a + b)) / 2 + b * torch.log(2 * b / (a + b)) / 2
    return total


def loss(x, y, outputs, lam, epsilon):
    """Cross entropy and lambda times the sum over the pairs; and how many pairs there are.

    `x` (n, d), labels `y` (n,), `outputs` a function from one row to its distribution.
    """
    predictions, individual, pairs = 0.0, 0.0, 0
    for i in range(len(x)):
        best, nearest = -math.inf, None
        for j in range(len(x)):
            if j != i and cosine(x[i], x[j]) > best:
                best, nearest = cosine(x[i], x[j]), j
        p = outputs(x[i])
        predictions = predictions - torch.log(p[y[i]])
        if nearest is not None and best > epsilon:
            individual = individual + js(p, outputs(x[nearest]))
            pairs += 1
    return predictions / len(x) + lam * individual, pairs
