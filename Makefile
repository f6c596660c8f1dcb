# The commands of the README. Each does all of its own set-up.

.PHONY: run test bench docs

# Serve the bundled demo vault over HTTP on loopback.
run:
	cargo run --release --package lapidary-server -- --demo --http

# Everything that CI runs.
test:
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	INSTA_UPDATE=no cargo test --workspace --locked
	cargo xtask docs --check
	tests/outside/run target/debug/lapidary

# Measure; the results are kept in benches/results/.
bench:
	cargo bench --package lapidary-server --bench wire
	cargo bench --package lapidary-note --bench parse | tee "benches/results/$$(date +%F)-$$(git rev-parse --short HEAD)-parse.txt"

# Write the generated references anew.
docs:
	cargo xtask docs
