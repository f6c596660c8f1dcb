//! The files of a change as pages show them, within what a page has room for.

use lapidary_auth::percent_encoded;
use lapidary_console::{ChangedFile, FileDiff, ShownText};
use lapidary_note::{ContentHash, counted};
use lapidary_pipeline::{Amendment, ChangePreview};
use lapidary_tools::quote::quoted_path;
use lapidary_vault::{Change, VaultPath};

/// Longer texts are edited in an editor.
const MOST_EDITED: usize = 256 * 1024;
/// More rows of all files together are not drawn, and more text is not sent along to be edited: a change may have
/// thousands of files.
pub(super) const MOST_ROWS: usize = 10_000;
const MOST_TEXT: usize = 2 << 20;

/// Identifies a text.
pub(super) fn mark_of(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

/// The new text of a file as a form shows it, if it comes back unchanged from one.
pub(super) fn editable(change: &Change) -> Option<String> {
    let written = match change {
        Change::Write { content, .. }
        | Change::Create { content, .. }
        | Change::Move { content: Some(content), .. } => content,
        _ => return None,
    };
    let text = std::str::from_utf8(written.bytes()).ok()?;
    // As a form sends it back; mark and line ends are put on again when the owner's text is used.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    // A browser may drop or change other control characters on the way.
    let is_plain = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
    (text.len() <= MOST_EDITED && text.chars().all(is_plain)).then_some(text)
}

/// The files of a change; those that are left out are still in the list.
pub(super) fn files(
    vault: &str,
    preview: &ChangePreview,
    amended: &ChangePreview,
    amendment: &Amendment,
) -> Vec<ChangedFile> {
    let mut budget = PageBudget { rows: MOST_ROWS, text: MOST_TEXT };
    let all = preview.changes.changes.iter();
    all.map(|change| {
        let path = change.path();
        // The amended version is drawn, or the planned one if the owner left the file out.
        let shown = amended.changes.changes.iter().find(|amended| amended.path() == path);
        let is_left_out = amendment.left_out.contains(path);
        let mut file = changed_file(vault, shown.unwrap_or(change), &mut budget);
        if let (Some(instead), outline @ [_, ..]) = (&mut file.instead, preview.outline_of(path)) {
            instead.push_str(&format!(" It has: {}.", outline.join("; ")));
        }
        if let Some(place) = preview.place_of(path) {
            file.shown_path = ShownText::sentence(&format!("{} (a link to {})", quoted_path(path), quoted_path(place)));
        }
        if is_left_out {
            file.diff = FileDiff::default();
            file.action = ShownText::line("left out");
        }
        // Of the change without the owner's texts.
        // Marks the client's text even if the page shows another, so that a later form can tell the two apart.
        let planned = editable(change).as_deref().map(mark_of).unwrap_or_default();
        ChangedFile { is_left_out, is_edited: amendment.texts.contains_key(path), planned, ..file }
    })
    .collect()
}

/// What a page still has room for.
struct PageBudget {
    rows: usize,
    text: usize,
}

impl PageBudget {
    fn takes(&mut self, text: &str) -> bool {
        let left = self.text.checked_sub(text.len());
        // A text that does not fit takes nothing, and a smaller one after it may still fit.
        self.text = left.unwrap_or(self.text);
        left.is_some()
    }
}

fn changed_file(vault: &str, change: &Change, budget: &mut PageBudget) -> ChangedFile {
    let (action, moved_to) = action(change);
    let before = change.before().map(|file| file.bytes());
    let after = match change {
        // A file that is only moved has the same content on both sides.
        Change::Move { content: None, .. } => before,
        Change::Write { .. } | Change::Create { .. } | Change::Move { .. } => Some(change.bytes()),
        _ => None,
    };
    // Rows are drawn first come, first served: the files at the top of a change are shown whole.
    let (diff, instead) = difference(vault, before, after, budget.rows);
    budget.rows = budget.rows.saturating_sub(diff.rows.len());
    let action = match moved_to {
        Some(to) => format!("{action} {to}"),
        None => action.to_owned(),
    };
    ChangedFile {
        path: change.path().to_string(),
        shown_path: ShownText::line(change.path().as_str()),
        action: ShownText::line(&action),
        diff,
        instead,
        text: editable(change).filter(|text| budget.takes(text)),
        planned: String::new(),
        is_left_out: false,
        is_edited: false,
    }
}

/// The difference of two contents, or a sentence instead of it.
pub(super) fn difference(
    vault: &str,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    room: usize,
) -> (FileDiff, Option<String>) {
    match (before.map(std::str::from_utf8).transpose(), after.map(std::str::from_utf8).transpose()) {
        (Ok(_), Ok(_)) if room == 0 => {
            (FileDiff::default(), Some("Too many lines change to show all of them on this page.".to_owned()))
        }
        (Ok(before), Ok(after)) => (FileDiff::between(before, after, &|name| in_obsidian(vault, name)), None),
        _ => {
            let size = |bytes: Option<&[u8]>| {
                bytes.map_or_else(|| "nothing".to_owned(), |bytes| counted(bytes.len(), "byte").to_string())
            };
            (FileDiff::default(), Some(format!("Not text: {} before, {} after.", size(before), size(after))))
        }
    }
}

/// The address that opens a note in Obsidian, where the name of a link is enough.
fn in_obsidian(vault: &str, name: &str) -> String {
    format!("obsidian://open?vault={}&file={}", percent_encoded(vault), percent_encoded(name))
}

fn action(change: &Change) -> (&'static str, Option<&VaultPath>) {
    match change {
        Change::Write { .. } => ("is changed", None),
        Change::Create { .. } => ("is created", None),
        Change::Move { to, .. } | Change::MoveFolder { to, .. } => ("is moved to", Some(to)),
        Change::Trash { .. } | Change::TrashFolder { .. } => ("goes to the trash", None),
        Change::MakeFolder { .. } => ("is created as a folder", None),
        Change::Delete { .. } => ("is deleted", None),
    }
}
