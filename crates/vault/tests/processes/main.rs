//! The crate with access to the disk, and other processes: servers that are killed, disks that are mounted, programs that
//! save.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests play the other program")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod crashes;
mod disks;
mod elsewhere;
#[cfg(target_os = "linux")]
mod humans;
mod random;
#[path = "../it/scenarios.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod scenarios;
#[path = "../it/scratch.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod scratch;
mod second_names;
mod trashes;

#[test]
fn every_file_of_these_tests_is_declared_here() {
    let declared = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/processes")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(module == "main" || declared.contains(&format!("\nmod {module};\n")), "`{name}` never runs");
    }
}
