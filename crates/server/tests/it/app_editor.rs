//! Obsidian's editor on the same notes: it reads a note, watches it, and saves in place two seconds after the last keystroke.
//! Nothing that the user typed is lost, and nothing that was written here.

use std::{
    fs::File,
    io::{Seek, Write},
    path::PathBuf,
    time::Duration,
};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, files_below, patience};

/// The editor of the app, whose clock is the test: what happens when is up to the order of the calls.
struct AppEditor {
    path: PathBuf,
    /// The text as it was last read or saved.
    base: String,
    /// The text on the screen.
    shown: String,
}

impl AppEditor {
    fn open(vault: &Vault, path: &str) -> Self {
        let path = vault.path().join(path);
        let base = std::fs::read_to_string(&path).unwrap();
        Self { path, shown: base.clone(), base }
    }

    /// The user types at the end of the note.
    fn type_text(&mut self, text: &str) {
        self.shown += text;
    }

    /// The app has noticed that the file changed: a note without unsaved keystrokes is read again; in another the app puts
    /// the keystrokes onto the new text.
    fn notice(&mut self) {
        let found = std::fs::read_to_string(&self.path).unwrap();
        if found == self.base {
            return;
        }
        let typed = self.shown.strip_prefix(self.base.as_str()).unwrap().to_owned();
        self.shown = format!("{found}{typed}");
        self.base = found;
    }

    /// Two seconds later.
    fn save(&mut self) {
        std::fs::write(&self.path, &self.shown).unwrap();
        self.base.clone_from(&self.shown);
    }

    /// The first half of a save: the file is open, and nothing is written yet.
    fn begin_save(&self) -> File {
        File::options().write(true).open(&self.path).unwrap()
    }

    /// The second half.
    fn finish_save(&mut self, mut file: File) {
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(self.shown.as_bytes()).unwrap();
        self.base.clone_from(&self.shown);
    }
}

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

fn text(vault: &Vault) -> String {
    String::from_utf8(vault.read("Note.md")).unwrap()
}

fn replace(server: &mut Server, find: &str, with: &str) -> Value {
    server.done("str_replace", json!({ "file": "Note.md", "find": find, "replace": with }))
}

#[test]
fn what_is_written_here_shows_in_the_app_and_keystrokes_go_on_top_of_it() {
    let vault = Vault::new(&[("Note.md", b"one\ntwo\n")]);
    let mut server = serve(&vault);
    let mut editor = AppEditor::open(&vault, "Note.md");
    replace(&mut server, "one", "ONE");
    editor.notice();
    assert_eq!(editor.shown, "ONE\ntwo\n", "the app shows the change");
    // Keystrokes that are not saved, and two changes in between.
    editor.type_text("typed\n");
    replace(&mut server, "two", "TWO");
    editor.notice();
    replace(&mut server, "ONE", "one again");
    editor.notice();
    editor.save();
    assert_eq!(text(&vault), "one again\nTWO\ntyped\n");
    // And the other way around: the next change is made on what the app saved.
    editor.type_text("more\n");
    editor.save();
    replace(&mut server, "typed", "TYPED");
    editor.notice();
    assert_eq!(
        (text(&vault).as_str(), editor.shown.as_str()),
        ("one again\nTWO\nTYPED\nmore\n", "one again\nTWO\nTYPED\nmore\n")
    );
}

#[test]
fn a_change_that_expects_the_text_before_a_save_is_refused() {
    let vault = Vault::new(&[("Note.md", b"one\n")]);
    let mut server = serve(&vault);
    let mut editor = AppEditor::open(&vault, "Note.md");
    let read = server.done("file_read", json!({ "file": "Note.md" }));
    editor.type_text("typed\n");
    editor.save();
    let stale = json!({ "file": "Note.md", "content": "all new\n", "expected_content_hash": read["content_hash"] });
    assert_eq!(server.call("file_replace", stale)["isError"], true);
    // So is a whole text by a caller that has seen another.
    let over = json!({ "target": "Note.md", "content": "all new\n", "overwrite": true });
    assert_eq!(server.refused("obsidian_write_note", over), "stale_precondition");
    assert_eq!(text(&vault), "one\ntyped\n");
}

#[test]
fn a_save_that_comes_too_late_for_the_app_to_notice_leaves_a_way_back() {
    // The app does not notice in time and saves its own text over ours.
    let vault = Vault::new(&[("Note.md", b"one\n")]);
    let mut server = serve(&vault);
    let mut editor = AppEditor::open(&vault, "Note.md");
    editor.type_text("typed\n");
    replace(&mut server, "one", "ONE");
    editor.save();
    assert_eq!(text(&vault), "one\ntyped\n", "the keystrokes are there");
    // Undoing our change does not take them away.
    let undone = server.call("undo", json!({}));
    assert_eq!(text(&vault), "one\ntyped\n", "{undone}");
}

#[test]
fn a_save_into_the_file_that_was_just_replaced_is_kept_and_told() {
    for writes in [1, 3] {
        let vault = Vault::new(&[("Note.md", b"one\n"), ("Other.md", b"x\n")]);
        let mut server = serve(&vault);
        let mut editor = AppEditor::open(&vault, "Note.md");
        editor.type_text("typed\n");
        let saving = editor.begin_save();
        let mut now = "one".to_owned();
        for number in 0..writes {
            let next = format!("ours {number}");
            replace(&mut server, &now, &next);
            now = next;
        }
        editor.finish_save(saving);
        let notice = late_notice(&vault, &mut server);
        assert!(notice.contains("`Note.md`"), "{notice}");
        assert_eq!(text(&vault), format!("{now}\n"), "what was acknowledged is in the note");
        let checkpoint =
            notice.split("checkpoint `").nth(1).and_then(|rest| rest.split('`').next()).unwrap().to_owned();
        let kept = server.done("checkpoint_read", json!({ "id": checkpoint, "path": "Note.md" }));
        assert!(kept.to_string().contains("one\\ntyped\\n"), "the keystrokes are kept: {kept:#}");
    }
}

/// What the next answers say about a late save. It is handled in the background.
fn late_notice(vault: &Vault, server: &mut Server) -> String {
    let began = std::time::Instant::now();
    while began.elapsed() < patience() {
        let notice = server.done("file_read", json!({ "file": "Other.md" }))["notice"].clone();
        if let Some(notice) = notice.as_str() {
            return notice.to_owned();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing was said; the vault has {:?}", files_below(&vault.path()).keys());
}
