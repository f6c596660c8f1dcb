//! An editor that runs by itself beside the server, as Obsidian's does: it reads a note, watches it, and saves in place a while after
//! the last keystroke. What it saves and what is written here race, and nothing of either is lost.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{Read, Seek, Write},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, patience};

/// Two seconds of the app.
const UNTIL_SAVED: Duration = Duration::from_millis(20);
/// How often it looks whether the file has changed.
const WATCHED: Duration = Duration::from_millis(2);
const SAVES: usize = 40;

struct RunningEditor {
    path: PathBuf,
    /// The text as it was last read or saved, and the one on the screen.
    base: String,
    shown: String,
}

impl RunningEditor {
    /// Keystrokes that are not saved go onto a text that another program wrote.
    fn take_over(&mut self, found: String) {
        if found != self.base {
            let typed = self.shown.strip_prefix(self.base.as_str()).unwrap_or_default().to_owned();
            self.shown = format!("{found}{typed}");
            self.base = found;
        }
    }

    fn watch(&mut self) {
        // For a moment a file that is being replaced may not be there.
        if let Ok(found) = std::fs::read_to_string(&self.path) {
            self.take_over(found);
        }
    }

    /// In place: what is in the file that it opened is compared, and then replaced through the same handle.
    fn save(&mut self) {
        let Ok(mut file) = File::options().read(true).write(true).open(&self.path) else { return };
        let mut found = String::new();
        file.read_to_string(&mut found).unwrap();
        self.take_over(found);
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(self.shown.as_bytes()).unwrap();
        self.base.clone_from(&self.shown);
    }

    fn run(mut self) -> Vec<String> {
        let mut typed = Vec::new();
        for number in 0..SAVES {
            let line = format!("typed-{number:03}");
            self.shown += &format!("{line}\n");
            typed.push(line);
            let last_keystroke = Instant::now();
            while last_keystroke.elapsed() < UNTIL_SAVED {
                self.watch();
                std::thread::sleep(WATCHED);
            }
            self.save();
        }
        typed
    }
}

/// Every word that is in the note, or in a version that can be brought back.
fn kept(vault: &Vault, server: &mut Server) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    let mut keep = |text: &str| kept.extend(text.split_whitespace().map(str::to_owned));
    keep(&String::from_utf8(vault.read("Note.md")).unwrap());
    let mut before = Value::Null;
    loop {
        let mut page = json!({ "path": "Note.md", "limit": 200 });
        if before.is_string() {
            page["before"] = before;
        }
        let listed = server.done("checkpoint_list", page);
        for checkpoint in listed["checkpoints"].as_array().unwrap() {
            let version = json!({ "id": checkpoint["id"], "path": "Note.md" });
            let version = server.call("checkpoint_read", version);
            keep(version["structuredContent"]["content"].as_str().unwrap_or_default());
        }
        before = listed["nextBefore"].clone();
        if before.is_null() {
            return kept;
        }
    }
}

#[test]
fn what_an_editor_saves_and_what_is_written_here_are_both_kept() {
    let vault = Vault::new(&[("Note.md", b"begin\n")]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    let path = vault.path().join("Note.md");
    let base = "begin\n".to_owned();
    let editor = RunningEditor { path, shown: base.clone(), base };
    let is_done = AtomicBool::new(false);
    let (typed, ours) = std::thread::scope(|scope| {
        let editing = scope.spawn(|| {
            let typed = editor.run();
            is_done.store(true, Ordering::SeqCst);
            typed
        });
        let mut ours = Vec::new();
        while !is_done.load(Ordering::SeqCst) {
            let line = format!("ours-{:03}", ours.len());
            let appended = server.call("file_append", json!({ "file": "Note.md", "content": format!("{line}\n") }));
            // A note that changes all the time may be refused; then nothing was written, and nothing is owed.
            if appended["isError"] != true {
                ours.push(line);
            }
        }
        (editing.join().unwrap(), ours)
    });
    assert!(!ours.is_empty(), "there was a race");
    // What was saved into a file that had just been replaced is found in the background.
    let began = Instant::now();
    loop {
        let kept = kept(&vault, &mut server);
        let lost: Vec<&String> = typed.iter().chain(&ours).filter(|line| !kept.contains(*line)).collect();
        if lost.is_empty() {
            break;
        }
        assert!(began.elapsed() < patience(), "of {} and {} lost: {lost:?}", typed.len(), ours.len());
        std::thread::sleep(Duration::from_millis(100));
    }
}
