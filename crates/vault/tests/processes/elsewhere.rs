//! Conditions that a process cannot set for one of its threads: a test that needs them runs again, alone, in a separate
//! process.

use std::process::Command;

/// A way to start a process under other conditions.
pub(crate) struct Elsewhere {
    /// A program and its arguments; the command to run is appended.
    wrapper: &'static [&'static str],
}

/// Private mounts that end with the process.
pub(crate) const OWN_MOUNTS: Elsewhere = Elsewhere { wrapper: &["unshare", "--map-root-user", "--mount"] };

/// The same user, except for root, who loses the power to bypass permissions.
pub(crate) const NO_PRIVILEGES: Elsewhere = Elsewhere { wrapper: &["unshare", "--map-user=1000", "--map-group=1000"] };

/// One gigabyte of addresses.
pub(crate) const LITTLE_MEMORY: Elsewhere = Elsewhere { wrapper: &["prlimit", "--as=1073741824"] };

/// As few open files as any system allows.
pub(crate) const FEW_FILES: Elsewhere = Elsewhere { wrapper: &["prlimit", "--nofile=256"] };

const MARK: &str = "LAPIDARY_TEST_IS_ELSEWHERE";

impl Elsewhere {
    /// Whether this is the process with the conditions. If not, starts it for this one test and asserts that it
    /// succeeds; if the conditions are unavailable, says so and lets the test pass.
    pub(crate) fn reached<Test>(&self, _: Test) -> bool {
        if std::env::var_os(MARK).is_some() {
            return true;
        }
        let [program, arguments @ ..] = self.wrapper else { unreachable!("a wrapper is a program") };
        let start = || {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        match start().arg("true").output() {
            Ok(output) if output.status.success() => {}
            problem => {
                eprintln!("skipped: `{}` does not work here ({problem:?})", self.wrapper.join(" "));
                return false;
            }
        }
        // A function's type is named like the function, prefixed with the name of this binary.
        let name = std::any::type_name::<Test>().split_once("::").unwrap().1;
        let output = start()
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(MARK, "1")
            .output()
            .unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains("1 passed"), "elsewhere:\n{said}");
        false
    }
}
