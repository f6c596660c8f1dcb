//! The same program with the fixtures of the conformance suite, under a separate name: it is never taken for the real
//! one.

fn main() -> std::process::ExitCode {
    lapidary_server::run()
}
