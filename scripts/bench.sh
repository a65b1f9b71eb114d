#!/usr/bin/env bash
# Measures what regions cost beside LLVM's offload runtime and OpenMP's `parallel for`, and prints a table.
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail

usage() {
    cat <<'TEXT'
Use: scripts/bench.sh [--quick] [--check] [--rounds N] [--ops N]

  --quick     one round and fewer operations
  --check     exit 1 when a figure misses its bar
  --rounds N  rounds in which the programs take turns (5)
  --ops N     operations of each workload (20000)

Leaves the table, the raw JSON lines and the plots in build/bench/.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5 ops=20000 idle_regions=1000 check=()
while [ $# -gt 0 ]; do
    case $1 in
        --quick) rounds=1 ops=4000 idle_regions=200 ;;
        --check) check=(--check) ;;
        --rounds) rounds=${2:?--rounds needs a number} && shift ;;
        --ops) ops=${2:?--ops needs a number} && shift ;;
        -h | --help) usage && exit 0 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift
done

cd "$root"
. scripts/figures.sh
[ ! -x scripts/setup.sh ] || scripts/setup.sh bench
command -v python3 >/dev/null || { echo "bench: the table needs python3 (package python3)" >&2 && exit 1; }

out=$root/build/bench
cmake_dir=$out/cmake
programs=$cmake_dir/bench
llvm=${LLVM_ROOT:-/usr/lib/llvm-19}
raw=$out/raw.jsonl
log=$out/build.log
mkdir -p "$out"
: >"$log"
: >"$raw"

# Nothing of the caller's may tune one side.
for variable in $(compgen -e); do
    case $variable in
        OMP_* | LIBOMP_* | LIBOMPTARGET_* | KMP_* | GOMP_*) unset "$variable" ;;
    esac
done

quietly() {
    "$@" >>"$log" 2>&1 && return
    cat "$log" >&2
    echo "bench: failed: $*" >&2
    exit 1
}

build_own() {
    quietly cmake --preset release -B "$cmake_dir" -D OMP_CO_BUILD_TESTS=OFF -D OMP_CO_BUILD_EXAMPLES=OFF
    quietly cmake --build "$cmake_dir" --target omp_co_bench -j "${JOBS:-1}"
}

have_triad=no
build_openmp_triad() {
    if ! g++ -O2 -fopenmp "$root/bench/peers/openmp_triad.cpp" -o "$out/openmp_triad" >>"$log" 2>&1; then
        echo "bench: skipped: OpenMP's parallel for, because g++ -fopenmp does not build here ($log)"
        return
    fi
    have_triad=yes
}

llvm_peer() {
    env LD_LIBRARY_PATH="$llvm/lib" "$@"
}

have_llvm=no
build_llvm_peer() {
    local source=$root/bench/peers/llvm_target.cpp
    if ! [ -x "$llvm/bin/clang++" ]; then
        echo "bench: skipped: LLVM's peer, because there is no $llvm/bin/clang++ (package clang-19)"
        return
    fi
    if ! PATH=$llvm/bin:$PATH clang++ -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "$source" \
        -o "$out/llvm_target" >>"$log" 2>&1; then
        echo "bench: skipped: LLVM's peer, because offloading does not build here" \
            "(packages clang-tools-19, libomp-19-dev; $log)"
        return
    fi
    if ! llvm_peer timeout 60 "$out/llvm_target" --ops 1 resident_sync >>"$log" 2>&1; then
        echo "bench: skipped: LLVM's peer, because its runtime finds no offload device ($log)"
        return
    fi
    have_llvm=yes
}

# record ROUND WHO COMMAND...: its JSON lines, with the round and the program in front.
record() {
    local round=$1 who=$2
    shift 2
    if ! "$@" >"$out/last.jsonl" 2>"$out/last.err"; then
        cat "$out/last.err" >&2
        echo "bench: $who failed in round $round: $*" >&2
        exit 1
    fi
    sed "s/^{/{\"round\":$round,\"from\":\"$who\",/" "$out/last.jsonl" >>"$raw"
}

llvm_round() {
    local round=$1
    record "$round" llvm.default llvm_peer "$out/llvm_target" --ops "$ops"
    record "$round" llvm.no_helpers \
        llvm_peer LIBOMP_USE_HIDDEN_HELPER_TASK=0 "$out/llvm_target" --ops "$ops"
    record "$round" llvm.one_thread \
        llvm_peer LIBOMP_USE_HIDDEN_HELPER_TASK=0 OMP_NUM_THREADS=1 "$out/llvm_target" --ops "$ops"
    record "$round" llvm.one_helper \
        llvm_peer LIBOMP_NUM_HIDDEN_HELPER_THREADS=1 OMP_WAIT_POLICY=active "$out/llvm_target" --ops "$ops"
}

triad_round() {
    local peer=()
    [ "$have_triad" = no ] || peer=(--peer "$out/openmp_triad")
    record "$1" triad "$programs/range_triad" --rounds 1 "${peer[@]}"
}

build_own
build_openmp_triad
build_llvm_peer
for ((round = 1; round <= rounds; ++round)); do
    printf '{"round":%d,"from":"machine","name":"busy","value":%d,"unit":"percent"}\n' "$round" "$(await_quiet)" >>"$raw"
    record "$round" omp_co "$programs/regions" --ops "$ops"
    [ "$have_llvm" = no ] || llvm_round "$round"
    triad_round "$round"
    record "$round" mapped_ranges "$programs/mapped_ranges" --rounds 3
done
record 1 idle "$programs/idle" --regions "$idle_regions"
rm -f "$out/last.jsonl" "$out/last.err"

status=0
python3 "$root/scripts/bench_report.py" "${check[@]}" "$raw" "$out" || status=$?
if command -v gnuplot >/dev/null; then
    (cd "$out" && gnuplot plots.gp)
    echo "Plots: build/bench/costs.svg build/bench/bars.svg"
else
    echo "bench: skipped: the plots, because gnuplot is missing (package gnuplot-nox)"
fi
echo "Raw lines: build/bench/raw.jsonl"
exit "$status"
