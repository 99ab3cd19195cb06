#!/usr/bin/env bash
# Fuzzes what hone reads: manifests, texts from elsewhere, database files, and records whose checksums are right.
#   bash tests/fuzz.sh [SECONDS] [TARGET...]     SECONDS for all targets together: 60
# Starts from tests/fuzz/corpus and what earlier runs found (build/fuzz/corpus). An input that fails is kept as
# build/fuzz/failed-TARGET-*, and the exit code is 1; `build/fuzz/bin/fuzz_TARGET FILE` tries it again.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

seconds=${1:-60}
shift
targets=("$@")
[[ ${#targets[@]} -eq 0 ]] && targets=(manifest imported file records)
if ! [[ $seconds =~ ^[0-9]+$ && $seconds -gt 0 ]]; then
  echo "tests/fuzz.sh: SECONDS must be a number above 0, not \`$seconds\`" >&2
  exit 2
fi

if ! bash tools/install_packages.sh clang libclang-rt-14-dev; then
  echo "tests/fuzz.sh: packages are missing"
  exit 1
fi
mkdir -p build
if ! cmake --preset fuzz >build/fuzz.log 2>&1 || ! cmake --build --preset fuzz >>build/fuzz.log 2>&1; then
  tail -n 60 build/fuzz.log
  echo "tests/fuzz.sh: the fuzz build failed; build/fuzz.log has all of it"
  exit 1
fi

each=$(( (seconds + ${#targets[@]} - 1) / ${#targets[@]} ))
failed=0
for target in "${targets[@]}"; do
  found=build/fuzz/corpus/$target log=build/fuzz/$target.log
  mkdir -p "$found"
  if build/fuzz/bin/fuzz_"$target" -max_total_time="$each" -timeout=60 -rss_limit_mb=4096 -max_len=262144 \
       -print_final_stats=1 -artifact_prefix=build/fuzz/failed-"$target"- "$found" tests/fuzz/corpus/"$target" \
       >"$log" 2>&1; then
    echo "$target: $(sed -nE 's/^stat::number_of_executed_units: *//p' "$log") inputs in $each s, none failed"
  else
    tail -n 40 "$log"
    echo "tests/fuzz.sh: $target: an input failed; $log has all of it"
    failed=1
  fi
done
exit $failed
