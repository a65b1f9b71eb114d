#!/usr/bin/env bash
# Builds and tests in stages, stops at the first that fails, and ends with the line "<n> passed, <m> failed".
# Usage: scripts/test.sh [--quick]     (--quick: the release stage alone)
# A stage prints one line; everything else is in build/logs/<stage>.log.
# SPDX-License-Identifier: BSL-1.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

quick=no
case ${1-} in
"") ;;
--quick) quick=yes ;;
*)
    echo "usage: scripts/test.sh [--quick]" >&2
    exit 2
    ;;
esac

rm -rf build/logs
mkdir -p build/logs
if [[ $quick == yes ]]; then
    scripts/setup.sh || exit
else
    scripts/setup.sh test || exit
fi

jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs
passed=0
failed=0

finish() {
    echo "$passed passed, $failed failed"
    exit $((failed > 0))
}

# What a failed stage leaves to read: the output and the names of the failed tests, or else the end of the log.
show_failure() {
    local log=$1
    echo "--- $log"
    if ! grep -q 'tests failed out of' "$log"; then
        tail -n 40 "$log"
        return
    fi
    awk '/^ *Start +[0-9]+:/ || (/^ *[0-9]+\/[0-9]+ +Test/ && !/\*\*\*/) { show = 0 }
         /^ *[0-9]+\/[0-9]+ +Test.*\*\*\*/ && !/\*\*\*Skipped/ { show = 1; shown = 0 }
         show && shown++ < 60' "$log"
    sed -n '/^The following tests FAILED/,$p' "$log"
}

count() { sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1; }

# stage <preset> [more targets than all]: with the options in `configure`
configure=()
stage() {
    local preset=$1
    shift
    local log=build/logs/$preset.log results=$PWD/build/logs/$preset.xml start=$SECONDS
    if ! { cmake --preset "$preset" "${configure[@]}" && cmake --build --preset "$preset" --target all "$@"; } >"$log" 2>&1; then
        ((failed += 1))
        echo "$preset: does not build"
        show_failure "$log"
        finish
    fi

    local built=$((SECONDS - start))
    ctest --preset "$preset" -j "$jobs" --output-junit "$results" >>"$log" 2>&1
    local status=$?
    local bad skipped good
    bad=$(count "$results" failures)
    skipped=$(count "$results" skipped)
    good=$(($(count "$results" tests) - bad - skipped))
    ((passed += good, failed += bad))
    echo "$preset: $good passed, $bad failed, $skipped skipped (built in $built s, tested in $((SECONDS - start - built)) s)"
    sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*/  skipped: \1/p' "$log"
    if ((status != 0)); then
        ((failed > 0)) || failed=1
        show_failure "$log"
        finish
    fi
}

stage release all_verify_interface_header_sets
if [[ $quick == yes ]]; then
    finish
fi

# One sanitizer with each compiler: g++ 12 destroys temporaries of a co_await twice, which is for AddressSanitizer to
# see; clang's ThreadSanitizer is the newer one. CXX counts only where a build folder is configured for the first time.
CXX=g++ stage asan
if command -v clang++-19 >/dev/null; then
    CXX=clang++-19 stage tsan
    # What takes longest to compile clang has compiled for the stage before, with assertions and optimised.
    configure=(-D "OMP_CO_LEAVE_OUT_GROUPS=constructs;progress;explorer;data_environment;host_backend")
    stage clang
    configure=()
else
    CXX=g++ stage tsan
    echo "clang: skipped, there is no clang++-19 here (package clang-19)"
fi
finish
