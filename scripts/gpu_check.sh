#!/usr/bin/env bash
# Runs on a machine with an NVIDIA device what was built elsewhere: the driver's facts and costs, the CUDA tests, the CUDA
# benchmark. Builds and fetches nothing. Ends with a table; what the programs said is in <folder>/gpu_check/.
# Usage: scripts/gpu_check.sh <folder>     (a build folder, or copies of its programs; at most 5 minutes)
# Exit code: 0 all that ran passed, 1 something failed, 77 nothing could run.
# SPDX-License-Identifier: BSL-1.0
set -uo pipefail

if [[ $# -ne 1 || ! -d $1 ]]; then
    echo "usage: scripts/gpu_check.sh <folder with the built programs>" >&2
    exit 2
fi
folder=$(cd "$1" && pwd)
logs=$folder/gpu_check
mkdir -p "$logs"
end=$((SECONDS + 290))
passed=0
failed=0
rows=()

# The driver of the machine, never a simulator of an earlier run.
unset OMP_CO_CUDA_LIBRARY
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader

# row <program> <most seconds> [arguments]: runs it and notes how it ended.
row() {
    local name=$1 most=$2 program result start=$SECONDS rc
    shift 2
    program=$(find "$folder" -name "$name" -type f -perm -u+x -print -quit)
    if [[ -z $program ]]; then
        rows+=("$name|not built||")
        return
    fi
    ((most > end - SECONDS)) && most=$((end - SECONDS))
    if ((most <= 0)); then
        rows+=("$name|no time left||")
        ((failed += 1))
        return
    fi
    (cd "$(dirname "$program")" && timeout -k 5 "$most" "./$name" "$@") >"$logs/$name.log" 2>&1
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
    rows+=("$name|$result|$((SECONDS - start)) s|$(grep -v '^[[:space:]]*$' "$logs/$name.log" | tail -n 1)")
}

row driver_facts 60
row driver_costs 40
row test_cuda 30
row test_cuda_backend 90
row cuda_regions 60

for name in driver_costs cuda_regions; do
    [[ -s $logs/$name.log ]] || continue
    echo "--- $name"
    cat "$logs/$name.log"
done

echo
printf '%-20s %-14s %6s  %s\n' program result time "last line"
for r in "${rows[@]}"; do
    IFS='|' read -r name result time last <<<"$r"
    printf '%-20s %-14s %6s  %s\n' "$name" "$result" "$time" "${last:0:90}"
done
((failed > 0)) && exit 1
((passed > 0)) || exit 77
