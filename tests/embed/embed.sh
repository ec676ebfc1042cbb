#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh BUILD MODEL - can a stranger build with an installed minnow?  Installs to a temporary folder and
# builds examples/embed there with pkg-config, with find_package and with one plain cc line over src/.
set -eu
build=$1
model=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

DESTDIR='' cmake --install "$build" --prefix "$tmp/usr" > "$tmp/install.log"
pc=$(dirname "$(find "$tmp/usr" -name minnow.pc)")

says() {
    "$1" "$model" "Hello" > "$tmp/out" || { echo "$2: the program failed" >&2; exit 1; }
    [ -s "$tmp/out" ] || { echo "$2: it says nothing" >&2; exit 1; }
    echo "ok: $2"
}

flags=$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$tmp/usr" --cflags --libs --static minnow)
# shellcheck disable=SC2086  # flags are words
cc -std=c11 -Wall -Wextra -Werror "$root/examples/embed/hello.c" $flags ${EMBED_FLAGS:-} -o "$tmp/hello-pc"
says "$tmp/hello-pc" pkg-config

cmake -S "$root/examples/embed" -B "$tmp/find" -DCMAKE_PREFIX_PATH="$tmp/usr" -DCMAKE_C_FLAGS="${EMBED_FLAGS:-}" > "$tmp/cmake.log"
cmake --build "$tmp/find" > "$tmp/make.log"
says "$tmp/find/hello" find_package

# shellcheck disable=SC2046
cc -O0 -std=gnu11 -D_GNU_SOURCE -ffp-contract=off -I"$root/include" -I"$root/src" "$root/examples/embed/hello.c" \
    $(find "$root/src/base" "$root/src/format" "$root/src/text" "$root/src/kernel" "$root/src/model" \
        "$root/src/backend" "$root/src/run" -name '*.c') \
    $(pkg-config --cflags --libs libutf8proc) -pthread -lm -o "$tmp/hello-cc"
says "$tmp/hello-cc" "one cc line"
