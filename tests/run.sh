#!/usr/bin/env bash
# Installs what is missing, builds and runs the tests: the quick tier, then the same under sanitizers.
#   bash tests/run.sh           the quick tier, under 30 minutes on 2 cores
#   bash tests/run.sh --full    the long tier too, and a minute of fuzzing
# The last line is `N passed, N failed` over all builds; a build that fails counts as one failure.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) echo "tests/run.sh: no option \`$1\`; there is --full" >&2; exit 2 ;;
esac

passed=0
failed=0
jobs=$(nproc)

finish() {
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
  exit
}

build() {  # build PRESET [OPTIONS of cmake --build...]
  local preset=$1
  shift
  echo "== $preset: build"
  if ! cmake --preset "$preset" >"build/$preset.log" 2>&1 ||
     ! cmake --build --preset "$preset" "$@" >>"build/$preset.log" 2>&1; then
    tail -n 60 "build/$preset.log"
    echo "tests/run.sh: the $preset build failed; build/$preset.log has all of it"
    failed=$((failed + 1))
    return 1
  fi
}

check() {  # check PRESET [CTEST OPTIONS...]: runs tests and adds their numbers
  local preset=$1 output counts
  shift
  echo "== $preset: test"
  output=$(ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$jobs" "$@" 2>&1)
  counts=$(sed -nE 's/.*% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' <<<"$output" | tail -n 1)
  if [[ -z $counts ]]; then
    echo "$output"
    failed=$((failed + 1))
    return
  fi
  local bad=${counts% *} all=${counts#* }
  failed=$((failed + bad))
  passed=$((passed + all - bad))
  if [[ $bad -gt 0 ]]; then
    echo "$output" | grep -vE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed|^ +Start +[0-9]+:'
  else
    echo "$output" | tail -n 3
  fi
}

also=(zsh)  # whose completions are tried
# What the long tier opens pages of `hone report` with.
[[ $full == yes ]] && also+=(chromium chromium-driver python3-selenium)
if ! bash tools/install_packages.sh "${also[@]}"; then
  echo "tests/run.sh: packages are missing"
  failed=1
  finish
fi
mkdir -p build

quick=(--label-exclude long)
[[ $full == yes ]] && quick=()

build dev && check dev "${quick[@]}"
# The quick tier only: sanitizers make the long one longer than it is worth. All damaged copies are worth it.
build asan-ubsan && check asan-ubsan --label-exclude long
[[ $full == yes ]] && check asan-ubsan --label-regex long --tests-regex 'damaged copies'
# Threads share data in the runtime; the rest is processes.
build tsan --target tests_runtime && check tsan --label-exclude long --tests-regex '^runtime/'
# Once more all of hone, built by another compiler: too long for the quick tier.
if [[ $full == yes ]]; then
  echo "== fuzz"
  if bash tests/fuzz.sh 60; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
fi
finish
