#!/bin/sh
# Stands in for ptxas beside llvm_target on a machine without the CUDA toolkit: LLVM's runtime calls
# `ptxas <options> --output-file <to> <from>` and loads what it wrote, and the driver compiles PTX by itself.
# SPDX-License-Identifier: BSL-1.0
to=
while [ $# -gt 1 ]; do
    [ "$1" != --output-file ] || to=$2
    shift
done
[ -n "$to" ] || exit 2
exec cp "$1" "$to"
