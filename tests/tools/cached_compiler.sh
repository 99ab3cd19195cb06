#!/usr/bin/env bash
# A host compiler (HONE_CXX) for tests that tune the same kernels hundreds of times: c++, which answers from
# HONE_TEST_CACHE what it was asked before.
options=()
output= source=
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) output=$2; shift ;;
    *.cpp) source=$1 ;;
    *) options+=("$1") ;;
  esac
  shift
done
[[ -z $source ]] && exec c++ "${options[@]}"
key=$({ echo "${options[@]}"; cat "$source"; } | sha256sum)
cached=$HONE_TEST_CACHE/${key%% *}.so
if [[ ! -f $cached ]]; then
  c++ "${options[@]}" -o "$output" "$source" || exit
  cp "$output" "$cached.$$" && mv "$cached.$$" "$cached"  # whole or not at all
  exit
fi
exec cp "$cached" "$output"
