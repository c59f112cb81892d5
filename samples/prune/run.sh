#!/usr/bin/env bash
# Prunes a network in several ways, with the same training for what is left, and puts them side by side. Needs mlopt and
# sample_distill on PATH, whose network and points it takes. Fails when a network that should have become smaller did not,
# or when one that was trained is right on less than 95 % of the points.
set -euo pipefail

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
value() { # of a key in a report, the first
  sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$1" | head -1
}
recipe=(--data train.npz --epochs 6 --batch-size 25 --lr 0.005 --seed 1 --no-bench --quiet)

sample_distill .
run mlopt train deep.onnx -o dense.onnx --reset-weights "${recipe[@]}"
run mlopt prune dense.onnx -o cut.onnx --sparsity 0.9 --no-bench --quiet
run mlopt prune dense.onnx -o magnitude.onnx --sparsity 0.9 --recover train "${recipe[@]}"
run mlopt prune dense.onnx -o gradual.onnx --prune-schedule gradual --sparsity 0.9 "${recipe[@]}"
run mlopt prune dense.onnx -o regularization.onnx --method regularization --sparsity 0.9 "${recipe[@]}"
run mlopt prune dense.onnx -o dropout.onnx --method dropout --sparsity 0.9 "${recipe[@]}"
run mlopt prune dense.onnx -o channels.onnx --granularity channel --sparsity 0.5 --recover train "${recipe[@]}"
run mlopt prune dense.onnx -o lasso.onnx --method regularization --granularity channel --sparsity 0.5 "${recipe[@]}"
run mlopt prune dense.onnx -o greg.onnx --method regularization --penalty greg --granularity channel --sparsity 0.5 "${recipe[@]}"
run mlopt prune dense.onnx -o dropped.onnx --method dropout --granularity channel --sparsity 0.5 "${recipe[@]}"

echo
printf '%-16s %10s %8s %8s\n' model parameters bytes correct | tee table.txt
for model in dense cut magnitude gradual regularization dropout channels lasso greg dropped; do
  mlopt info $model.onnx --json info.json >/dev/null
  mlopt eval $model.onnx --data test.npz --metric top1 --quiet --json score.json >/dev/null
  printf '%-16s %10s %8s %8s\n' $model "$(value info.json parameters)" "$(value info.json size_bytes)" \
    "$(value score.json value)" | tee -a table.txt
done
awk 'NR == 2 { size = $3 }
     NR > 3 && $4 < 0.95 { bad = $1 " is right on a share of " $4 " only" }
     ($1 == "channels" || $1 == "lasso" || $1 == "greg" || $1 == "dropped") && $3 > 0.4 * size { bad = $1 " is hardly smaller" }
     END { if (bad) { print bad > "/dev/stderr"; exit 1 } }' table.txt
