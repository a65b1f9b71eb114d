#!/usr/bin/env bash
# What the CUDA backend costs beside a tight loop of the same driver calls, on the simulator of the driver with modelled times,
# with the bars that these figures have. Says nothing about the speed of a GPU.
# Usage: scripts/bench_simulated.sh [--check]     (--check: exit 1 when a figure misses its bar)
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail
cd "$(dirname "$0")/.."

check=${1-}
case $check in
"" | --check) ;;
*)
    echo "usage: scripts/bench_simulated.sh [--check]" >&2
    exit 2
    ;;
esac

scripts/setup.sh bench
build=build/release
log=build/bench_simulated.log
if ! { cmake --preset release && cmake --build --preset release --target omp_co_sim_cuda bench/cuda_regions; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
export OMP_CO_CUDA_LIBRARY=$PWD/$build/test/sim/libomp_co_sim_cuda.so
missed=0

# figure <name> <at most|at least> <bar> <settings...> -- <workload>: the median of three runs
figure() {
    local name=$1 sense=$2 bar=$3 value verdict=ok
    shift 3
    local settings=()
    while [[ $1 != -- ]]; do
        settings+=("OMP_CO_SIM_$1")
        shift
    done
    value=$(for _ in 1 2 3; do env "${settings[@]}" "$build/bench/cuda_regions" "$2"; done |
        sed -n "s|.*\"$name\",\"value\":\([-0-9.e]*\),.*|\1|p" | sort -g | sed -n 2p)
    if ! awk -v v="${value:-nan}" -v b="$bar" -v s="$sense" 'BEGIN { exit !(s == "most" ? v + 0 <= b : v + 0 >= b) }'; then
        verdict=MISSED
        ((missed += 1))
    fi
    printf '%-34s %10.3f   at %s %-6s %s\n' "$name" "${value:-nan}" "$sense" "$bar" "$verdict"
}

# A tile of 256 KiB takes 262 us at 1 GB/s: three stages of equal length, whose ideal speed-up over 64 tiles is 2.91.
figure cuda/region/added_cpu most 0.30 KERNEL_US=20 -- cpu
figure cuda/in_flight/loop_cpu most 2 KERNEL_US=5000 -- in_flight
figure cuda/pipeline/speed_up least 2.7 KERNEL_US=262 BANDWIDTH=1 -- pipeline
figure cuda/large_copy/timer_late_p99 most 1000 KERNEL_US=20 BANDWIDTH=12.5 -- large_copy
[[ $check != --check ]] || exit $((missed > 0))
