#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_arm64.sh - are the AArch64 kernels equal to the scalar specification, and that to ours?
#
# Cross-builds mncheck (kernels and base only, so no cross library is needed), runs it under qemu on
# processors with and without the optional instructions, and compares the digest of every slot with this
# machine's build/tests/mncheck.  Needs aarch64-linux-gnu-gcc and qemu-aarch64.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build-arm64-check
native=${1:-build/tests/mncheck}
cc=${CC_ARM64:-aarch64-linux-gnu-gcc}
flags="-O2 -std=gnu11 -D_GNU_SOURCE -ffp-contract=off -fno-math-errno -Wall -Wextra -Wno-unused-parameter"
mkdir -p "$out"

# The same table as CMakeLists.txt: the suffix of a file decides.
objects=()
for source in src/base/cpu.c src/base/dtype.c src/base/native.c src/base/plan.c $(find src/kernel -name '*.c') tests/check/*.c; do
    case $source in
    *_dotprod.c) isa=-march=armv8.2-a+dotprod ;;
    *_i8mm.c) isa=-march=armv8.2-a+dotprod+i8mm ;;
    *) isa= ;;
    esac
    object=$out/$(basename "$source" .c).o
    $cc $flags $isa -Iinclude -Isrc -Itests/check -c "$source" -o "$object"
    objects+=("$object")
done
$cc -static "${objects[@]}" -lm -o "$out/mncheck"

qemu-aarch64 -cpu cortex-a53 "$out/mncheck" --tier scalar > "$out/scalar.txt"
for cpu in cortex-a53 cortex-a76 max,sve=off; do
    echo "== $cpu"
    qemu-aarch64 -cpu "$cpu" "$out/mncheck" | tee "$out/$cpu.txt"
done

# slot and digest only
digests() { awk '$3 == "ok" { print $2, $NF }' | sort -u; }
"$native" --tier scalar | digests > "$out/native.digests"
cat "$out"/*.txt | digests > "$out/arm64.digests"
join "$out/native.digests" "$out/arm64.digests" | awk '
    $2 != $3 { print $1 ": digests differ: " $2 " here, " $3 " there"; bad = 1 }
    { n++ }
    END { if (!n) { print "no slot in common"; exit 1 }
          print n " slots give the same bits as on this machine"; exit bad }'
