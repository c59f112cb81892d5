#!/usr/bin/env bash
# Teaches a deep network, then a small one and half of itself from points without labels that the deep one judges. Needs
# mlopt and sample_distill on PATH. Fails when a student ends below 90 %, or when it does not beat what few labels teach.
set -euo pipefail

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
score() { # of a model, as a share
  mlopt eval "$1" --data test.npz --metric top1 --quiet --json score.json >score.txt
  sed -n 's/.*"value": *\([0-9.]*\).*/\1/p' score.json
}
recipe=(--batch-size 25 --lr 0.005 --seed 1 --no-bench)

rm -rf kept # of an earlier run here
sample_distill .
run mlopt train deep.onnx -o teacher.onnx --data train.npz --reset-weights --epochs 6 "${recipe[@]}"
run mlopt train small.onnx -o alone.onnx --data few.npz --reset-weights --steps 1200 "${recipe[@]}" --quiet >alone.txt
run mlopt distill small.onnx --teacher teacher.onnx -o student.onnx --data unlabelled.npz --reset-weights --epochs 10 \
  --cache-teacher kept --json report.json "${recipe[@]}"
run mlopt distill teacher.onnx --student layers=0/2 -o shallow.onnx --data unlabelled.npz --epochs 4 \
  --match t=layer5.out,s=layer3.out,loss=hidden "${recipe[@]}"

echo
for model in teacher alone student shallow; do
  printf '%-8s %s\n' "$model" "$(score $model.onnx)" | tee -a scores.txt
done
awk -v alone="$(score alone.onnx)" -v student="$(score student.onnx)" -v shallow="$(score shallow.onnx)" \
  'BEGIN { exit !(student >= 0.9 && shallow >= 0.9 && student > alone) }' || {
  echo "a student did not learn what its teacher knows" >&2
  exit 1
}
