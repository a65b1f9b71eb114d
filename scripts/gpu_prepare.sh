#!/usr/bin/env bash
# Makes a folder that scripts/gpu_check.sh can run on another machine, below what such machines take (64 MiB): the programs
# with Boost.Test and the C++ runtime inside, kernels for sm_80 and sm_90 and PTX, the simulator, LLVM's peer, the scripts.
# Usage: scripts/gpu_check.sh --prepare <folder>
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail

[[ $# -eq 1 ]] || { echo "usage: scripts/gpu_check.sh --prepare <folder>" >&2 && exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
build=build/portable
log=$PWD/build/gpu_prepare.log
most=$((64 << 20))
mkdir -p build

scripts/setup.sh
if ! { cmake --preset portable && cmake --build --preset portable -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "prepare: the programs do not build ($log)" >&2
    exit 1
fi

programs=(test/driver_facts/driver_facts test/driver_facts/driver_costs test/test_cuda test/test_cuda_backend
    bench/cuda_regions)
libraries=(test/sim/libomp_co_sim_cuda.so test/fakes/{cuda_proc_address_1,cuda_proc_address_2,cuda_no_init}.so)
for file in "${programs[@]}" "${libraries[@]}"; do
    if [[ ! -f $build/$file ]]; then
        echo "prepare: there is no $file: it takes the CUDA toolkit's headers" >&2
        exit 1
    fi
    to=$folder/${file##*/}
    [[ $file != test/fakes/* ]] || to=$folder/fakes/${file##*/}
    mkdir -p "$(dirname "$to")"
    strip -o "$to" "$build/$file"
    needed=$(objdump -p "$to" | awk '$1 == "NEEDED" && $2 !~ /^(libc|libm|ld-linux.*)\.so\./ { print $2 }')
    if [[ -n $needed ]]; then
        echo "prepare: $file needs more than the C library: $needed" >&2
        exit 1
    fi
done
grep -q 'no nvcc here' "$log" && echo "prepare: no nvcc here, so the tests have PTX text only and no embedded machine code"
cp scripts/gpu_check.sh scripts/figures.sh "$folder"

# LLVM's OpenMP on the same card: clang's program with its kernels as bitcode (bench/peers/llvm_nvptx_jit.cpp says why), what
# stands in for ptxas, and all libraries that are not the C library.
peer=$folder/llvm_peer.tar.xz
rm -f "$peer"
llvm=${LLVM_ROOT:-/usr/lib/llvm-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
without() { echo "prepare: without LLVM's peer: $*"; }
carry_peer() {
    local nvcc toolkit library
    if [[ ! -x $llvm/bin/clang++ || ! -f $llvm/lib/libomptarget.devicertl.a ]]; then
        without "it takes clang-19 and libomp-19-dev ($llvm)"
        return
    fi
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    if [[ ! -x $nvcc ]]; then
        without "it takes the CUDA toolkit (libdevice)"
        return
    fi
    toolkit=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)
    library=$(ldd "$llvm/lib/libomptarget.so" | awk '/libLLVM/ { print $3 }')
    if ! PATH=$llvm/bin:$PATH clang++ -O2 -fopenmp --offload-arch=sm_90 -fopenmp-target-jit --cuda-path="$toolkit" \
        bench/peers/llvm_target.cpp bench/peers/llvm_nvptx_jit.cpp "$library" -o "$work/llvm_target" >>"$log" 2>&1; then
        without "offloading to sm_90 does not build here ($log)"
        return
    fi
    mkdir "$work/lib" "$work/bin"
    cp bench/peers/ptxas.sh "$work/bin/ptxas"
    LD_LIBRARY_PATH=$llvm/lib ldd "$work/llvm_target" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m)\.so/ { print $3 }' |
        while read -r library; do cp -L "$library" "$work/lib/"; done
    tar -C "$work" -cf - llvm_target bin lib | xz -4 >"$peer"
}
carry_peer

size=$(du -sb "$folder" | cut -f 1)
if ((size > most)) && [[ -f $peer ]]; then
    rm "$peer"
    without "with it the folder has $((size >> 20)) MiB, more than 64"
    size=$(du -sb "$folder" | cut -f 1)
fi
((size <= most)) || { echo "prepare: $folder has $((size >> 20)) MiB, more than 64" >&2 && exit 1; }
echo "prepared: $folder, $((size >> 20)) MiB; there: gpu_check.sh ."
