#!/usr/bin/env bash
# Measures what regions and task graphs cost beside LLVM's offload runtime, OpenMP and oneTBB, and prints tables.
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail

usage() {
    cat <<'TEXT'
Use: scripts/bench.sh [--quick] [--check] [--rounds N] [--ops N] [--workers N] [--regions | --graphs]

  --quick      one round and fewer operations
  --check      exit 1 when a figure misses its bar
  --rounds N   rounds in which the programs take turns (5)
  --ops N      operations of each workload (20000)
  --workers N  threads that run the tasks of a graph (1)
  --regions    the workloads of single regions alone
  --graphs     the task graphs alone

Leaves the tables, the raw JSON lines and the plots in build/bench/.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5 ops=20000 idle_regions=1000 check=() parts=(regions graphs)
workers=1 repeats=5 random_graphs=1000
while [ $# -gt 0 ]; do
    case $1 in
        --quick) rounds=1 ops=4000 idle_regions=200 repeats=2 ;;
        --check) check=(--check) ;;
        --rounds) rounds=${2:?--rounds needs a number} && shift ;;
        --ops) ops=${2:?--ops needs a number} && shift ;;
        --workers) workers=${2:?--workers needs a number} && shift ;;
        --regions) parts=(regions) ;;
        --graphs) parts=(graphs) ;;
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

measures() { [[ " ${parts[*]} " == *" $1 "* ]]; }

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

have_openmp_graphs=no have_tbb_graphs=no
build_graph_peers() {
    local peers=$root/bench/peers
    if g++ -std=c++20 -O2 -fopenmp "$peers/graphs_openmp.cpp" -o "$out/graphs_openmp" >>"$log" 2>&1; then
        have_openmp_graphs=yes
    else
        echo "bench: skipped: graphs of OpenMP's tasks, because g++ -fopenmp does not build here ($log)"
    fi
    if g++ -std=c++20 -O2 "$peers/graphs_tbb.cpp" -ltbb -o "$out/graphs_tbb" >>"$log" 2>&1; then
        have_tbb_graphs=yes
    else
        echo "bench: skipped: graphs of oneTBB, because it does not build here (package libtbb-dev; $log)"
    fi
}

llvm_peer() {
    env LD_LIBRARY_PATH="$llvm/lib" "$@"
}

build_with_llvm() {
    PATH=$llvm/bin:$PATH clang++ -std=c++20 -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu \
        "$root/bench/peers/$1.cpp" -o "$out/$1" >>"$log" 2>&1
}

have_llvm=no
build_llvm_peers() {
    if ! [ -x "$llvm/bin/clang++" ]; then
        echo "bench: skipped: LLVM's peers, because there is no $llvm/bin/clang++ (package clang-19)"
        return
    fi
    if ! build_with_llvm llvm_target || ! build_with_llvm graphs_llvm; then
        echo "bench: skipped: LLVM's peers, because offloading does not build here" \
            "(packages clang-tools-19, libomp-19-dev; $log)"
        return
    fi
    if ! llvm_peer timeout 60 "$out/llvm_target" --ops 1 resident_sync >>"$log" 2>&1; then
        echo "bench: skipped: LLVM's peers, because their runtime finds no offload device ($log)"
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

# with_llvm ROUND PROGRAM ARGUMENTS...: under its defaults and under each setting that could be its best.
with_llvm() {
    local round=$1 program=$2
    shift 2
    record "$round" llvm.default llvm_peer "$program" "$@"
    record "$round" llvm.no_helpers llvm_peer LIBOMP_USE_HIDDEN_HELPER_TASK=0 "$program" "$@"
    record "$round" llvm.one_thread \
        llvm_peer LIBOMP_USE_HIDDEN_HELPER_TASK=0 OMP_NUM_THREADS=1 "$program" "$@"
    record "$round" llvm.one_helper \
        llvm_peer LIBOMP_NUM_HIDDEN_HELPER_THREADS=1 OMP_WAIT_POLICY=active "$program" "$@"
}

triad_round() {
    local peer=()
    [ "$have_triad" = no ] || peer=(--peer "$out/openmp_triad")
    record "$1" triad "$programs/range_triad" --rounds 1 "${peer[@]}"
}

regions_round() {
    record "$1" omp_co "$programs/regions" --ops "$ops"
    [ "$have_llvm" = no ] || with_llvm "$1" "$out/llvm_target" --ops "$ops"
    triad_round "$1"
    record "$1" mapped_ranges "$programs/mapped_ranges" --rounds 3
}

graphs_round() {
    local all=(--repeats "$repeats" --workers "$workers")
    record "$1" omp_co "$programs/graphs" "${all[@]}"
    record "$1" omp_co.handlers "$programs/graphs" --handlers "${all[@]}"
    [ "$have_llvm" = no ] || with_llvm "$1" "$out/graphs_llvm" "${all[@]}"
    [ "$have_openmp_graphs" = no ] || record "$1" openmp "$out/graphs_openmp" "${all[@]}"
    [ "$have_tbb_graphs" = no ] || record "$1" tbb "$out/graphs_tbb" "${all[@]}"
}

build_own
build_llvm_peers
if measures regions; then build_openmp_triad; fi
if measures graphs; then build_graph_peers; fi
for ((round = 1; round <= rounds; ++round)); do
    printf '{"round":%d,"from":"machine","name":"busy","value":%d,"unit":"percent"}\n' "$round" "$(await_quiet)" >>"$raw"
    if measures regions; then regions_round "$round"; fi
    if measures graphs; then graphs_round "$round"; fi
done
if measures regions; then record 1 idle "$programs/idle" --regions "$idle_regions"; fi
if measures graphs; then record 1 omp_co "$programs/graphs" --check "$random_graphs" --workers 2; fi
rm -f "$out/last.jsonl" "$out/last.err"

status=0
python3 "$root/scripts/bench_report.py" "${check[@]}" --parts "${parts[*]}" "$raw" "$out" || status=$?
if ! measures regions; then
    : # the plots are of regions
elif command -v gnuplot >/dev/null; then
    (cd "$out" && gnuplot plots.gp)
    echo "Plots: build/bench/costs.svg build/bench/bars.svg"
else
    echo "bench: skipped: the plots, because gnuplot is missing (package gnuplot-nox)"
fi
echo "Raw lines: build/bench/raw.jsonl"
exit "$status"
