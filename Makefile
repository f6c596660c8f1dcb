# The commands of the README. Each does all of its own set-up.

.PHONY: run test deny lint-workflows bench fuzz soak docs

# Serve the bundled demo vault over HTTP on loopback.
run:
	cargo run --release --package lapidary-server -- --demo --http

# Everything that CI runs.
test:
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	INSTA_UPDATE=no BOLERO_RANDOM_SEED=1 BOLERO_RANDOM_ITERATIONS=200 PROPTEST_RNG_SEED=1 cargo test --workspace --locked
	cargo xtask docs --check
	tests/outside/run target/debug/lapidary

# Look for faults in the parsers, the edits of notes and the patterns, SECONDS long for each target. `make test` has a fixed seed, so
# that it does not fail by chance, and a fixed number of runs, so that a fast machine does not try other inputs; this one has not.
# Nor has `cargo test`: whoever runs that looks for counterexamples to the properties where nobody has looked yet.
SECONDS ?= 60
fuzz:
	BOLERO_RANDOM_TEST_TIME_MS=$(SECONDS)000 BOLERO_RANDOM_ITERATIONS=1000000000 \
		cargo test --release --package lapidary-note --package lapidary-query \
			--test fuzz_edits --test structure --test fuzz_pattern --test fuzz_jsonlogic --test fuzz_search

# The long forms of all tests that have one, SECONDS long each, and a table: crashes, power cuts, races, faults, hostile calls,
# memory, rule files, fuzzing. `tests/soak 1200 memory` runs one of them.
soak:
	tests/soak $(SECONDS)

# Measure; the results are kept in benches/results/.
bench:
	command -v rg || apt-get install --yes ripgrep
	command -v valgrind || apt-get install --yes valgrind
	cargo bench --package lapidary-server --bench instructions
	cargo bench --package lapidary-server --bench vault
	cargo bench --package lapidary-server --bench wire
	cargo bench --package lapidary-server --bench bytes
	cargo bench --package lapidary-vault --bench commit
	cargo bench --package lapidary-note --bench parse | tee "benches/results/$$(date +%F)-$$(git rev-parse --short HEAD)-parse.txt"

# Write the generated references anew.
docs:
	cargo xtask docs

# Licences, bans, sources and advisories of all dependencies. Needs a network for the advisory database.
deny:
	cargo deny --version || cargo install --locked cargo-deny@0.18.5
	cargo deny check

# Check the GitHub workflows.
lint-workflows:
	python3 -m venv .cache/zizmor
	.cache/zizmor/bin/pip install --quiet zizmor==1.32.0
	.cache/zizmor/bin/zizmor --offline .github/workflows
