#!/usr/bin/env bash
# Tunes one problem twice on a real device, by the default search with a small budget and by random search with a
# large one, into a database each; then the winners meet in interleaved races.
#   bash bench/search_live.sh BIN DEVICE FAMILY SMALL LARGE [OPTIONS of hone tune...]
#   bash bench/search_live.sh build/release/bin cuda addmm_glu 2m 8m --dtype bf16 --shape M=4096,N=4096,K=4096
# Each run's closing line says how many configurations it tried. Of the last table's winners and medians the default
# search's come first (one where both chose the same).
set -euo pipefail

if [[ $# -lt 6 ]]; then
  sed -n '2,5p' "$0" >&2
  exit 2
fi
bin=$1 device=$2 family=$3 small=$4 large=$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
templates=()
for ((i = 1; i <= $#; ++i)); do
  case "${!i}" in
    --trust) templates+=(--trust) ;;
    --templates) next=$((i + 1)); templates+=(--templates "${!next}") ;;
  esac
done
"$bin/hone" tune "$family" --device "$device" --search auto --budget "$small" --db "$folder/1.db" "$@"
"$bin/hone" tune "$family" --device "$device" --search random --budget "$large" --db "$folder/2.db" "$@"
# Exit code 1: the winners differ, which is what is asked.
"$bin/bench_repeat" --device "$device" --family "$family" "${templates[@]}" "$folder/1.db" "$folder/2.db" || [[ $? -eq 1 ]]
