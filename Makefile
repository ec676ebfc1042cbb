# SPDX-License-Identifier: Apache-2.0
#
# Makefile - the front door.  CMake describes the build; these are the everyday commands.

BUILD ?= build
JOBS  ?= $(shell nproc 2>/dev/null || echo 2)
TEST  = ctest --test-dir $(1) -j$(JOBS) --output-on-failure
# $(call build,folder,preset): configure once; later the build notices changes by itself
build = { test -f $(1)/build.ninja || cmake --preset $(2) -B $(1); } && cmake --build $(1) -j$(JOBS) >&2

.PHONY: all deps demo test check lint fmt asan ubsan tsan fuzz fault cov bench man install help clean
.DEFAULT_GOAL := all

all: deps            ## build the library and the program, build/minnow
	@$(call build,$(BUILD),release)

deps:
	@tools/deps.sh

demo: all            ## a real model answers (MODEL=file.gguf PROMPT="..." to choose)
	@MINNOW=$(BUILD)/minnow tools/demo.sh "$(MODEL)" "$(PROMPT)"

test: all            ## every test that needs no network
	@$(call TEST,$(BUILD))

check: all           ## every kernel of this processor against its scalar specification
	@$(BUILD)/tests/mncheck $(ARGS)

lint: all            ## floors, banned functions, symbols, headers
	@python3 tools/floors.py
	@python3 tools/lint.py --build $(BUILD)

fmt:                 ## clang-format what git sees as changed, in place
	@git clang-format --extensions c,h || git diff --name-only HEAD -- '*.c' '*.h' | xargs -r clang-format -i

asan ubsan: deps     ## the tests under a sanitizer
	@$(call build,build-$@,$@)
	@$(call TEST,build-$@)

tsan: deps           ## the tests that use threads, under the thread sanitizer
	@$(call build,build-$@,$@)
	@$(call TEST,build-$@) -R 'threads|laws|generate|session|context|cli_test_commands'

fuzz: deps           ## run one fuzzer: make fuzz T=gguf [SECONDS=60]
	@test -n "$(T)" || { echo "make fuzz T=<name>; there are: $$(ls tests/fuzz/fuzz_*.c | sed 's|.*fuzz_||;s|\.c||' | tr '\n' ' ')"; exit 2; }
	@tools/deps.sh fuzz
	@test -f build-fuzz/build.ninja || cmake --preset fuzz -B build-fuzz
	@cmake --build build-fuzz -j$(JOBS) --target fuzz_$(T)
	@mkdir -p build-fuzz/found/$(T)
	@build-fuzz/tests/fuzz_$(T) -max_total_time=$(or $(SECONDS),60) -timeout=10 build-fuzz/found/$(T) $(wildcard tests/fuzz/corpus/$(T))

fault: all           ## allocation and input/output failures
	@ctest --test-dir $(BUILD) -L fault -j$(JOBS) --output-on-failure

cov: deps            ## line coverage, as text
	@$(call build,build-cov,cov)
	@$(call TEST,build-cov)
	@python3 tools/coverage.py build-cov

bench: all           ## measure this machine (MODEL=file.gguf)
	@$(BUILD)/minnow-bench "$(MODEL)"

man: all             ## the manual page, build/minnow.1
	@$(BUILD)/minnow --man > $(BUILD)/minnow.1 && echo $(BUILD)/minnow.1

install: all         ## library, headers, program (DESTDIR, PREFIX)
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:               ## remove what was built
	@rm -rf build build-asan build-ubsan build-tsan build-fuzz build-cov

help:                ## this list
	@sed -n 's/^\([a-z][a-z ]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 20
