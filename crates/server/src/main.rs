//! The `lapidary` binary.

fn main() -> std::process::ExitCode {
    lapidary_server::run()
}
