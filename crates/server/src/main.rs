fn main() -> std::process::ExitCode {
    lapidary_server::run()
}
