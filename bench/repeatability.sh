#!/usr/bin/env bash
# Tunes the same problems several times, into a database each and with other seeds, and compares the winners.
#   bash bench/repeatability.sh BIN RUNS DEVICE [OPTIONS of hone tune relu...]
#   bash bench/repeatability.sh build/release/bin 5 cuda --sweep 1MiB:1GiB --dtype bf16
set -euo pipefail

if [[ $# -lt 3 ]]; then
  sed -n '2,4p' "$0" >&2
  exit 2
fi
bin=$1 runs=$2 device=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ((i = 1; i <= runs; ++i)); do
  "$bin/hone" tune relu --device "$device" --seed "$i" --db "$folder/$i.db" --quiet --format csv "$@" >/dev/null
done
"$bin/bench_repeat" --device "$device" "$folder"/*.db
