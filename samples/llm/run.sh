#!/usr/bin/env bash
# Trains a small decoder on stories, stores it in 8, 4, 3 and 2 bits, and puts the perplexities side by side. Needs mlopt
# and sample_llm on PATH. Fails when 4 bits cost more than 2 % of the perplexity or a quarter of the file, when GPTQ is no
# better than rounding in 2 bits, or when the decoder has learned nothing.
set -euo pipefail

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
value() { # of a key in a report, the first
  sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$1" | head -1
}

sample_llm .
run mlopt train random.onnx -o fp32.onnx --data bytes:train.txt --epochs 2 --batch-size 32 --optimizer adamw --lr 0.004 \
  --schedule cosine --warmup-steps 20 --seed 1 --no-bench --quiet
run mlopt quantize fp32.onnx -o w8.onnx --to w8 --no-bench --quiet
run mlopt quantize fp32.onnx -o w4g32.onnx --to w4g32 --no-bench --quiet
run mlopt quantize fp32.onnx -o w2g32.onnx --to w2g32 --method rtn --no-bench --quiet
run mlopt quantize fp32.onnx -o w2g32-gptq.onnx --to w2g32 --method gptq --data bytes:train.txt \
  --calibration-samples 64 --no-bench --quiet

echo
printf '%-11s %8s %11s\n' model bytes perplexity | tee table.txt
for model in fp32 w8 w4g32 w2g32 w2g32-gptq; do
  mlopt info $model.onnx --json info.json >/dev/null
  mlopt eval $model.onnx --data bytes:test.txt --metric ppl --quiet --json score.json >/dev/null
  printf '%-11s %8s %11.4f\n' $model "$(value info.json size_bytes)" "$(value score.json value)" | tee -a table.txt
done
awk '{ size[$1] = $2; ppl[$1] = $3 }
     END {
       if (ppl["fp32"] > 2) bad = "the decoder has learned nothing"
       if (ppl["w4g32"] > 1.02 * ppl["fp32"]) bad = "4 bits cost too much"
       if (size["w4g32"] > 0.3 * size["fp32"]) bad = "4 bits are hardly smaller"
       if (ppl["w2g32-gptq"] > ppl["w2g32"]) bad = "GPTQ is worse than rounding"
       if (bad) { print bad > "/dev/stderr"; exit 1 } }' table.txt
