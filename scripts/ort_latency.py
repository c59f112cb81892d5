#!/usr/bin/env python3
"""How much faster ONNX Runtime runs one model than another: ort_latency.py SOURCE RESULT... [options]

Both run on the same inputs in one process, by turns, since the machine may be busy with other things; the ratio is the
median over pairs of runs, with an interval of 95 % (bootstrap). Above 1 the result is faster. Also prints how far apart
their outputs are. Needs: pip install onnxruntime numpy
"""
import argparse
import sys
import time

import numpy as np
import onnxruntime

TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_}
TYPES |= {name: np.dtype(name).type for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Threads that wait for work in one session would slow the other one down.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as e:  # of its own kinds, which it does not document
        sys.exit(f"error: {e}")


def inputs_of(model, sizes, seed):
    """Normal numbers; integers of 0 and 1, which are indices everywhere."""
    random = np.random.default_rng(seed)
    feeds = {}
    for x in model.get_inputs():
        shape = [d if isinstance(d, int) else sizes.get(d, 1) for d in x.shape]
        kind = x.type.removeprefix("tensor(").removesuffix(")")
        if kind not in TYPES:
            sys.exit(f"error: input '{x.name}' is {x.type}; give it with --inputs FILE.npz")
        is_float = np.issubdtype(TYPES[kind], np.floating)
        numbers = random.standard_normal(shape) if is_float else random.integers(0, 2, shape)
        feeds[x.name] = np.asarray(numbers).astype(TYPES[kind])
    return feeds


def seconds(model, feeds, runs):
    start = time.perf_counter()
    for _ in range(runs):
        model.run(None, feeds)
    return (time.perf_counter() - start) / runs


def ratios(source, result, feeds, rounds, round_seconds):
    seconds(result, feeds, 2)
    runs = max(1, int(round_seconds / seconds(source, feeds, 2)))
    pairs = []
    for i in range(rounds):
        order = (source, result) if i % 2 else (result, source)
        times = {id(model): seconds(model, feeds, runs) for model in order}
        pairs.append((times[id(source)], times[id(result)]))
    return np.array(pairs)


def interval(values):
    random = np.random.default_rng(0)
    medians = [np.median(random.choice(values, len(values))) for _ in range(2000)]
    return np.quantile(medians, [0.025, 0.975])


def difference(source, result, feeds):
    """The largest one, against the largest number of that output."""
    worst = 0.0
    for a, b in zip(source.run(None, feeds), result.run(None, feeds), strict=True):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if a.shape != b.shape:
            sys.exit(f"error: outputs of shape {a.shape} and {b.shape}")
        both_finite = np.isfinite(a) & np.isfinite(b)
        if not np.array_equal(a[~both_finite], b[~both_finite], equal_nan=True):
            return np.inf
        scale = np.abs(a[both_finite]).max(initial=0.0) or 1.0
        worst = max(worst, np.abs(a - b)[both_finite].max(initial=0.0) / scale)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("results", nargs="+")
    parser.add_argument("--inputs", help=".npz with an array for each input (default: random numbers)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="size of a free dimension (default: 1)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15, help="pairs of runs")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each run of a pair")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    source = session(args.source, args.threads)
    if any(not d.partition("=")[2].isdigit() for d in args.dim):
        parser.error("--dim takes NAME=N, as in --dim seq=128")
    sizes = {name: int(size) for name, _, size in (d.partition("=") for d in args.dim)}
    feeds = dict(np.load(args.inputs)) if args.inputs else inputs_of(source, sizes, args.seed)
    for path in args.results:
        result = session(path, args.threads)
        pairs = ratios(source, result, feeds, args.rounds, args.seconds)
        ratio = pairs[:, 0] / pairs[:, 1]
        low, high = interval(ratio)
        was, now = 1000 * np.median(pairs, axis=0)
        print(f"{path}: {was:.3f} -> {now:.3f} ms, {np.median(ratio):.3f}x ({low:.3f} to {high:.3f}), "
              f"outputs apart by {difference(source, result, feeds):.1e}", flush=True)


if __name__ == "__main__":
    main()
