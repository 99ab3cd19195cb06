#!/usr/bin/env bash
# Installs a build, moves the tree, tunes with its command, and builds and runs an application against it: with
# find_package(hone), and with pkg-config alone.
#   bash tests/install/run.sh BUILD_FOLDER C_COMPILER CXX_COMPILER
set -euo pipefail
build=$1 cc=$2 cxx=$3
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/consumer" && pwd)
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/tree"
tree=$scratch/tree
export XDG_DATA_HOME=$scratch/data
unset HONE_DB HONE_TEMPLATES

database=$scratch/hone.db
"$tree/bin/hone" tune relu --device host --dtype f32 --shape numel=1024 --budget 2 --db "$database" --quiet

run() {  # run PROGRAM: it must do what it says, and say nothing on stderr
  "$1" "$database" 2>"$scratch/err"
  if [[ -s $scratch/err ]]; then
    cat "$scratch/err"
    return 1
  fi
}

echo "== find_package"
cmake -S "$sources" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_CXX_COMPILER="$cxx" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
run "$scratch/build/consumer_c"
run "$scratch/build/consumer_cpp"

echo "== pkg-config"
pkgconfig=$(dirname "$(find "$tree" -name hone.pc)")
flags() { PKG_CONFIG_PATH=$pkgconfig pkg-config "$@" hone; }
flags --modversion
libraries=$(flags --variable=libdir)
# shellcheck disable=SC2046  # flags are words
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$sources/consumer.c" -o "$scratch/plain_c" \
  $(flags --cflags --libs) -Wl,-rpath,"$libraries"
# shellcheck disable=SC2046
"$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror "$sources/consumer.cpp" -o "$scratch/plain_cpp" \
  $(flags --cflags --libs) -Wl,-rpath,"$libraries"
run "$scratch/plain_c"
run "$scratch/plain_cpp"
