#!/usr/bin/env bash
# Runs a sample of a family's configurations under NVIDIA's compute-sanitizer: memcheck, racecheck and synccheck, on an
# NVIDIA GPU of this machine. Not part of tests/run.sh: it takes minutes and needs the CUDA toolkit.
#   bash tests/compute_sanitizer.sh [FAMILY [CONFIGURATIONS [HONE]]]     addmm_glu, 12, build/release/bin/hone
#   TOOLS="racecheck synccheck" bash tests/compute_sanitizer.sh ...                 some of the tools alone
# Exit code 0: clean; 1: the sanitizer found something; 3: no sanitizer, or no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

family=${1:-addmm_glu} configurations=${2:-12} hone=${3:-build/release/bin/hone}
sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer) || {
  echo "tests/compute_sanitizer.sh: there is no compute-sanitizer: install the CUDA toolkit" >&2
  exit 3
}
"$hone" devices --format csv 2>/dev/null | grep -q ',cuda,' || {
  echo "tests/compute_sanitizer.sh: there is no NVIDIA GPU" >&2
  exit 3
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
found=0
for tool in ${TOOLS:-memcheck racecheck synccheck}; do
  start=$SECONDS
  # Kernels run some hundred times slower, in worker processes.
  "$sanitizer" --tool "$tool" --target-processes all --error-exitcode 9 "$hone" verify "$family" --device cuda \
    --limit "$configurations" --time-limit 600 --quiet >"$log" 2>&1
  code=$?
  summaries=$(grep -cE 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards' "$log")
  if [[ $code -ne 0 || $summaries -eq 0 ]] || grep -qE 'SUMMARY: [1-9]' "$log"; then
    found=1
    grep -vE '^=+ *$' "$log" | head -n 40
    echo "$tool: not clean (exit code $code), $((SECONDS - start)) s"
  else
    echo "$tool: clean, $(grep -E 'NVIDIA|sm_' "$log" | tail -n 1), $((SECONDS - start)) s"
  fi
done
exit "$found"
