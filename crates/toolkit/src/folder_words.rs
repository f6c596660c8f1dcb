//! What folders are for: in the owner's settings, or at the start of a folder note.

use std::collections::{BTreeMap, HashMap};

use lapidary_note::{CodeKind, Note, YamlValue};
use lapidary_operation::{Context, Reason, quote::quoted};
use lapidary_vault::{VaultPath, View, VisibleFiles};

use crate::reading::{self, LinkSource, ShownFile};

/// Descriptions by the paths of their folders, as an answer has them.
pub type FolderWords = BTreeMap<String, String>;

/// Longer descriptions are cut: one says what belongs into a folder, not what is in it.
const MOST_BYTES: usize = 100;
/// Folder notes that are read for one answer.
const MOST_READ: usize = 24;

/// Looks up descriptions for one answer.
pub struct FolderDescriber<'v, 'c> {
    context: &'v Context<'c>,
    view: &'v View,
    files: &'v VisibleFiles,
    known: HashMap<VaultPath, Option<String>>,
    read: usize,
}

impl<'v, 'c> FolderDescriber<'v, 'c> {
    pub fn new(context: &'v Context<'c>, view: &'v View, files: &'v VisibleFiles) -> Self {
        Self { context, view, files, known: HashMap::new(), read: 0 }
    }

    /// The descriptions of these folders, at most this many of them.
    pub fn of_folders<'p>(
        &mut self,
        folders: impl IntoIterator<Item = &'p VaultPath>,
        most: usize,
    ) -> Result<FolderWords, Reason> {
        let mut found = FolderWords::new();
        for folder in folders {
            if found.len() >= most || self.read >= MOST_READ {
                break;
            }
            if let Some(words) = self.words(folder)? {
                found.insert(folder.to_string(), words);
            }
        }
        Ok(found)
    }

    /// For each of these files, the nearest folder above it that has a description: at most this many folders.
    pub fn above_files<'p>(
        &mut self,
        files: impl IntoIterator<Item = &'p VaultPath>,
        most: usize,
    ) -> Result<FolderWords, Reason> {
        let mut found = FolderWords::new();
        for file in files {
            let mut above = file.folder();
            while let Some(folder) = above {
                if found.len() >= most || self.read >= MOST_READ {
                    return Ok(found);
                }
                if let Some(words) = self.words(&folder)? {
                    found.insert(folder.to_string(), words);
                    break;
                }
                above = folder.folder();
            }
        }
        Ok(found)
    }

    fn words(&mut self, folder: &VaultPath) -> Result<Option<String>, Reason> {
        self.context.check()?;
        if let Some(known) = self.known.get(folder) {
            return Ok(known.clone());
        }
        let words = match self.context.owner.folders.get(folder) {
            Some(words) => shortened(words),
            None => self.of_note(folder)?,
        };
        self.known.insert(folder.clone(), words.clone());
        Ok(words)
    }

    fn of_note(&mut self, folder: &VaultPath) -> Result<Option<String>, Reason> {
        let Some(path) = self.folder_note(folder) else { return Ok(None) };
        self.read += 1;
        // What cannot be read describes nothing; the answer is about something else.
        let LinkSource::File(file) = reading::source(self.view, &path)? else { return Ok(None) };
        Ok(reading::show(&path, &file).ok().as_ref().and_then(described))
    }

    /// In the order in which plugins look for it: with the folder's name in the folder, as its index, or beside it.
    fn folder_note(&self, folder: &VaultPath) -> Option<VaultPath> {
        let name = folder.name();
        let places = [
            format!("{folder}/{name}.md"),
            format!("{folder}/index.md"),
            format!("{folder}/README.md"),
            format!("{folder}.md"),
        ];
        let mut found = places.iter().filter_map(|place| {
            let path = VaultPath::parse(place).ok()?;
            self.files.find(&path).map(|entry| entry.path().clone())
        });
        found.next()
    }
}

/// A line about a folder, for the text of an answer.
pub fn sentence((folder, words): (&String, &String)) -> String {
    format!("Folder {}: {}", quoted(folder), quoted(words))
}

/// The property `description`, or the first paragraph.
fn described(shown: &ShownFile) -> Option<String> {
    let properties = shown.properties();
    let mut entries = properties.readable().iter();
    let of_property = entries.find_map(|(name, value)| match value {
        YamlValue::Text(text) if name.eq_ignore_ascii_case("description") => shortened(text),
        _ => None,
    });
    of_property.or_else(|| shortened(&first_paragraph(&shown.note())))
}

/// In one line.
fn shortened(text: &str) -> Option<String> {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.len() > MOST_BYTES {
        let room = words.floor_char_boundary(MOST_BYTES - '…'.len_utf8());
        // At the end of a word, unless it is very long.
        let end = words[..room].rfind(' ').filter(|end| *end > room / 2).unwrap_or(room);
        words.truncate(end);
        words.push('…');
    }
    (!words.is_empty()).then_some(words)
}

/// The first lines of text that are not a heading, list, quotation, table, code, embed or comment.
fn first_paragraph(note: &Note<'_>) -> String {
    let body = note.frontmatter.as_ref().map_or(0, |properties| properties.span.end);
    let mut other: Vec<std::ops::Range<usize>> = Vec::new();
    other.extend(note.headings.iter().map(|heading| heading.span.clone()));
    other.extend(note.items.iter().map(|item| item.whole.clone()));
    other.extend(note.code.iter().filter(|code| code.kind != CodeKind::Span).map(|code| code.span.clone()));
    other.extend(note.comments.iter().map(|comment| comment.span.clone()));
    other.sort_by_key(|span| span.start);
    let mut other = other.into_iter().peekable();
    let (mut at, mut ends) = (body, 0);
    let mut paragraph: Vec<&str> = Vec::new();
    for line in note.text[body..].split_inclusive('\n') {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        // Only what begins a line takes it.
        while let Some(span) = other.next_if(|span| span.start < at) {
            if span.start <= start {
                ends = ends.max(span.end);
            }
        }
        let text = line.trim();
        let is_prose = !text.is_empty()
            && start >= ends
            && !text.starts_with(['>', '|', '<'])
            && !text.starts_with("![")
            && !text.starts_with("---")
            && !text.starts_with("***")
            && !text.starts_with("%%");
        match (is_prose, paragraph.is_empty()) {
            (true, _) => paragraph.push(text),
            (false, true) => {}
            (false, false) => break,
        }
        // No more is shown.
        if paragraph.iter().map(|line| line.len()).sum::<usize>() > MOST_BYTES {
            break;
        }
    }
    paragraph.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(text: &str) -> String {
        first_paragraph(&Note::parse(text))
    }

    #[test]
    fn the_first_paragraph_is_prose() {
        assert_eq!(paragraph("---\na: 1\n---\n# Garden\n\nBeds and\nseeds.\n\nMore.\n"), "Beds and seeds.");
        assert_eq!(
            paragraph("- a list\n  of two\n\n> said\n\n| a |\n|---|\n\n![[x.png]]\n\n```\ncode\n```\nText"),
            "Text"
        );
        assert_eq!(paragraph("%% hidden %%\n\n`code` begins it"), "`code` begins it");
        assert_eq!(paragraph("Ends at\n# a heading\n"), "Ends at");
        assert_eq!(paragraph("Garden\n===\n\nBeds."), "Beds.");
        assert_eq!(paragraph(""), "");
    }

    #[test]
    fn long_descriptions_end_with_a_word() {
        let long = shortened(&"word ".repeat(100)).unwrap();
        assert!(long.len() <= MOST_BYTES && long.ends_with("word…"), "{long}");
        let unbroken = shortened(&"石".repeat(100)).unwrap();
        assert!(unbroken.len() <= MOST_BYTES && unbroken.ends_with('…'), "{unbroken}");
        assert_eq!(shortened(" \n "), None);
    }
}
