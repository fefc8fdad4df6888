# The commands of the README and a few more. CMake does the work (CMakePresets.json).
#
#   make demo              install what is missing, build, run the heat equation, draw the overlap
#   make test              install what is missing, build, run every test
#   make install PREFIX=…  build and install (default PREFIX: /usr/local; DESTDIR is honoured)
#   make format            rewrite the sources as .clang-format says
#   make clean             remove build/

PREFIX ?= /usr/local
PRESET ?= release
# How many tests run at the same time; tests that need the whole machine are marked RUN_SERIAL.
JOBS ?= $(shell nproc)
CCACHE := $(if $(shell command -v ccache),$(foreach L,C CXX,-DCMAKE_$(L)_COMPILER_LAUNCHER=ccache))

.PHONY: all build deps demo test install format clean
all: build

deps:
	@scripts/install-deps

build: deps
	@cmake --preset $(PRESET) --log-level=WARNING $(CCACHE) >/dev/null
	@cmake --build --preset $(PRESET) $(if $(TARGETS),--target $(TARGETS))

demo: TARGETS = heat mpiexec
demo: build
	@scripts/demo build/$(PRESET)

test: build
	@ctest --preset $(PRESET) -j $(JOBS)

install:
	@$(MAKE) --no-print-directory build PRESET=package
	@DESTDIR="$(DESTDIR)" cmake --install build/package --prefix "$(PREFIX)"

format:
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format-19 -i

clean:
	@rm -rf build
