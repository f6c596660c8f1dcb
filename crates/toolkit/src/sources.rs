//! Source notes: texts from elsewhere, with where they come from and how far they have been worked through.

use std::collections::BTreeMap;

use lapidary_note::{ContentHash, Document, PropertyEdit, PropertyPath, YamlValue};
use lapidary_operation::{Context, Reason};
use lapidary_query::{Object, Row, Value};
use lapidary_vault::{DocumentKind, DocumentPart, DocumentText, NoteRows, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::{foreign_text, free_name, index, patching::edit_refusal, properties::NoteProperties, web_page::WebPage};

/// The properties of source notes.
pub const TITLE: &str = "title";
/// The address that the caller gave. It alone says that two sources are the same: what a page or a text claims of itself
/// could be the address of another.
pub const SOURCE: &str = "source";
/// The address that a page or a text claims for itself.
pub const CLAIMED: &str = "claimed_source";
pub const ORIGINAL: &str = "original";
pub const AUTHOR: &str = "author";
pub const PUBLISHED: &str = "published";
pub const INGESTED: &str = "ingested";
pub const STATUS: &str = "status";
pub const HASH: &str = "source_hash";

/// The status of a source that waits to be looked at.
pub const INBOX: &str = "inbox";

/// A note about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNote {
    pub path: VaultPath,
    properties: BTreeMap<&'static str, String>,
}

impl SourceNote {
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }
}

// What an existing note was recognised by. Without a doc comment, which would be sent with every definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KnownBy {
    Url,
    Text,
}

/// A source that becomes a note: its text as Markdown, and what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceDraft {
    pub text: String,
    /// How its original text is recognised.
    pub mark: String,
    pub title: Option<String>,
    pub url: Option<String>,
    /// The address that the source claims for itself, if it is another.
    pub claimed: Option<String>,
    /// A link to the file of the vault that it was read from.
    pub original: Option<String>,
    pub author: Option<String>,
    pub published: Option<String>,
}

impl SourceDraft {
    /// What a page says. `original` is what it was read from. None if there is no text to keep.
    pub fn of_page(page: WebPage, original: &str) -> Option<Self> {
        let mut text = foreign_text::inert(&page.markdown.replace("\r\n", "\n"));
        text.truncate(text.trim_end().len());
        if text.trim().is_empty() {
            return None;
        }
        text.push('\n');
        let WebPage { title, url, author, published, .. } = page;
        let [title, author, published] = [title, author, published].map(|said| said.as_deref().map(inert_property));
        Some(Self { mark: text_mark(original), text, title, url, author, published, ..Self::default() })
    }

    /// The note that was made of this source before.
    pub fn known_as<'n>(&self, known: &'n [SourceNote]) -> Option<(&'n SourceNote, KnownBy)> {
        let url = self.url.as_deref().map(plain_address);
        let has_url = |note: &&SourceNote| url.is_some() && note.property(SOURCE).map(plain_address) == url;
        let has_text = |note: &&SourceNote| note.property(HASH) == Some(&self.mark);
        let by_url = known.iter().find(has_url).map(|note| (note, KnownBy::Url));
        by_url.or_else(|| known.iter().find(has_text).map(|note| (note, KnownBy::Text)))
    }

    /// Where its note goes: a free name in the owner's folder for sources. None if every number is taken.
    pub fn free_path(&self, context: &Context<'_>, view: &View) -> Result<Option<VaultPath>, Reason> {
        let title = self.title.as_deref().map(free_name::cleaned).filter(|title| !title.is_empty());
        let stem = title.unwrap_or_else(|| format!("Source {}", context.now.date()));
        let folder = context.owner.sources.as_ref();
        // A note of this name keeps the links to it. One in the folder itself is avoided with a number.
        let is_elsewhere = |other: &&VaultPath| other.folder().as_ref() != folder;
        let named = format!("{stem}.md");
        let stem = match index::files(context, view)?.meant_by(&named).iter().any(is_elsewhere) {
            true => format!("{stem} (source)"),
            false => stem,
        };
        free_name::free_path(context, view, folder, &stem, "md")
    }

    /// A note with the properties of a source. A text that came with others keeps them, and its own status unless another
    /// is given.
    pub fn with_properties(
        &self,
        context: &Context<'_>,
        path: &VaultPath,
        note: &Document,
        status: Option<&str>,
    ) -> Result<Document, Reason> {
        let own = NoteProperties::of(note).value();
        let has = |path: &PropertyPath| !matches!(path.find(&own), None | Some(YamlValue::Null));
        let status = status.or((!has(&PropertyPath::name(STATUS))).then_some(INBOX));
        let properties = [
            (TITLE, self.title.clone()),
            (SOURCE, self.url.clone()),
            (CLAIMED, self.claimed.clone()),
            (ORIGINAL, self.original.clone()),
            (AUTHOR, self.author.clone()),
            (PUBLISHED, self.published.clone()),
            (INGESTED, Some(context.now.date().to_string())),
            (STATUS, status.map(str::to_owned)),
            (HASH, Some(self.mark.clone())),
        ];
        let properties: Vec<(PropertyPath, YamlValue)> = properties
            .into_iter()
            .filter_map(|(name, value)| Some((PropertyPath::name(name), YamlValue::Text(value?))))
            .collect();
        // What a text says about itself in our properties is a claim, too.
        let (source, claimed) = (PropertyPath::name(SOURCE), PropertyPath::name(CLAIMED));
        let is_free = self.claimed.is_none() && !has(&claimed);
        let renamed = match (has(&source), is_free) {
            (false, _) => None,
            (true, true) => Some(PropertyEdit::Move { from: &source, to: &claimed }),
            (true, false) => Some(PropertyEdit::Delete { path: &source }),
        };
        let set = properties.iter().map(|(path, value)| PropertyEdit::Set { path, value });
        let edits: Vec<PropertyEdit<'_>> = renamed.into_iter().chain(set).collect();
        let edited = note.edit_properties(&edits).map_err(|error| edit_refusal(path, &error))?;
        Ok(edited.document)
    }
}

/// What a page says of itself, as a property that links to nothing and runs nothing.
fn inert_property(said: &str) -> String {
    // Behind each pair there may be another.
    said.replace("[[", "[ [").replace("[[", "[ [").replace("{{", "{ {").replace("{{", "{ {").replace("<%", "< %")
}

/// Text of a caller or a page on one line; none if it is blank.
pub fn trimmed(text: Option<&str>) -> Option<String> {
    let text = text?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// All source notes that the caller may see, in path order: those in the folder of sources, and those that were filed
/// elsewhere.
pub fn all(context: &Context<'_>, view: &View) -> Result<Vec<SourceNote>, Reason> {
    let notes = index::notes(context, view)?;
    let go_on = || context.cancel.check().is_ok();
    let rows = NoteRows::new(notes, &go_on);
    let folder = context.owner.sources.as_ref();
    let mut found = Vec::new();
    for entry in notes.below(None).filter(|entry| entry.is_note()) {
        context.check()?;
        let names = [TITLE, SOURCE, AUTHOR, PUBLISHED, INGESTED, STATUS, HASH];
        let values = rows.row(entry).properties(&|name| names.contains(&name));
        let is_source = values.contains_key(HASH)
            || (folder.is_some_and(|folder| entry.path().is_within(folder)) && values.contains_key(STATUS));
        if is_source {
            found.push(SourceNote { path: entry.path().clone(), properties: texts(&names, &values) });
        }
    }
    Ok(found)
}

fn texts(names: &[&'static str], values: &Object) -> BTreeMap<&'static str, String> {
    let text = |value: &Value| match Json::from(value) {
        Json::String(text) => Some(text),
        // A year alone is a number in YAML.
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    names.iter().filter_map(|name| Some((*name, values.get(*name).and_then(text)?))).collect()
}

/// How a source is recognised by its text: regardless of line endings, and of blanks around it.
pub fn text_mark(text: &str) -> String {
    const DIGITS: usize = "sha256:".len() + 16;
    let plain = text.trim().replace("\r\n", "\n");
    let mut mark = ContentHash::of(plain.as_bytes()).to_string();
    mark.truncate(DIGITS);
    mark
}

/// An address for comparison: without what leads to the same page.
pub fn plain_address(url: &str) -> String {
    let url = url.trim();
    let url = url.split('#').next().unwrap_or_default();
    let (place, query) = url.split_once('?').map_or((url, ""), |(place, query)| (place, query));
    let (scheme, rest) = place.split_once("://").unwrap_or(("https", place));
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let scheme = scheme.to_ascii_lowercase();
    // Nearly every site answers both with the same page.
    let scheme = if scheme == "http" { "https" } else { &scheme };
    // These only tell a site where a reader came from.
    let is_kept = |part: &&str| !part.is_empty() && !part.starts_with("utm_") && !part.starts_with("fbclid=");
    let query: Vec<&str> = query.split('&').filter(is_kept).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{}/{}{query}", host.to_ascii_lowercase(), path.trim_end_matches('/'))
}

/// The text of a document as a note, with a heading for each of its parts. `link` leads to the document.
pub fn document_markdown(document: &DocumentText, link: &str) -> String {
    let is_markdown = matches!(document.kind, DocumentKind::Docx | DocumentKind::Epub);
    let mut note = String::new();
    for DocumentPart { number, label, text } in &document.parts {
        let heading = match (document.kind, label) {
            // A chapter begins with its own heading, and one page needs none.
            (DocumentKind::Epub, _) => String::new(),
            (DocumentKind::Docx, _) if document.total == 1 => String::new(),
            (DocumentKind::Pdf, _) => format!("## Page {number}\n\n[[{link}#page={number}]]\n\n"),
            (DocumentKind::Pptx, Some(label)) => format!("## Slide {number}: {label}\n\n"),
            (DocumentKind::Xlsx, Some(label)) => format!("## {label}\n\n"),
            (kind, _) => {
                let (first, rest) = kind.part_name().split_at(1);
                format!("## {}{rest} {number}\n\n", first.to_uppercase())
            }
        };
        note += &heading;
        match is_markdown {
            true => note += text,
            false => text.lines().for_each(|line| put_plain(&mut note, line)),
        }
        note.truncate(note.trim_end().len());
        note += "\n\n";
    }
    note
}

/// A line that means nothing in Markdown but itself.
fn put_plain(note: &mut String, line: &str) {
    let line = line.trim_start();
    let has_meaning = line.starts_with(['#', '>', '|', '<', '=', '+', '*', '-', '`', '~', '%', '$']);
    if has_meaning && !line.starts_with("- ") {
        note.push('\\');
    }
    note.push_str(line);
    note.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_page_are_the_same() {
        let plain = "https://a.example/Slate";
        for other in
            ["http://A.example/Slate/", "https://a.example/Slate#top", "https://a.example/Slate?utm_source=x&fbclid=1"]
        {
            assert_eq!(plain_address(other), plain, "{other}");
        }
        for other in ["https://a.example/slate", "https://b.example/Slate", "https://a.example/Slate?page=2", "", "a"] {
            assert_ne!(plain_address(other), plain, "{other}");
        }
    }

    #[test]
    fn a_text_is_recognised_whatever_its_line_endings() {
        assert_eq!(text_mark("a\r\nb\n"), text_mark(" a\nb"));
        assert_ne!(text_mark("a\nb"), text_mark("a b"));
        assert_eq!(text_mark("").len(), 23);
    }
}
