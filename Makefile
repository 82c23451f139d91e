# Works from any directory and in a path with spaces: everything runs from the folder of this file.
HERE := $(shell cd "$$(dirname '$(strip $(MAKEFILE_LIST))')" && pwd)
PYTHON ?= python3
VENV := .venv/bin/python
.ONESHELL:
.SHELLFLAGS := -euc
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo env check docs lint stubs test test-deep test-gpu test-oldest test-peers asan tsan bench web wheels clean

help:  ## show what can be made
	@cd "$(HERE)"
	grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo:  ## install into .venv and write a first report
	@cd "$(HERE)"
	"$(PYTHON)" tools/environment.py --extra app
	$(VENV) -m lowdim.app compare swiss-roll

env:  ## the environment of the developers
	@cd "$(HERE)"
	"$(PYTHON)" tools/environment.py --venv .venv-test --extra test --editable

check: env  ## seconds, for the inner loop: make check FILES="src/lowdim/spectral/isomap.py" (none: what differs from the last commit)
	@cd "$(HERE)"
	.venv-test/bin/python tools/check.py $(FILES)

lint: env  ## style, types, layers, spelling
	@cd "$(HERE)"
	bash tools/lint.sh .venv-test/bin/python

stubs: env  ## write the types of the compiled core again, after its signatures changed
	@cd "$(HERE)"
	.venv-test/bin/python tools/make_stubs.py

test: env  ## lint and the whole suite, within 9 minutes on two idle cores
	@cd "$(HERE)"
	bash tools/lint.sh .venv-test/bin/python
	HYPOTHESIS_PROFILE=quick bash tools/test.sh .venv-test/bin/python -m "not deep"

test-deep: env asan tsan test-oldest  ## what takes minutes: many examples, memory, sanitizers, oldest dependencies
	@cd "$(HERE)"
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HYPOTHESIS_PROFILE=deep LOWDIM_TEST_SECONDS=120 .venv-test/bin/python -m pytest -n 2 --durations=25

test-gpu: env  ## the tests that need a GPU, and the tables of docs/gpu.md from it
	@cd "$(HERE)"
	.venv-test/bin/python -m pytest -m gpu -n 0 -p no:randomly tests/_core/gpu
	.venv-test/bin/python -m benchmarks.gpu --write docs/gpu.md

test-oldest:  ## the suite with the oldest dependencies the package declares
	@cd "$(HERE)"
	"$(PYTHON)" tools/environment.py --venv .venv-oldest --extra test --editable --constraints tools/oldest.txt
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HYPOTHESIS_PROFILE=quick LOWDIM_TEST_SECONDS=30 .venv-oldest/bin/python -m pytest -n 2 -m "not deep"

test-peers:  ## tests of umap-learn and openTSNE on our UMAP and t-SNE: make test-peers SOURCES=folder (holding umap-learn/umap/tests, openTSNE/tests)
	@cd "$(HERE)"
	"$(PYTHON)" tools/environment.py --venv .venv-peers --extra test --editable
	.venv-peers/bin/python -m pip install --quiet -c constraints.txt umap-learn==0.5.12 openTSNE==1.0.4
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LOWDIM_TEST_SECONDS=120 LOWDIM_PEER_TESTS="$(SOURCES)" .venv-peers/bin/python -m pytest -n 2 --dist loadfile -p no:randomly tests/peers/umap_learn tests/peers/open_tsne

asan: env  ## kernel tests under address and undefined-behaviour sanitizers, at every vector width of the machine
	@cd "$(HERE)"
	bash tools/sanitize.sh .venv-test/bin/python address

tsan: env  ## kernel tests under the thread sanitizer
	@cd "$(HERE)"
	bash tools/sanitize.sh .venv-test/bin/python thread

web:  ## build the script of the report page again (needs node); its result is committed
	@cd "$(HERE)/web"
	npm ci
	npm run build

wheels:  ## sdist, wheel and list of components in dist/, built and checked as for a release
	@cd "$(HERE)"
	bash tools/wheels.sh "$(PYTHON)"

docs: env  ## the site, in docs/_build/html; a warning is an error, nothing is fetched from a network, readers' searches are asked (needs Chromium)
	@cd "$(HERE)"
	.venv-test/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	.venv-test/bin/python tools/check_site.py docs/_build/html
	.venv-test/bin/python tools/look_at_site.py docs/_build/html --ask

bench: env  ## measure beside the peers that are installed: make bench CASES="pca isomap" (LOWDIM_DATA: folder of data sets)
	@cd "$(HERE)"
	.venv-test/bin/python -m benchmarks $(CASES)

clean:  ## remove everything that was made
	@cd "$(HERE)"
	rm -rf .venv .venv-test .venv-oldest .venv-peers build dist docs/_build docs/_pictures docs/reference/generated docs/reference/lists lowdim-report-*
