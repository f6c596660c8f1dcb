//! The link graph: a picture for those who have scripts, and the same in words for everyone.

use askama::Template;

use super::page_frame::PageFrame;
use crate::shown_text::ShownText;

/// Notes and who links to whom.
#[derive(Template)]
#[template(path = "graph.html")]
pub struct GraphPage {
    pub frame: PageFrame,
    pub vault: Option<String>,
    pub vaults: Vec<String>,
    /// Its name in the app; escaped by the template.
    pub in_obsidian: String,
    pub filter: GraphFilter,
    pub notes: usize,
    pub links: usize,
    pub folders: Vec<GraphChoice>,
    pub tags: Vec<GraphChoice>,
    /// The notes that the filter leaves, those with the most links first.
    pub rows: Vec<NoteRow>,
    /// How many it leaves in all.
    pub found: usize,
    pub panel: Option<NotePanel>,
    /// From the note in the panel to another.
    pub way: Option<NoteWay>,
    pub problem: Option<ShownText>,
}

/// As typed; escaped by the template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphFilter {
    /// Words in the path.
    pub find: String,
    pub folder: String,
    pub tag: String,
    /// Nothing, `7`, `30`, `365`: changed within this many days.
    pub days: String,
    /// Nothing, or `none`: those without any link.
    pub links: String,
    /// The note in the panel.
    pub note: String,
    /// The end of a way from that note.
    pub to: String,
}

impl GraphFilter {
    fn is(&self, value: &str, expected: &str) -> bool {
        value == expected
    }
}

/// A folder or a tag to choose.
pub struct GraphChoice {
    /// As forms send it; escaped by the template.
    pub value: String,
    pub shown: ShownText,
    pub notes: usize,
}

/// A note in a list.
pub struct NoteRow {
    pub name: ShownText,
    pub path: ShownText,
    /// Of the panel about it.
    pub address: String,
    pub links: usize,
    pub changed: ShownText,
    pub changed_exactly: ShownText,
    pub size: ShownText,
}

/// Everything about one note.
pub struct NotePanel {
    pub row: NoteRow,
    /// Its path; escaped by the template.
    pub path: String,
    pub made: ShownText,
    pub tags: Vec<AddressedText>,
    pub targets: Vec<NoteRow>,
    pub sources: Vec<NoteRow>,
    /// Names that it links to and no file has.
    pub unresolved: Vec<ShownText>,
    pub in_obsidian: String,
    pub history: String,
    pub activity: String,
}

/// A text that leads somewhere.
pub struct AddressedText {
    pub text: ShownText,
    pub address: String,
}

/// What became of looking for a way between two notes.
pub enum NoteWay {
    Found(Vec<NoteRow>),
    /// There is none.
    Missing,
    /// No note has that name, or several have it.
    Unknown(ShownText),
}
