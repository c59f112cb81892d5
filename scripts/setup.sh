#!/usr/bin/env bash
# Installs what the build needs and is missing, and asks nothing.
#   scripts/setup.sh [build|mpi|test|ci]   packages of the system, then the libraries that it lacks or has too old
#   scripts/setup.sh --prefixes            prints where those libraries are (for CMake), and installs nothing
# The libraries are built once, outside the build folder, under ${MLOPT_DEPS:-$HOME/.cache/mlopt/deps}.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/versions.sh
source "$here/versions.sh"

deps=${MLOPT_DEPS:-$HOME/.cache/mlopt/deps}

# ONNX's generated code fits one version of Protocol Buffers.
protobuf_version() { protoc --version 2>/dev/null | awk '{print $2}'; }
onnx_prefix() { echo "$deps/onnx-$onnx_version-protobuf-$(protobuf_version)-$(uname -m)-r$deps_revision"; }
onednn_prefix() { echo "$deps/onednn-tbb-$onednn_version-$(uname -m)-r$deps_revision"; }

# Whether the system has oneDNN 3.1 or later, built for oneTBB, by itself.
system_onednn() {
  local folder
  for folder in /usr/include/oneapi/dnnl /usr/local/include/oneapi/dnnl; do
    grep -qs "CPU_THREADING_RUNTIME DNNL_RUNTIME_TBB" "$folder/dnnl_config.h" || continue
    awk '$2 == "DNNL_VERSION_MAJOR" { major = $3 } $2 == "DNNL_VERSION_MINOR" { minor = $3 }
         END { exit !(major > 3 || (major == 3 && minor >= 1)) }' "$folder/dnnl_version.h" && return 0
  done
  return 1
}

say() { echo "setup: $*" >&2; }

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian or Ubuntu system; these packages, or their like, are needed: $*"
    return 0
  fi
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      say "these packages are missing, and neither root nor passwordless sudo is at hand to install them:"
      printf '  %s\n' "${missing[@]}" >&2
      say "fix: apt-get install ${missing[*]}"
      exit 1
    fi
    as_root=(sudo -n)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# pip inside the scratch folder's own environment, the system's Python is left alone.
scratch_pip() {
  [ -d "$scratch/venv" ] || python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" --disable-pip-version-check --quiet "$@"
}

# download FOLDER REQUIREMENTS [pip's options...]
download() {
  local folder=$1 requirements=$2
  shift 2
  mkdir -p "$folder"
  echo "$requirements" >"$folder/requirements.txt"
  scratch_pip download --no-deps --require-hashes -r "$folder/requirements.txt" -d "$folder" "$@"
}

newest_cmake() {
  local version
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  if printf '3.26\n%s\n' "$version" | sort -V -C; then
    command -v cmake
    return
  fi
  echo "$cmake_requirement" >"$scratch/cmake.txt"
  scratch_pip install --no-deps --require-hashes -r "$scratch/cmake.txt"
  echo "$scratch/venv/bin/cmake"
}

build_onnx() {
  local prefix=$1 cmake launcher=()
  say "building ONNX $onnx_version (about two minutes on two cores, once)"
  cmake=$(newest_cmake)
  echo "$onnx_build_constraints" >"$scratch/constraints.txt"
  PATH="$scratch/venv/bin:$PATH" PIP_CONSTRAINT="$scratch/constraints.txt" \
    download "$scratch/onnx" "$onnx_requirement" --no-binary onnx
  tar -xzf "$scratch/onnx/onnx-$onnx_version.tar.gz" -C "$scratch"
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  export CCACHE_BASEDIR="$scratch" CCACHE_NOHASHDIR=1
  "$cmake" -G Ninja -S "$scratch/onnx-$onnx_version" -B "$scratch/onnx-build" --log-level=WARNING \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DONNX_ML=ON \
    -DONNX_BUILD_PYTHON=OFF -DONNX_BUILD_TESTS=OFF -DONNX_USE_PROTOBUF_SHARED_LIBS=OFF -DONNX_USE_UNITY_BUILD=ON \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "${launcher[@]}"
  "$cmake" --build "$scratch/onnx-build"
  "$cmake" --install "$scratch/onnx-build" --strip >/dev/null
  # Python sources and the parts of the archive that are not headers come along, and are of no use here.
  find "$prefix/include" -type f ! -name '*.h' -delete
  find "$prefix/include" -type d -empty -delete
  cp "$scratch/onnx-$onnx_version/LICENSE" "$prefix/LICENSE"
}

# This build of oneDNN asks for two libraries of the compiler that made it. Of one it uses two functions that the C
# library has by other names, of the other mathematics that libm has by the same: so two small files stand in for them.
stand_in_for_compiler() {
  local folder=$1
  cc -x c -O2 -fPIC -shared -Wl,-soname,libintlc.so.5 -o "$folder/libintlc.so.5" - <<'END'
#include <string.h>
void* _intel_fast_memcpy(void* to, const void* from, size_t size) { return memcpy(to, from, size); }
void* _intel_fast_memset(void* to, int value, size_t size) { return memset(to, value, size); }
END
  cc -x c -shared -Wl,-soname,libimf.so -o "$folder/libimf.so" /dev/null -Wl,--no-as-needed -lm
}

unpack_onednn() {
  local prefix=$1 wheel
  [ "$(uname -m)" = x86_64 ] || {
    say "no oneDNN of 3.1 or later for oneTBB in the system, and none to download for $(uname -m)"
    say "fix: install such a one, or configure with -DMLOPT_CPU=OFF"
    exit 1
  }
  say "unpacking oneDNN"
  download "$scratch/onednn" "$onednn_requirements" --only-binary :all:
  for wheel in "$scratch"/onednn/*.whl; do python3 -m zipfile -e "$wheel" "$scratch/onednn/files"; done
  mkdir -p "$prefix"
  cp -r "$scratch"/onednn/files/*.data/data/. "$prefix"
  # An archive of this kind holds no links: the library is in it three times.
  local real
  real=$(basename "$(ls "$prefix"/lib/libdnnl.so.3.*)")
  ln -sf "$real" "$prefix/lib/libdnnl.so.3"
  ln -sf libdnnl.so.3 "$prefix/lib/libdnnl.so"
  stand_in_for_compiler "$prefix/lib"
}

# provide PREFIX COMMAND: runs COMMAND with a temporary prefix, which gets its name only when it is whole.
provide() {
  local prefix=$1 command=$2
  [ ! -d "$prefix" ] || return 0
  rm -rf "$prefix.part"
  scratch=$(mktemp -d "$deps/scratch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  "$command" "$prefix.part"
  mv "$prefix.part" "$prefix"
  rm -rf "$scratch"
}

provide_libraries() {
  mkdir -p "$deps"
  exec 9>"$deps/.lock"
  flock 9 # two builds may start at once
  provide "$(onnx_prefix)" build_onnx
  system_onednn || provide "$(onednn_prefix)" unpack_onednn
}

case "${1:-build}" in
  --prefixes)
    if system_onednn; then onnx_prefix; else echo "$(onnx_prefix);$(onednn_prefix)"; fi
    exit
    ;;
  build) packages=("${build_packages[@]}") ;;
  mpi) packages=("${build_packages[@]}" "${mpi_packages[@]}") ;;
  test) packages=("${build_packages[@]}" "${test_packages[@]}") ;;
  ci) packages=("${build_packages[@]}" "${test_packages[@]}" "${ci_packages[@]}") ;;
  *)
    sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
install_packages "${packages[@]}"
provide_libraries
