//! Accepts a changed tool, reason or setting in one step: its formatting, its golden definition and its place in the references.
//! Whether the change is right is for the reader of the diff to say.

use std::{path::Path, process::Command};

/// The tests that write or check what a release contains: definitions of tools, messages of reasons, examples, and which
/// requests find a tool, which every word of a description has a part in.
const TESTS: [&str; 4] = ["tools::tests::", "tests::reasons::", "examples::", "find_tool::"];

/// Formats, accepts the snapshots and runs the examples. Returns whether all of that succeeded.
pub(crate) fn accept(root: &Path) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = |arguments: &[&str]| {
        let status = Command::new(&cargo).args(arguments).env("INSTA_UPDATE", "always").current_dir(root).status();
        match status {
            Ok(status) => status.success(),
            Err(error) => {
                eprintln!("cargo {}: {error}", arguments.join(" "));
                false
            }
        }
    };
    // With `--workspace`, not with one package after another: each set of features would be built separately.
    // Only the tests are quiet: the first time, building takes minutes.
    let tests = [&["test", "--workspace", "--no-fail-fast", "--lib", "--", "--quiet"], &TESTS[..]].concat();
    run(&["fmt"]) && run(&tests)
}
