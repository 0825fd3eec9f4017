# What a newcomer types. `make help` lists it all.
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
DEMO := runs/demo

.PHONY: help packages python-venv program build run explore deb wheel test test-fast test-python-extras test-browser test-cluster hostile bench paper-report beyond-report docs fuzz format tidy asan tsan clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

packages:
	@scripts/packages scripts/packages.txt scripts/packages-test.txt

program: ## install what it needs, build the program at build/aurora with the Maze
	@scripts/packages
	@[ -f build/build.ninja ] || cmake --preset program
	@cmake --build build -j $(JOBS) --target aurora_program aurora_manual

python-venv:
	@scripts/python-venv

build: packages python-venv ## build everything: all tasks, tests, benchmarks
	@grep -qs AURORA_TESTS:BOOL=ON build/CMakeCache.txt || cmake --preset release
	@cmake --build build -j $(JOBS)

run: program ## build the program, then a demonstration on the Maze and its report
	@scripts/demo $(DEMO)

explore: program ## build the program, then a page on which the demonstration can be looked at
	@[ -f $(DEMO)/run.json ] || scripts/demo $(DEMO)
	@build/aurora explore $(DEMO) --open

# One test more than processors at a time: some wait more than they compute.
test: build ## build, then all tests
	@scripts/in-memory ctest --preset release -j $$(($(JOBS) + 1))

test-fast: build ## build, then the tests that take seconds
	@scripts/in-memory ctest --preset fast -j $$(($(JOBS) + 1))

test-python-extras: build ## build, then the Python package with Gymnasium, MPI, Dask, Ray, pyribs, UMAP, PyTorch; the tutorials
	@scripts/python-extras

test-browser: build ## build, then the page of aurora explore in a real Chromium
	@scripts/browser-test

hostile: build ## every attack of docs/reliability.md, under 15 minutes
	@scripts/in-memory scripts/hostile $(if $(KILLS),--kills $(KILLS))

test-cluster: build ## build, then MPI on three hosts and a study on a real Slurm, all on this machine (needs root, munge, slurm-wlm)
	@tests/cluster/mpi.py build/aurora $(if $(FULL),--full)
	@tests/cluster/slurm.py build/aurora

bench: build ## build, then measure every hot loop
	@scripts/bench

paper-report: program ## the paper's figures and claims from results/paper, in report-paper
	@build/aurora report results/paper --out report-paper

beyond-report: program ## everything beyond the paper against its variants, from results/beyond, in report-beyond
	@build/aurora report results/beyond --out report-beyond --against aurora-csc-uniform-10 \
	  --against aurora-csc-novelty-10 --against aurora-csc-surprise-10 --against hc-csc-uniform

docs: build ## build, then the documentation as a site, in build/docs-site
	@scripts/docs

deb: build ## Debian packages of the program, in build/
	@cd build && cpack -G DEB

wheel: packages ## the Python package in one file, for Python 3.10 and later, in build/wheels
	@scripts/wheel

asan: packages ## fast tests under the address and undefined-behaviour sanitizers
	@cmake --preset asan >/dev/null && cmake --build build-asan -j $(JOBS) && scripts/in-memory ctest --preset asan

tsan: packages ## fast tests under the thread sanitizer
	@cmake --preset tsan >/dev/null && cmake --build build-tsan -j $(JOBS) && scripts/in-memory ctest --preset tsan

fuzz: packages ## libFuzzer on every reader of files, SECONDS=60 of processor time each (needs clang)
	@command -v clang++ >/dev/null || { echo "make fuzz needs clang: apt-get install clang"; exit 1; }
	@scripts/in-memory scripts/fuzz $(or $(SECONDS),60)

format: ## format the sources in place
	@command -v clang-format >/dev/null || { echo "make format needs clang-format: apt-get install clang-format"; exit 1; }
	@scripts/format

tidy: build ## static analysis (of all but the libtorch engine, whose headers clang does not read)
	@command -v clang-tidy >/dev/null || { echo "make tidy needs clang-tidy: apt-get install clang-tidy"; exit 1; }
	@git ls-files 'aurora/*.cpp' 'apps/*.cpp' ':!*torch*' | xargs -P $(JOBS) -n 1 clang-tidy -p build --quiet --extra-arg=-Wno-unknown-warning-option

clean: ## remove everything that was built (results stay)
	@rm -rf build build-debug build-asan build-tsan build-fuzz build-pip
