#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh [demo|fuzz] - make sure that what the build needs is there.
#
# Silent and quick when it is.  On Debian and its relatives the missing packages are installed, as
# root or through sudo; anywhere else it says what is missing and stops.
set -eu

missing=''
need_cmd() { command -v "$1" > /dev/null 2>&1 || missing="$missing $2"; }
need_lib() { pkg-config --exists "$1" 2> /dev/null || missing="$missing $2"; }

need_cmd cc gcc
need_cmd c++ g++
need_cmd make make
need_cmd cmake cmake
need_cmd ninja ninja-build
need_cmd python3 python3
need_cmd pkg-config pkg-config
if ! pkg-config --exists libutf8proc jansson libcurl libedit libarchive cmocka libpcre2-8 2> /dev/null; then
    need_lib libutf8proc libutf8proc-dev
    need_lib jansson libjansson-dev
    need_lib libcurl libcurl4-openssl-dev
    need_lib libedit libedit-dev
    need_lib libarchive libarchive-dev
    need_lib cmocka libcmocka-dev
    need_lib libpcre2-8 libpcre2-dev
fi
case "${1:-}" in
demo) python3 -m pip --version > /dev/null 2>&1 || missing="$missing python3-pip" ;;
fuzz) need_cmd clang clang; [ -n "$(ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a 2> /dev/null)" ] ||
      missing="$missing libclang-rt-dev" ;;
esac
[ -z "$missing" ] && exit 0

sudo=''
if command -v apt-get > /dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then sudo='env'; elif command -v sudo > /dev/null 2>&1; then sudo='sudo'; fi
fi
if [ -z "$sudo" ]; then
    echo "minnow needs these, by their Debian names:$missing" >&2
    echo "As root:  apt-get update && apt-get install -y --no-install-recommends$missing" >&2
    exit 69
fi
echo "installing:$missing" >&2
$sudo apt-get update -qq >&2
# shellcheck disable=SC2086  # a list of package names
$sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing ca-certificates >&2
