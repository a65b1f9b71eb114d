#!/usr/bin/env bash
# Installs what the other scripts need and this machine lacks, by apt-get. Says nothing when all is there.
# Usage: scripts/setup.sh [test] [bench]     (without an argument: what it takes to build the library's programs)
# SPDX-License-Identifier: BSL-1.0
set -euo pipefail
cd "$(dirname "$0")/.."

log=build/logs/setup.log

# Asks for the thing itself and not for the package, so that a compiler or Boost from elsewhere will do.
has_library() { [[ $(g++ -print-file-name="$1" 2>/dev/null) == */* ]]; }
has_boost() {
    printf '%s\n' '#include <boost/version.hpp>' '#if BOOST_VERSION < 108100' '#error old' '#endif' |
        g++ -E -x c++ - >/dev/null 2>&1
}
has_package() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
has() {
    case $1 in
    ninja-build) command -v ninja ;;
    libboost1.81-dev) has_boost ;;
    libboost-test1.81-dev) has_library libboost_unit_test_framework.so ;;
    libpng-dev) has_library libpng.so ;;
    zlib1g-dev) has_library libz.so ;;
    clang-19) command -v clang++-19 ;;
    llvm-19) command -v llvm-symbolizer-19 || command -v llvm-symbolizer ;;
    gnuplot-nox) command -v gnuplot ;;
    g++ | cmake | ccache | curl | python3 | valgrind) command -v "$1" ;;
    *) has_package "$1" ;;
    esac >/dev/null
}

missing=()
missing_of() {
    missing=()
    local package
    for package in "$@"; do
        has "$package" || missing+=("$package")
    done
}

# install <packages...>: false, with a message, when they cannot be had.
updated=
install() {
    local root=() installed
    local by_hand="apt-get install --no-install-recommends $*"
    if ! command -v apt-get >/dev/null; then
        echo "missing, and there is no apt-get here; the names on Debian are: $*" >&2
        return 1
    fi
    if [[ $(id -u) -ne 0 ]]; then
        if ! command -v sudo >/dev/null; then
            echo "missing; run as root: $by_hand" >&2
            return 1
        fi
        root=(sudo)
        [[ -t 0 ]] || root+=(-n)
    fi
    mkdir -p "$(dirname "$log")"
    echo "installing $*"
    # A list that cannot be refreshed may still name what is needed. Nothing is removed to make room.
    {
        [[ $updated ]] || "${root[@]}" apt-get update || true
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove "$@"
    } >"$log" 2>&1 && installed=yes || installed=
    updated=yes
    [[ ! $installed ]] || return 0
    tail -n 15 "$log" >&2
    echo "not installed; run as root: $by_hand" >&2
    return 1
}

missing_of g++ cmake ninja-build ccache libboost1.81-dev libboost-test1.81-dev libpng-dev zlib1g-dev curl
if ((${#missing[@]})); then
    install "${missing[@]}"
fi

# Clang, its peers and the plotting are optional: what needs them says that it is skipped.
for purpose in "$@"; do
    case $purpose in
    test) missing_of clang-19 clang-tools-19 libclang-rt-19-dev libomp-19-dev llvm-19 ;;
    bench) missing_of clang-19 clang-tools-19 libomp-19-dev libtbb-dev gnuplot-nox python3 valgrind ;;
    *)
        echo "usage: scripts/setup.sh [test] [bench]" >&2
        exit 2
        ;;
    esac
    # Each by itself, for one may be refused where another version of it is in its place (libomp), which is no reason to do without
    # the others.
    for package in "${missing[@]}"; do
        install "$package" || true
    done
done
