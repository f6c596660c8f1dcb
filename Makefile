# The commands of the README. Each does all its own setup.

.PHONY: run test deny lint-workflows bench fuzz soak docs site packages

# Serve the bundled demo vault over HTTP on loopback.
run:
	cargo run --release --package lapidary-server -- --demo --http

# Everything that CI runs. Every part builds with the features of the whole workspace and its tests: with those of one package, which
# `cargo run --package` takes, nearly everything would have to be built again.
test: export INSTA_UPDATE = no
test: export BOLERO_RANDOM_SEED = 1
test: export BOLERO_RANDOM_ITERATIONS = 200
test: export PROPTEST_RNG_SEED = 1
# Twice the cores: half of the time of a test is waiting, for a disk to sync, for a process or for a clock.
test: export RUST_TEST_THREADS = $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
test:
	@tests/timed --start
	tests/timed formatting cargo fmt --check
	tests/timed clippy cargo clippy --workspace --all-targets --locked -- -D warnings
	tests/timed building cargo build --workspace --bins --tests --examples --locked
	tests/timed tests cargo test --workspace --locked
	tests/timed references target/debug/xtask docs --check
	tests/timed 'commands of the documents' tests/documents target/debug/lapidary
	tests/timed 'shells and terminal' tests/terminals target/debug/lapidary
	tests/timed 'package files' packages/check stand-in files script
	tests/timed 'outside clients and recipes' tests/beside tests/outside/run target/debug/lapidary -- tests/recipes
	@tests/timed --table

# Fuzz the parsers, the edits of notes and the patterns, SECONDS per target. Unlike `make test`, this has no fixed seed
# and no fixed number of runs (there they keep a run from failing by chance or depending on the speed of the machine).
# Plain `cargo test` has neither, so it looks for new counterexamples.
SECONDS ?= 60
fuzz:
	BOLERO_RANDOM_TEST_TIME_MS=$(SECONDS)000 BOLERO_RANDOM_ITERATIONS=1000000000 \
		cargo test --release --package lapidary-note --package lapidary-query --package lapidary-dataview --package lapidary-bases \
			--test fuzz_edits --test structure --test fuzz_pattern --test fuzz_jsonlogic --test fuzz_search \
			--test fuzz_dataview --test fuzz_bases

# Run the long form of every test that has one, SECONDS each, and print a table: crashes, power cuts, races, faults,
# hostile calls, memory, leaks, rule files, laws, fuzzing. `tests/soak 1200 memory` runs one of them.
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
	cargo bench --package lapidary-vault --bench judged
	for features in default narrow; do echo "$$features:"; cargo bench --quiet --package lapidary-meaning --bench vectors --features "$$features"; done \
		| tee "benches/results/$$(date +%F)-$$(git rev-parse --short HEAD)-vectors.txt"
	cargo bench --package lapidary-note --bench parse | tee "benches/results/$$(date +%F)-$$(git rev-parse --short HEAD)-parse.txt"

# Regenerate the references.
docs:
	cargo xtask docs

# Build the documents as a site in target/site; broken links are errors.
site:
	.github/site.sh

# Build every package from a release build for this machine, and try each as people would: install script, npm, PyPI, .mcpb.
# Needs Node with npm and, the first time, a network for the official tool of .mcpb.
packages:
	cargo build --release --locked --package lapidary-server
	packages/check target/release/lapidary

# Licences, bans, sources and advisories of all dependencies. Needs a network for the advisory database.
deny:
	cargo deny --version || cargo install --locked cargo-deny@0.18.5
	cargo deny check

# Check the GitHub workflows.
lint-workflows:
	python3 -m venv .cache/zizmor
	.cache/zizmor/bin/pip install --quiet zizmor==1.32.0
	.cache/zizmor/bin/zizmor --offline .github/workflows
