#!/usr/bin/env bash
# From a fresh Debian 12 to tuned winners: installs what is missing, builds, tunes relu on the best device here and
# shows what was found. Run again, it goes on where it ended.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

start=$SECONDS
part() {  # part NAME: says how long the part before took, and begins the next
  if [[ -n ${current:-} ]]; then echo "   ($((SECONDS - start)) s)"; fi
  current=$1
  start=$SECONDS
  if [[ -n $1 ]]; then echo "== $1"; fi
}

part "Packages"
bash tools/install_packages.sh

part "Build"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { cmake --preset release && cmake --build --preset release --target hone; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  exit 1
fi
hone=build/release/bin/hone

part "Devices"
"$hone" devices

part "Tuning relu"
backend=$("$hone" devices --format csv --columns backend 2>/dev/null | sed -n 2p)
if [[ $backend == host ]]; then
  problems=(--shape numel=65536 --shape numel=1048576 --shape numel=8388608 --budget "45s,12")
else
  problems=(--shape numel=1048576 --shape numel=4194304 --shape numel=16777216 --shape numel=67108864
            --shape numel=268435456 --budget 5m)
fi
# Exit code 1: some problem has no winner, which the closing line tells; the others' are worth seeing.
"$hone" tune relu "${problems[@]}" >/dev/null || [[ $? -eq 1 ]]

part "Winners"
"$hone" query winners relu

part ""
cat <<END

Next:
  $hone explain relu --dtype f16 --shape numel=1000000      which rung answers a call, and why
  $hone query winners relu --show spread                    how sure the figures are
  $hone tune relu --dtype f16 --sweep 1MiB:1GiB             more sizes
  $hone --help
END
