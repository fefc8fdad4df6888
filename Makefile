# The commands of the README and a few more. CMake does the work (CMakePresets.json).
#
#   make demo              install what is missing, build, run the heat equation, draw the overlap
#   make test              install what is missing, build, run every test
#   make install PREFIX=…  build and install (default PREFIX: /usr/local; DESTDIR is honoured)
#   make packages          build Debian packages, and try them in a fresh Debian (minutes, as root)
#   make site              the documents as a site in build/site/html (needs PyPI, once)
#   make format            rewrite the sources as .clang-format says
#   make clean             remove build/
#
# `make demo` and `make install` take what an earlier build left in build/release. Without one, each
# installs and builds only what it needs, in build/demo and build/package.

PREFIX ?= /usr/local
PRESET ?= release
# How many tests run at the same time: one more than processors, because many wait for most of their
# time. Tests that need the whole machine are marked RUN_SERIAL and have the label `alone`.
JOBS ?= $(shell expr $$(nproc) + 1)
# `make test` leaves out the tests with these labels (a regular expression); empty: none.
WITHOUT ?=
# With it, what begins from precompiled headers is in ccache too.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros,include_file_mtime,include_file_ctime
CCACHE := $(if $(shell command -v ccache),$(foreach L,C CXX,-DCMAKE_$(L)_COMPILER_LAUNCHER=ccache))
# $(call built,PRESET): release if that was built, else PRESET.
built = $(if $(wildcard build/release/bin/mpiexec),release,$(1))

.PHONY: all build compile deps demo test install packages site format clean
all: build

# What is installed for which purpose: scripts/install-deps.
PURPOSE ?= test
deps:
	@scripts/install-deps $(PURPOSE)

build: deps
	$(compile)

compile:
	$(compile)

define compile
	@cmake --preset $(PRESET) --log-level=WARNING $(CCACHE) >/dev/null
	@cmake --build --preset $(PRESET) $(if $(TARGETS),--target $(TARGETS))
endef

# What draws is installed while the compiler runs. Not as root, all that is missing is named.
demo: PRESET := $(call built,demo)
demo:
	@scripts/install-deps $(if $(filter 0,$(shell id -u)),compile,demo)
	@$(MAKE) --no-print-directory -j2 deps compile PURPOSE=demo PRESET=$(PRESET) \
	  TARGETS="heat mpiexec"
	@scripts/demo build/$(PRESET)

test: build
	@ctest --preset $(PRESET) -j $(JOBS) $(if $(WITHOUT),-LE '$(WITHOUT)')

install: PRESET := $(call built,package)
install: TARGETS := installed
install: PURPOSE := install
install: build
	@DESTDIR="$(DESTDIR)" cmake --install build/$(PRESET) --strip --prefix "$(PREFIX)"

packages:
	@scripts/install-deps package
	@scripts/make-packages $(if $(call built,),build/release)

# mkdocs and its theme come from PyPI into a folder of their own; the site needs no network.
site: build/site/tools/bin/mkdocs
	@python3 tools/doc_pages.py --site build/site/pages
	@NO_MKDOCS_2_WARNING=1 $< build --quiet --strict
	@if grep -rlE --include='*.html' '<(script|link|img)[^>]*(src|href)="?https?:' build/site/html; \
	  then echo "these pages need the network"; exit 1; fi
	@echo "the site is in build/site/html: open index.html"

build/site/tools/bin/mkdocs:
	@python3 -m venv build/site/tools
	@build/site/tools/bin/pip install --quiet 'mkdocs-material>=9.5,<10' 'mkdocs>=1.6,<2'

format:
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format-19 -i

clean:
	@rm -rf build
