//! The crate with access to the disk, under attack: odd files, links, full disks, other programs, many threads.
//!
//! No test here starts a process. One that is being started has every file of this process open, so an old file that is
//! replaced at that moment stays for a while; `tests/processes` has the tests that start some.

#![expect(clippy::disallowed_methods, reason = "tests play the other program")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod ahead;
mod backends;
mod faults;
#[cfg(unix)]
mod follow;
#[cfg(unix)]
mod following;
#[cfg(target_os = "linux")]
mod late;
#[cfg(unix)]
mod links;
mod listings;
#[cfg(unix)]
mod meanwhile;
mod misses;
mod model;
mod names;
mod races;
mod reads;
mod rules;
mod scenarios;
mod scratch;
mod sets;
#[cfg(unix)]
mod swaps;
mod writes;

#[test]
fn every_file_of_these_tests_is_declared_here() {
    let declared = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(module == "main" || declared.contains(&format!("\nmod {module};\n")), "`{name}` never runs");
    }
}
