# The project's commands. "make" alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION)
TOOLS    := $(CURDIR)/.cache/bin
FUZZTIME ?= 20s
IMAGE    ?= penstock:$(VERSION)
# For "speed": the brokers, the topic to use, made if missing, and its size.
BROKERS   ?= 127.0.0.1:9092
TOPIC     ?= planes
DOCUMENTS ?= 10000000
# Everything but the suites that need real servers.
unit      = $$(go list ./... | grep -v '^penstock/integration$$')

.PHONY: help build demo test test-unit test-integration race lint fmt tools bench speed fuzz images image clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/penstock
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/penstock ./cmd/penstock

demo: build ## the main job on embedded defaults, in one process
	bin/penstock demo

test: test-unit test-integration ## every test; integration says what it could not run

test-unit: ## unit and component tests under the race detector, and that the benchmarks run
	go test -race -shuffle=on -timeout 15m $(unit)
	go test -run '^$$' -bench . -benchtime 1x -timeout 15m $(unit)

# Verbose, or a passing package would keep to itself what it did not run.
test-integration: ## the suites on real servers (needs Docker)
	go test -count=1 -v -timeout 40m ./integration/...

race: ## every package's tests but integration, three times under the race detector
	go test -race -shuffle=on -count=3 -timeout 30m $(unit)

lint: tools ## golangci-lint as .golangci.yml says, and shellcheck where it is installed
	$(TOOLS)/golangci-lint run ./...
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run integration/images/build integration/images/kafka/run; fi

fmt: tools ## format the Go code
	$(TOOLS)/gofumpt -w $$(git ls-files '*.go')

bench: ## all benchmarks
	go test -run '^$$' -bench . -benchmem $(unit)

# See docs/performance.md, also for real servers and the memory test.
speed: build ## speed beside the bare loop; needs Kafka at BROKERS
	go build -trimpath -o bin/speed ./bench/speed
	bin/speed fill -brokers $(BROKERS) -topic $(TOPIC) -documents $(DOCUMENTS)
	bin/speed compare -brokers $(BROKERS) -topic $(TOPIC)

# go test fuzzes one target of one package at a time.
fuzz: ## each fuzz target for FUZZTIME (20s)
	@find . -name '*_test.go' -not -path './.cache/*' | sort | while read -r file; do \
	  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file" | while read -r target; do \
	    echo "== $$target ($$(dirname "$$file"))"; \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "./$$(dirname "$$file")" </dev/null; \
	  done; \
	done

images: ## the integration suites' own images, from Debian and Maven
	integration/images/build

# The base images come from a registry unless they are given: see Dockerfile.
image: ## Penstock's own image, IMAGE=penstock:VERSION; more in BUILD_ARGS
	docker build --build-arg VERSION=$(VERSION) $(BUILD_ARGS) -t $(IMAGE) .

clean: ## remove what was built, the cached tools too
	rm -rf bin dist .cache coverage.out

tools: $(TOOLS)/stamp

# Both tools in one build, in the versions that tools/go.mod pins.
$(TOOLS)/stamp: tools/go.mod tools/go.sum
	cd tools && go build -trimpath -ldflags '-s -w' -o $(TOOLS)/ tool
	@touch $@
