#!/usr/bin/env bash
# Stores a network in fewer and fewer bits, and puts the results side by side. Needs mlopt and sample_distill on PATH,
# whose network and points it takes. Fails when a file is larger than its format says, or when eight or four bits are right
# on less than 95 % of the points.
set -euo pipefail

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
value() { # of a key in a report, the first
  sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$1" | head -1
}

sample_distill .
run mlopt train deep.onnx -o fp32.onnx --reset-weights --data train.npz --epochs 6 --batch-size 25 --lr 0.005 --seed 1 \
  --no-bench --quiet
run mlopt quantize fp32.onnx -o w8a8.onnx --to w8a8 --data train.npz --no-bench --quiet
run mlopt quantize fp32.onnx -o w4g32.onnx --to w4g32 --no-bench --quiet
run mlopt quantize fp32.onnx -o gptq.onnx --to w3g32 --method gptq --data train.npz --no-bench --quiet
run mlopt quantize fp32.onnx -o codebook.onnx --to codebook2 --per-tensor --no-bench --quiet

echo
printf '%-10s %8s %8s\n' model bytes correct | tee table.txt
for model in fp32 w8a8 w4g32 gptq codebook; do
  mlopt info $model.onnx --json info.json >/dev/null
  mlopt eval $model.onnx --data test.npz --metric top1 --quiet --json score.json >/dev/null
  printf '%-10s %8s %8s\n' $model "$(value info.json size_bytes)" "$(value score.json value)" | tee -a table.txt
done
awk 'NR == 2 { size = $2 }
     $1 == "w8a8" && $2 > 0.6 * size || $1 == "w4g32" && $2 > 0.4 * size || $1 == "codebook" && $2 > 0.4 * size {
       bad = $1 " is hardly smaller" }
     ($1 == "fp32" || $1 == "w8a8" || $1 == "w4g32") && $3 < 0.95 { bad = $1 " is right on a share of " $3 " only" }
     END { if (bad) { print bad > "/dev/stderr"; exit 1 } }' table.txt
