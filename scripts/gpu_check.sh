#!/usr/bin/env bash
# Tests and measures the CUDA backend on a machine with an NVIDIA device, with programs that were built elsewhere: the
# driver's facts and costs, the CUDA tests, the CUDA benchmark, and LLVM's peer. Ends with one table.
# SPDX-License-Identifier: BSL-1.0
set -uo pipefail

usage() {
    cat <<'TEXT'
Use: scripts/gpu_check.sh --prepare <folder>
     scripts/gpu_check.sh [--simulator] <folder> [<folder for the logs>]

  --prepare    builds the programs so that they need the C library alone, and puts them and this script into <folder>
  --simulator  tries the programs on the driver simulator in <folder>: its times are no device's

Without an option it runs what is in <folder>, which may be a prepared one or a build folder, on the device: five minutes
at most, no network. Logs go to <folder>/gpu_check. Exit code: 0 all passed, 1 something failed or missed its bar, 77 there
is no CUDA device.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mode=device
case ${1-} in
--prepare)
    [[ $# -eq 2 ]] || { usage >&2 && exit 2; }
    exec "$here/gpu_prepare.sh" "$2"
    ;;
--simulator) mode=simulator && shift ;;
-h | --help) usage && exit 0 ;;
esac
if [[ $# -lt 1 || $# -gt 2 || ! -d $1 ]]; then
    usage >&2
    exit 2
fi
# shellcheck source=scripts/figures.sh
. "$here/figures.sh"
folder=$(cd "$1" && pwd)
mkdir -p "${2:-$folder/gpu_check}" || exit 2
logs=$(cd "${2:-$folder/gpu_check}" && pwd)
rm -f "$logs"/*.log "$logs/table.txt"
end=$((SECONDS + 290))
passed=0
failed=0
rows=()

# The driver of the machine, never one of the caller's, nor settings for one side.
for variable in $(compgen -e); do
    case $variable in OMP_* | LIBOMP_* | LIBOMPTARGET_* | KMP_*) unset "$variable" ;; esac
done
export OMP_CO_TEST_DRIVER=device
export BOOST_TEST_REPORT_LEVEL=short BOOST_TEST_COLOR_OUTPUT=0 BOOST_TEST_CATCH_SYSTEM_ERRORS=no
[[ ! -d $folder/fakes ]] || export OMP_CO_TEST_FAKES=$folder/fakes
if [[ $mode == simulator ]]; then
    OMP_CO_CUDA_LIBRARY=$(find "$folder" -name libomp_co_sim_cuda.so -type f -print -quit)
    if [[ -z $OMP_CO_CUDA_LIBRARY ]]; then
        echo "gpu_check: there is no libomp_co_sim_cuda.so in $folder" >&2
        exit 2
    fi
    export OMP_CO_CUDA_LIBRARY
fi

program_of() { find "$folder" -name "$1" -type f -perm -u+x -print -quit; }

# run <name of the row> <program> <most seconds> [arguments]: runs it and notes how it ended; answers what it answered.
run() {
    local row=$1 name=$2 most=$3 program result last start=$SECONDS rc log=$logs/$2.log
    shift 3
    program=$(program_of "$name")
    if [[ -z $program ]]; then
        rows+=("$row|not built||")
        return 0
    fi
    ((most > end - SECONDS)) && most=$((end - SECONDS))
    if ((most <= 0)); then
        rows+=("$row|no time left||")
        ((failed += 1))
        return 1
    fi
    (cd "$(dirname "$program")" && timeout -k 5 "$most" "./$name" "$@") >"$log.part" 2>&1
    rc=$?
    case $rc in
    0)
        result=passed
        ((passed += 1))
        ;;
    77) result=skipped ;;
    124 | 137) result="over $most s" ;;
    *) result="failed ($rc)" ;;
    esac
    [[ $rc -eq 0 || $rc -eq 77 ]] || ((failed += 1))
    last=$(grep -v '^[[:space:]]*$' "$log.part" | tail -n 1)
    [[ $name != test_* ]] || last=$(grep 'test cases out of' "$log.part" | tr -s ' ' | paste -sd ';') # passed, skipped
    rows+=("$row|$result|$((SECONDS - start)) s|$last")
    cat "$log.part" >>"$log"
    rm -f "$log.part"
    return $rc
}

# regions <row> <most seconds> <simulator's times> <kernels' microseconds on a device> <arguments...>
regions() {
    local row=$1 most=$2 times=$3 length=$4
    shift 4
    if [[ $mode == simulator ]]; then
        OMP_CO_SIM_BANDWIDTH=${times#*@} OMP_CO_SIM_KERNEL_US=${times%@*} run "$row" cuda_regions "$most" "$@"
        return
    fi
    [[ $length == 0 ]] || set -- --kernel-us "$length" "$@"
    run "$row" cuda_regions "$most" "$@"
}

# LLVM's runtime looks for libcuda.so, which a machine without a toolkit may not have beside libcuda.so.1.
peer_note="its binary was not carried along"
run_peer() {
    local archive=$folder/llvm_peer.tar.xz driver
    [[ -f $archive ]] || return 0
    if [[ $mode == simulator ]]; then
        peer_note="its runtime needs driver functions that the simulator does not have"
        return 0
    fi
    work=$(mktemp -d) || return 1
    trap 'rm -rf "$work"' EXIT
    if ! tar -xJf "$archive" -C "$work" 2>/dev/null &&
        ! python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$archive" "$work" 2>/dev/null; then
        peer_note="neither tar with xz nor python3 unpacks it here"
        return 0
    fi
    driver=$(ldconfig -p 2>/dev/null | awk '/libcuda\.so\.1 .*x86-64/ { print $NF; exit }')
    for place in ${LD_LIBRARY_PATH//:/ } /usr/local/nvidia/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64; do
        [[ -n $driver || ! -e $place/libcuda.so.1 ]] || driver=$place/libcuda.so.1
    done
    [[ -z $driver ]] || ln -sf "$driver" "$work/lib/libcuda.so"
    peer_note="it failed, see its row above"
    local folder=$work failures=$failed
    PATH=$work/bin:$PATH LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} OMP_TARGET_OFFLOAD=MANDATORY \
        run "LLVM target nowait" llvm_target 45 --ops 20000 resident_nowait
    failed=$failures # a peer that does not run is no failure of ours
}

if [[ -z $(program_of driver_facts) ]]; then
    echo "gpu_check: there is no driver_facts in $folder: scripts/gpu_check.sh --prepare makes such a folder" >&2
    exit 2
fi
run driver_facts driver_facts 60
if [[ $? -eq 77 ]]; then
    echo "gpu_check: no CUDA device here, nothing was run: $(tail -n 1 "$logs/driver_facts.log")"
    exit 77
fi
run driver_costs driver_costs 40
run test_cuda test_cuda 20
run test_cuda_backend test_cuda_backend 75
regions "regions: CPU, rate, resume" 40 20,work:2000@0 2000 cpu rate resume
regions "regions: in flight" 20 5000@0 5000 in_flight
if [[ $mode == simulator ]]; then
    regions "regions: pipeline" 20 262@1 0 pipeline
else
    regions "regions: pipeline" 20 0@0 80 --tile-kib 4096 pipeline
fi
regions "regions: large copy" 20 20@12.5 0 large_copy
run_peer

costs=$logs/driver_costs.log
bench=$logs/cuda_regions.log
peer=$logs/llvm_target.log
share=(most 8)
[[ $mode == device ]] || share=() # a bar for devices

# call <label> <figure of driver_costs>: both its figures
call() {
    figure_row "driver: $1, caller" "$(value_of "driver/$2/caller" "$costs")" us
    figure_row "driver: $1, until done" "$(value_of "driver/$2/whole" "$costs")" us
}
region() { figure_row "omp_co: $1" "$(value_of "cuda/$2" "$bench")" "${@:3}"; }
# A rate or a time out of another figure: <expression of v> <value>
from() { [[ -z $2 ]] || awk -v v="$2" "BEGIN { print $1 }"; }

figures() {
    figures_header
    call "launch" launch
    call "event record" record
    call "event query" query
    call "write value" write_value
    call "host function" host_function
    call "copy of 256 B, pinned" copy_256
    call "copy of 1 MiB, pinned" copy_1m
    figure_row "raw loop: CPU a region" "$(value_of cuda/raw_loop/cpu "$bench")" us
    figure_row "raw loop: regions a second" "$(value_of cuda/raw_loop/rate "$bench")" 1/s
    region "added CPU a region, p50" region/added_cpu us
    region "added CPU a region, p99 of batches" region/added_cpu_p99 us
    region "added CPU a region, share of the raw loop" region/added_share % "${share[@]}"
    region "completion to resume, loop awake, p50" resume/awake/added_p50 us
    region "completion to resume, loop awake, p99" resume/awake/added_p99 us
    region "completion to resume, loop asleep, p50" resume/asleep/added_p50 us
    region "completion to resume, loop asleep, p99" resume/asleep/added_p99 us
    region "regions a second, 200 in flight" region/rate 1/s
    region "CPU of the process a region, 200 in flight" region/process_cpu us
    region "pipeline of 64 tiles, serial on one raw stream" pipeline/serial ms
    region "pipeline of 64 tiles, overlapped" pipeline/overlapped ms
    region "pipeline, ideal speed-up of the same stages" pipeline/ideal x
    region "pipeline, speed-up over serial" pipeline/speed_up x
    region "256 MiB unpinned: lateness of 1 kHz, p99" large_copy/timer_late_p99 us
    region "256 MiB unpinned: lateness of 1 kHz, worst" large_copy/timer_late_max us
    region "idle CPU, 1,000 regions of 5 ms: loop" in_flight/loop_cpu %
    region "idle CPU, 1,000 regions of 5 ms: process" in_flight/process_cpu %
    local wall cpu
    wall=$(value_of resident_nowait "$peer")
    cpu=$(value_of resident_nowait.cpu "$peer")
    if [[ -z $wall ]]; then
        printf '%-56s %10s not measured: %s\n' "LLVM target nowait" - "$peer_note"
        return
    fi
    figure_row "LLVM target nowait: regions a second" "$(from "1e9 / v" "$wall")" 1/s
    figure_row "LLVM target nowait: CPU of the process a region" "$(from "v / 1e3" "$cpu")" us
}

programs() {
    printf '%-28s %-14s %6s  %s\n' program result time "last line"
    local r row result time last
    for r in "${rows[@]}"; do
        IFS='|' read -r row result time last <<<"$r"
        [[ $last != '{'* ]] || last=
        printf '%-28s %-14s %6s  %s\n' "$row" "$result" "$time" "${last:0:90}" | sed 's/ *$//'
    done
}

table=$logs/table.txt
if [[ $mode == simulator ]]; then
    echo "On the driver simulator: these times are no device's."
elif command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
fi >"$table"
{
    programs
    echo
} >>"$table"
figures >>"$table" # not in a subshell, for it counts what misses its bar
cat "$table"
((failed == 0)) || { echo "failed: $failed; logs: $logs" && exit 1; }
((missed == 0)) || exit 1
