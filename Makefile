# Every target makes its own set-up: Python 3.11 or newer, node 20 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BROWSER := tests/browser/node_modules/.package-lock.json
ESLINT := tests/eslint/node_modules/.package-lock.json
WEBR := tests/webr/node_modules/.package-lock.json
OIDC := tests/oidc/node_modules/.package-lock.json
BLINDRSA := tests/blindrsa/node_modules/.package-lock.json
LOAD := tests/bench/load/node_modules/.package-lock.json
S3 := tests/s3/.venv/.installed
OTREE := tests/otree/.venv/.installed
CLIENTS := tests/openapi/.venv/.installed tests/openapi/node_modules/.package-lock.json
XFORMS := tests/xforms/.venv/.installed tests/xforms/node_modules/.package-lock.json
SURVEYJS3 := tests/surveyjs3/node_modules/.package-lock.json
SURVEYJS := tests/bench/surveyjs/node_modules/.package-lock.json

.PHONY: demo test test-fast check translations slow mutants bench docs dist lock sbom clean
.DEFAULT_GOAL := test

# The machine's own pip fills the new environment: to unpack one there first takes a third of the time, and is done only
# where there is none. Quiet pip shows no progress, so here it is not quiet. What is never imported is not compiled.
$(VENV)/.base: requirements-demo.lock pyproject.toml
	@echo "Installing $$(grep -c '==' $<) packages into $(VENV) ..."
	$(PYTHON) -m venv --without-pip $(VENV)
	@pip=$$($(PYTHON) -c "import pip; print(pip.__path__[0])" 2> /dev/null)/__pip-runner__.py; \
	[ -f "$$pip" ] || { pip="-m pip"; $(BIN)/python -m ensurepip > /dev/null; }; set -ex; \
	$(BIN)/python $$pip install --disable-pip-version-check --no-compile --require-hashes -r $<; \
	$(BIN)/python $$pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.installed: requirements.lock $(VENV)/.base
	@echo "Installing the rest of $$(grep -c '==' $<) packages into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

$(VENV)/.slow: requirements-slow.lock $(VENV)/.installed
	@echo "Installing the $$(grep -c '==' $<) packages of the long tests into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

tests/%/node_modules/.package-lock.json: tests/%/package-lock.json
	cd tests/$* && npm ci --silent --no-audit --no-fund
	touch $@

tests/%/.venv/.installed: tests/%/requirements.lock
	$(PYTHON) -m venv tests/$*/.venv
	tests/$*/.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

demo: $(VENV)/.base  ## 6,366 real answers, randomized, collected, estimated, shown
	$(BIN)/sottovoce demo $(ARGS)

# --timeout is not heard where the interpreter itself is stuck: its process is ended then, and says where it stood.
STUCK := -o faulthandler_timeout=1000 -o faulthandler_exit_on_timeout=true

# Pytest rewrites the assertions of every module: without bytecode on the disk, each process would do it anew.
unexport PYTHONDONTWRITEBYTECODE

# A test kills processes, never the machine: files in memory are as good as on a disk, and no commit waits for one.
MEMORY := $(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'NR == 2 { print $$4 }')" -gt 4000000 ] && echo /dev/shm)

CHECK := $(BIN)/ruff check . && $(BIN)/mypy && \
    tests/eslint/node_modules/.bin/eslint --config tests/eslint/eslint.config.mjs aggregator client tests

# Style and types are checked beside the tests: alone they would keep one processor of two.
test: $(VENV)/.installed $(BROWSER) $(OIDC) $(BLINDRSA) $(ESLINT)  ## everything but the long runs
	@($(CHECK)) > $(VENV)/check.log 2>&1 & checking=$$!; \
	$(if $(MEMORY),PYTEST_DEBUG_TEMPROOT=$(MEMORY)) $(BIN)/python -m pytest -p tests.forks --processes 5 -m "not slow" --timeout 900 \
	    -o tmp_path_retention_count=1 $(STUCK) $(ARGS); tested=$$?; \
	wait $$checking; checked=$$?; cat $(VENV)/check.log; exit $$((tested + checked))

test-fast: $(VENV)/.installed  ## unit, vectors and property: no node, no server, no page of the studio
	$(BIN)/python -m pytest -q -p tests.forks --processes 2 -m "not slow and not external" tests/unit tests/vectors tests/property \
	    --ignore tests/unit/aggregator/studio --ignore-glob "*/audit/test_javascript_*" $(ARGS)

check: $(VENV)/.installed $(ESLINT)  ## style and types
	$(CHECK)

translations: $(VENV)/.installed  ## the texts of every language beside the English ones
	$(BIN)/python -m pytest -q tests/unit/client/test_catalogues.py tests/unit/client/test_words.py tests/unit/aggregator/i18n \
	    tests/unit/aggregator/http/test_error_pages.py $(ARGS)

slow: $(VENV)/.slow $(BROWSER) $(WEBR) $(S3) $(OTREE) $(CLIENTS) $(XFORMS) $(SURVEYJS3)  ## the long runs; Firefox, WebKit and R: apt-get install firefox-esr webkit2gtk-driver xvfb r-cran-haven
	$(BIN)/python -m pytest -m slow -n 2 --dist loadgroup $(ARGS)

mutants: $(VENV)/.slow $(BROWSER) $(OIDC) $(BLINDRSA)  ## which of 119 mutants the tests find; for a night
	$(BIN)/python -m tests.mutation.run $(ARGS)

bench: $(VENV)/.slow $(BROWSER) $(SURVEYJS) $(LOAD)  ## figures, no verdicts
	$(BIN)/python -m tests.bench $(ARGS)

docs: $(VENV)/.slow  ## site/: the documentation as a site, built without a network
	$(BIN)/python docs/making/site.py $(ARGS)

dist: $(VENV)/.installed  ## dist/: wheel, source archive and npm package; the same bytes each time
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/sottovoce question static dist/question > /dev/null
	install -m 644 LICENSE dist/question/
	npm pack --silent --pack-destination dist ./dist/question
	rm -rf dist/question
	cp docs/try.html dist/
	chmod 644 dist/*

lock:  ## resolve the pinned versions anew; needs uv
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --extra aggregator --extra slow --no-emit-package sottovoce -o requirements-slow.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --extra aggregator --extra test --no-emit-package sottovoce -c requirements-slow.lock -o requirements.lock pyproject.toml
	printf 'editables\nhatchling\n' | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	    --no-annotate --extra aggregator --no-emit-package sottovoce -c requirements.lock -o requirements-demo.lock pyproject.toml -
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    -o tests/s3/requirements.lock tests/s3/requirements.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    -o tests/otree/requirements.lock tests/otree/requirements.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    -o tests/openapi/requirements.lock tests/openapi/requirements.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    -o tests/xforms/requirements.lock tests/xforms/requirements.in

sbom: $(VENV)/.slow  ## sbom.json: the program and every pinned package, with hashes (CycloneDX); the page's scripts bring none
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --validate -o sbom.json requirements-slow.lock

clean:
	rm -rf $(VENV) tests/s3/.venv tests/otree/.venv tests/xforms/.venv tests/xforms/node_modules sbom.json site dist tests/browser/node_modules tests/eslint/node_modules tests/oidc/node_modules tests/blindrsa/node_modules tests/webr/node_modules tests/bench/surveyjs/node_modules tests/bench/load/node_modules
