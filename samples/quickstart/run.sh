#!/usr/bin/env bash
# The main job, start to end, in the current folder: pictures and a network are made, the network is trained, fused and
# quantized to int8, scored and measured. Needs mlopt and sample_quickstart on PATH. Fails when the network is right on
# less than 97 % of the pictures, or when int8 costs more than half a point.
set -euo pipefail

commands=()
run() {
  printf '\n$ %s\n' "$*"
  commands+=("$*")
  "$@"
}
# The pixels, from 0 to 255, become the numbers that the network takes.
train=idx:train-images.idx,train-labels.idx,mean=128,std=64
test=idx:test-images.idx,test-labels.idx,mean=128,std=64

run sample_quickstart make .
run mlopt train untrained.onnx -o fp32.onnx --data "$train" --epochs 2 --batch-size 32 --lr 0.003 --schedule onecycle \
  --no-bench
run mlopt fuse fp32.onnx -o fused.onnx --data "$test"
run mlopt quantize fp32.onnx -o int8.onnx --to w8a8 --data "$train"
for model in fp32 fused int8; do
  run mlopt eval "$model.onnx" --data "$test" --metric top1 --json "eval-$model.json"
done
run mlopt bench fp32.onnx fused.onnx int8.onnx --json bench.json
printf '\nTo repeat it by hand:\n\n'
printf '  %s\n' "cd $PWD" "PATH=$(dirname "$(command -v mlopt)"):\$PATH" "${commands[@]}"
echo
sample_quickstart summary .
