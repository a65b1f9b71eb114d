#!/usr/bin/env bash
# Builds the image service of examples/ and shows it at work.
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh

log=build/logs/demo.log
mkdir -p build/logs
echo "building (a minute or two; log: $log)"
if ! { cmake --preset release && cmake --build --preset release -j "$(nproc)" --target image_service make_picture; } \
    >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 1
fi
exec examples/image_service/demo.sh build/release "$@"
