# One command each. `make check` is what must be green before a commit.

GO    ?= go
TOOL   = $(GO) tool -modfile=tools/go.mod
GOFILES = $(shell git ls-files -co --exclude-standard '*.go')
CROSS  = linux/arm64 darwin/arm64 windows/amd64
FUZZTIME ?= 30s
ROUNDS ?= 200

.PHONY: check format lint cross test bench crash fuzz build hooks

build: ## build the static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o hardshell ./cmd/hardshell

check: format lint cross test ## everything

format: ## refuse files that gofmt would change
	@out=$$(gofmt -l $(GOFILES)); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi

lint: ## vet and staticcheck
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

cross: ## compile for the other platforms, tests too
	@for p in $(CROSS); do echo "build $$p"; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./... && \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit 1; done

test: ## all tests with the race detector
	$(GO) test -race ./...

bench: ## the figures of docs/performance.md
	$(GO) test -run '^$$' -bench . -benchtime 1x ./bench
	$(GO) run ./cmd/hardshell bench

crash: ## kill harnesses and hosts at random moments, ROUNDS times each
	HARDSHELL_CRASH=$(ROUNDS) $(GO) test -count=1 -timeout 60m -v ./crash

fuzz: ## every fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

hooks: ## check before each commit of this clone
	printf '#!/bin/sh\nexec make format lint\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
