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

# What a failed stage leaves to read: of each failed test what it says from its first complaint on and the two lines before, or the
# end of what it says if there is none, and the names of the failed tests; without tests the end of the log.
show_failure() {
    local log=$1
    echo "--- $log"
    if ! grep -q 'tests failed out of' "$log"; then
        tail -n 40 "$log"
        return
    fi
    awk -v most=60 '
        function tell(    first, i) {
            first = complaint ? complaint - 2 : n - most + 1
            for (i = first < 1 ? 1 : first; i <= n && i < first + most; ++i) print line[i]
            n = complaint = 0
        }
        /^ *[0-9]+\/[0-9]+ +Test|^The following tests|tests passed, [0-9]+ tests failed/ { tell(); failed = 0 }
        /^ *[0-9]+\/[0-9]+ +Test.*\*\*\*/ && !/\*\*\*Skipped/ { failed = 1; print; next }
        failed {
            line[++n] = $0
            if (!complaint && /error:|ERROR:|WARNING: Thread|runtime error:|terminate called|Assertion /) complaint = n
        }' "$log"
    sed -n '/^The following tests FAILED/,$p' "$log"
}

count() { sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1; }

# stage <preset> [targets...]: the preset's own targets if none is named
stage() {
    local preset=$1
    shift
    (($# == 0)) || set -- --target "$@"
    local log=build/logs/$preset.log results=$PWD/build/logs/$preset.xml start=$SECONDS
    if ! { cmake --preset "$preset" && cmake --build --preset "$preset" "$@"; } >"$log" 2>&1; then
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

stage release all all_verify_interface_header_sets
if [[ $quick == yes ]]; then
    finish
fi

# Everything with both sanitizers by clang, which is the faster one and warns of other things; and what g++ 12 may get wrong, the
# temporaries of a co_await, with AddressSanitizer by g++.
stage coroutines
clang=clang++-19
if ! command -v $clang >/dev/null; then
    echo "clang: there is no $clang here (package clang-19); g++ stands in"
    clang=g++
fi
CXX=$clang stage asan
CXX=$clang stage tsan
finish
