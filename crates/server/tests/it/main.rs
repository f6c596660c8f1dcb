//! The server as a client sees it: the real binary, the reply on the wire, the bytes on disk.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests play the owner of the vault and other programs, and may fail loudly"
)]

mod access;
mod app;
mod app_editor;
mod approval;
mod attachments;
mod attacks;
mod bad_input;
mod batch;
mod circles;
mod command_line;
mod connectors;
mod crowd;
mod declarations;
mod doctor;
mod documents;
mod drop_in;
mod editor_race;
mod encryption;
mod event_streams;
mod file_defects;
mod file_scenarios;
mod guide;
mod harness;
mod hints;
mod hostile;
mod http;
mod install;
mod leaks;
mod lifecycle;
mod listings;
mod load;
mod local_doctor;
mod logging;
mod meaning;
mod memory;
mod models;
mod moved_parts;
mod next_steps;
mod notes;
mod oauth;
mod old_state;
mod operations;
mod other_servers;
mod overwrites;
mod pages;
mod pending;
mod periodic;
mod policy;
mod principals;
mod profiles;
mod prompts;
mod proposals;
mod protocol;
mod queries;
mod ranked;
mod reasons;
mod recipes;
mod remote_vaults;
mod resources;
mod rest;
mod rest_attacks;
mod scenarios;
mod search_notes;
mod searching;
mod skills;
mod stopping;
mod subscriptions;
mod telemetry;
#[cfg(target_os = "linux")]
mod terminal;
mod thrift;
mod tokens;
mod tools_list;
mod transport;
mod undo;
mod way_back;
mod web;
mod web_attacks;
mod whose_changes;

/// A test file that is not declared would never run.
#[test]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let source = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        // A folder without a module beside it holds other files.
        if entry.path().is_dir() && !entry.path().with_extension("rs").exists() {
            continue;
        }
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || source.contains(&format!("mod {module};")), "{name} is not declared");
    }
}
