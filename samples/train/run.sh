#!/usr/bin/env bash
# Teaches a network from random weights, stops half-way, goes on, and quantizes what was learned. Needs mlopt and
# sample_quickstart on PATH. Fails when the network ends below 85 %, or when going on is not as if it had never stopped.
set -euo pipefail

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
train="idx:train-images.idx,train-labels.idx,mean=128,std=64,limit=1000"
test="idx:test-images.idx,test-labels.idx,mean=128,std=64,limit=500"
recipe=(--data "$train" --val "$test" --metric top1 --epochs 2 --batch-size 25 --lr 0.002 --no-bench)

rm -rf checkpoints # of an earlier run here
sample_quickstart make . >/dev/null
run mlopt train untrained.onnx -o trained.onnx "${recipe[@]}" --checkpoint checkpoints --json report.json

rm checkpoints/step-00000080.npz # as if it had been stopped after the first epoch
run mlopt train untrained.onnx -o resumed.onnx "${recipe[@]}" --checkpoint checkpoints --resume --quiet
cmp trained.onnx resumed.onnx

run mlopt quantize trained.onnx -o int8.onnx --to w8a8 --data "$train" --no-bench --quiet
run mlopt eval int8.onnx --data "$test" --metric top1 --json score.json
score=$(sed -n 's/.*"value": *\([0-9.]*\).*/\1/p' score.json)
awk -v score="$score" 'BEGIN { exit !(score >= 0.85) }' || {
  echo "the network is right on a share of $score of the pictures only" >&2
  exit 1
}
