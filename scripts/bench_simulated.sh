#!/usr/bin/env bash
# What the CUDA backend costs beside a tight loop of the same driver calls, on the simulator of the driver with modelled times,
# with the bars that these figures have. Says nothing about the speed of a GPU.
# Usage: scripts/bench_simulated.sh [--check]     (--check: exit 1 when a figure misses its bar)
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/figures.sh

check=${1-}
case $check in
"" | --check) ;;
*)
    echo "usage: scripts/bench_simulated.sh [--check]" >&2
    exit 2
    ;;
esac

scripts/setup.sh
build=build/release
log=build/bench_simulated.log
raw=build/bench_simulated.jsonl
mkdir -p build
if ! { cmake --preset release && cmake --build --preset release --target omp_co_sim_cuda bench/cuda_regions; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
for variable in $(compgen -e); do
    [[ $variable != OMP_CO_* ]] || unset "$variable"
done
export OMP_CO_CUDA_LIBRARY=$PWD/$build/test/sim/libomp_co_sim_cuda.so
: >"$raw"

# workload <name> <settings of the simulator...>
workload() {
    local name=$1 settings=()
    shift
    for s in "$@"; do settings+=("OMP_CO_SIM_$s"); done
    env "${settings[@]}" "$build/bench/cuda_regions" "$name" >>"$raw"
}

# A tile of 256 KiB takes 262 us at 1 GB/s: three stages of equal length, whose ideal speed-up over 64 tiles is 2.91.
disturbed=0
for _ in 1 2 3; do
    (($(await_quiet) <= 10)) || ((disturbed += 1))
    workload cpu KERNEL_US=20
    workload in_flight KERNEL_US=5000
    workload pipeline KERNEL_US=262 BANDWIDTH=1
    workload large_copy KERNEL_US=20 BANDWIDTH=12.5
done

# row <label> <name> <unit> [most|least <bar>]
row() { figure_row "$1" "$(value_of "cuda/$2" "$raw")" "${@:3}"; }

echo "Medians of 3 rounds on the simulator."
figures_header
row "CPU a region, raw loop" raw_loop/cpu us
row "CPU a region, omp_co" region/cpu us
row "CPU a region, added (p50)" region/added_cpu us most 0.30
row "CPU a region, added (p99 of batches)" region/added_cpu_p99 us
row "loop with 1,000 regions of 5 ms in flight" in_flight/loop_cpu % most 2
row "pipeline of 64 tiles, serial on one raw stream" pipeline/serial ms
row "pipeline of 64 tiles, omp_co" pipeline/overlapped ms
row "pipeline, ideal speed-up of the same stages" pipeline/ideal x
row "pipeline, speed-up over serial" pipeline/speed_up x least 2.7
row "256 MiB unpinned: lateness of 1 kHz, p99" large_copy/timer_late_p99 us most 1000
((disturbed == 0)) || echo "$disturbed of 3 rounds began on a busy machine: distrust CPU and lateness."
echo "Raw lines: $raw"
[[ $check != --check ]] || exit $((missed > 0))
