#!/usr/bin/env bash
# Runs the example server three times: with nothing tuned for it, with the default configurations alone (what one has
# without tuning), and tuned. Batch sizes between those tuned are answered by the nearest.
#   bash examples/mlp_server/run.sh [BUILD_FOLDER [DEVICE [SECONDS [BUDGET]]]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release} device=${2:-host} seconds=${3:-3} budget=${4:-60}
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work

layers=(--shape N=512,K=256 --shape N=512,K=512 --shape N=256,K=512)
tune() {  # tune DATABASE BUDGET
  local shapes=() widths=()
  for batch in 1 4 16 64; do
    for layer in "${layers[@]}"; do
      [[ $layer == --shape ]] || shapes+=(--shape "M=$batch,$layer")
    done
    for width in 256 512; do widths+=(--shape "numel=$((batch * width))"); done
  done
  "$build/bin/hone" tune glu_layer --templates examples/mlp_server/templates --trust --device "$device" --dtype f32 \
    "${shapes[@]}" --budget "$2" --db "$1" --quiet >/dev/null
  "$build/bin/hone" tune relu --device "$device" --dtype f32 "${widths[@]}" --budget "$2" --db "$1" --quiet >/dev/null
}

echo "== nothing tuned"
"$build/bin/hone" tune copy --device "$device" --dtype f32 --shape numel=1024 --budget 1 --db "$work/none.db" --quiet >/dev/null
"$build/bin/example_mlp_server" "$work/none.db" "$device" "$seconds" || true
echo
echo "== defaults alone"
tune "$work/defaults.db" 1
"$build/bin/example_mlp_server" "$work/defaults.db" "$device" "$seconds"
echo
echo "== tuned"
tune "$work/tuned.db" "$budget"
"$build/bin/example_mlp_server" "$work/tuned.db" "$device" "$seconds"
