#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Starts the service on a free loopback port, sends it a picture eight times at once, and stops it.
# usage: demo.sh BUILD_DIR
set -euo pipefail

fail() { echo "demo: $*" >&2; exit 1; }

[[ $# -eq 1 ]] || { echo "usage: demo.sh BUILD_DIR" >&2; exit 2; }
command -v curl >/dev/null || fail "curl is missing"
bin=$(cd "$1/examples/image_service" && pwd) || fail "no examples in $1"
out=$bin/demo
mkdir -p "$out"
rm -f "$out"/*.png "$out"/*.txt

service=
stop() {
    [[ -n $service ]] || return 0
    kill -TERM "$service" 2>/dev/null || true # `timeout` passes it on, and kills what does not obey
    wait "$service" 2>/dev/null || true
    service=
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$bin/make_picture" "$out/before.png"
: >"$out/service.txt" # what follows runs beside the reader

# Bounded even if this script is killed. Without --foreground, the service would get every signal twice.
timeout --foreground --kill-after=5 120 "$bin/image_service" --port 0 >"$out/service.txt" &
service=$!

url=
for _ in $(seq 200); do
    url=$(sed -n 's/^listening on //p' "$out/service.txt")
    [[ -z $url ]] || break
    kill -0 "$service" 2>/dev/null || fail "the service did not start"
    sleep 0.05
done
[[ -n $url ]] || fail "the service did not say where it listens"

# Width and height of a PNG, from its header; nothing for another file.
png_size() {
    [[ $(od -An -tx1 -N8 "$1" | tr -d ' \n') == 89504e470d0a1a0a ]] || return 0
    od -An -tu1 -j16 -N8 "$1" | awk '{ print (($1*256+$2)*256+$3)*256+$4, (($5*256+$6)*256+$7)*256+$8 }'
}

radii=(2 4 6 8 12 16 20 24)
clients=()
began=$(date +%s%N)
for radius in "${radii[@]}"; do
    curl --silent --show-error --fail --max-time 60 --data-binary "@$out/before.png" \
        --output "$out/after-$radius.png" "$url/blur?radius=$radius" &
    clients+=($!)
done
for client in "${clients[@]}"; do wait "$client" || fail "a request failed"; done
took=$((($(date +%s%N) - began) / 1000000))

curl --silent --fail --max-time 10 --output "$out/stats.json.txt" "$url/stats" || fail "no answer from /stats"

# Gracefully: the service prints its figures when its loop has run out of work.
kill -TERM "$service"
wait "$service" || fail "the service did not end well"
service=

size=$(png_size "$out/before.png")
for radius in "${radii[@]}"; do
    [[ $(png_size "$out/after-$radius.png") == "$size" ]] || fail "after-$radius.png is not a PNG of $size"
done
grep -q "(${#radii[@]} pictures, 0 refused)" "$out/service.txt" || fail "the service counted other pictures"

echo "image service: ${#radii[@]} pictures of ${size/ / x } at once, in $took ms, in one event loop"
sed -n '/^listening/d; s/^/  /p' "$out/service.txt"
echo "  result          $out/after-12.png (from before.png beside it)"
echo "  by hand         $bin/image_service --port 8080, then open http://127.0.0.1:8080/"
