#!/usr/bin/env bash
# Installs what hone needs to build and run and this machine lacks: Debian 12's own packages, by apt.
# A ROCm or CUDA installation that exists already is used as it is, and nothing is installed over it.
#   bash tools/install_packages.sh [PACKAGE...]     these packages of Debian's too
set -euo pipefail

packages=(g++ cmake ninja-build ccache pkg-config
          libsqlite3-dev libboost-program-options-dev catch2 libtomlplusplus-dev libfmt-dev libxxhash-dev
          librapidcheck-dev libbenchmark-dev libeigen3-dev nlohmann-json3-dev zlib1g-dev libjs-chart.js)
packages+=("$@")
hip_packages=(libamdhip64-dev hipcc rocm-device-libs libhiprtc-builtins5)

installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# A ROCm of the vendor's: in /opt, or a libamdhip64 that the loader knows and no Debian package owns.
foreign_rocm() {
  local library
  compgen -G '/opt/rocm*' >/dev/null && return 0
  while read -r library; do
    dpkg-query --search "$(basename "$library")" 2>/dev/null | grep -qF "/$(basename "$library")" || return 0
  done < <(/sbin/ldconfig -p | awk '$1 ~ /^libamdhip64\.so/ { print $NF }')
  return 1
}

if ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: no apt here; install what these Debian packages hold: ${packages[*]}" >&2
  exit 3
fi

if foreign_rocm; then
  echo "install_packages.sh: using the ROCm installation that is here"
else
  packages+=("${hip_packages[@]}")
fi

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install_packages.sh: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes "$@"
}
echo "install_packages.sh: installing ${missing[*]}"
apt update
apt install --no-install-recommends "${missing[@]}"
