# Everything that the build takes from outside, pinned here and nowhere else. Sourced by setup.sh.
# shellcheck shell=bash disable=SC2034

# Raise it when the way in which a dependency is built changes, so that old prefixes are not reused.
deps_revision=1

onnx_version=1.23.2
onednn_version=2023.2.0 # the distribution's number: oneDNN 3.2.0, for oneTBB

# Python packages, as pip's --require-hashes wants them.
onnx_requirement="onnx==$onnx_version \
  --hash=sha256:008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8"
onednn_requirements="onednn-cpu-tbb==$onednn_version \
  --hash=sha256:3265b317e9d74ee42f3b7fe4ba0e6d8347a400f0e9c1531fa80b0bfa18d76b13
onednn-devel-cpu-tbb==$onednn_version \
  --hash=sha256:d76b9ddf0ac717b5c5caa89e9922ec752d175e6f0492503f3baa8499607bec82"
# ONNX asks for CMake 3.26: used only to build it, and only where the system's is older (x86-64, then aarch64).
cmake_requirement="cmake==4.4.4 \
  --hash=sha256:f773a0544c66370408f451acd487c2c643b0dfebb48c5d64f3638bc1bb820238 \
  --hash=sha256:b3029f586853e01ddf2824c1ff124a1c5284f8ae897994758e9c4eeb45903b58"
# Read by pip while it prepares ONNX's source archive.
onnx_build_constraints="scikit-build-core==0.11.5"

# Debian and Ubuntu packages: what the program needs, what training on several machines needs besides (the plugin for MPI
# is left out where they are missing), what the tests need, and what .ci/run needs.
build_packages=(g++ cmake ninja-build ccache mold python3 python3-venv protobuf-compiler libprotobuf-dev libeigen3-dev
  libcli11-dev nlohmann-json3-dev libfmt-dev libhwy-dev zlib1g-dev libxxhash-dev libturbojpeg0-dev libspng-dev libtbb-dev
  libjs-chart.js)
mpi_packages=(libopenmpi-dev openmpi-bin)
test_packages=(catch2 "${mpi_packages[@]}")
ci_packages=(git clang libclang-rt-dev clang-format)
