//! Finding headings, and showing them with their hashes.

use std::collections::HashMap;

use lapidary_note::{ContentHash, Document, Heading, Note};
use lapidary_operation::{HeadingCandidate, MemoryBudget, PartCandidates, Reason, bug, clipped, quote::quoted};
use lapidary_query::nearest_several;
use lapidary_vault::VaultPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{hash, place::LineColumns, section::MOST_NAMES};

/// The separator in a heading path.
pub const DELIMITER: &str = "::";

/// A heading as the file tools show it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeadingOutput {
    id: String,
    path: String,
    pub text: String,
    pub level: u8,
    pub line: usize,
    pub end_line: usize,
    /// Of the heading and everything below it, including subsections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_hash: Option<String>,
    children_count: usize,
    /// The others with the same path, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicate_of: Vec<String>,
}

impl HeadingOutput {
    /// Its line, level, path and section hash.
    pub fn text(&self) -> String {
        let marks = "#".repeat(usize::from(self.level));
        let hash = self.section_hash.as_deref().map_or_else(String::new, |hash| format!(" {}", hash::digits(hash)));
        format!("{}-{} {marks} {}{hash}", self.line, self.end_line, quoted(&self.path))
    }
}

/// The headings of a note, prepared for output.
pub struct NoteOutline<'n> {
    note: &'n Note<'n>,
    places: LineColumns<'n>,
    children: Vec<usize>,
    /// By heading, which path it has; and by path, which headings have it.
    path_of: Vec<usize>,
    with_path: Vec<Vec<usize>>,
    delimiter: &'n str,
}

/// Callers that need more search for the heading by its text.
const MOST_DUPLICATES: usize = 20;
/// How many headings are offered as candidates.
const MOST_CANDIDATES: usize = 100;

/// How much of a hash is shown.
#[derive(Clone, Copy, PartialEq)]
pub enum HashLength {
    Whole,
    /// Enough digits to be sent back.
    Short,
}

impl<'n> NoteOutline<'n> {
    pub fn of(note: &'n Note<'n>, delimiter: &'n str) -> Self {
        let mut children = vec![0; note.headings.len()];
        // A path refers to the one above it, so that long headings are not repeated for everything below them.
        let mut known: HashMap<(Option<usize>, &str), usize> = HashMap::new();
        let (mut path_of, mut with_path) = (Vec::with_capacity(note.headings.len()), Vec::<Vec<usize>>::new());
        for (index, heading) in note.headings.iter().enumerate() {
            if let Some(count) = heading.parent.and_then(|parent| children.get_mut(parent)) {
                *count += 1;
            }
            let above = heading.parent.and_then(|parent| path_of.get(parent).copied());
            let path = *known.entry((above, &heading.text)).or_insert(with_path.len());
            // A path that was not known yet.
            if path == with_path.len() {
                with_path.push(Vec::new());
            }
            with_path[path].push(index);
            path_of.push(path);
        }
        Self { note, places: LineColumns::of(note.text), children, path_of, with_path, delimiter }
    }

    /// One of the headings of the note. Refused if the shown paths grow too large for an answer.
    pub fn show(
        &self,
        budget: &MemoryBudget,
        heading: &Heading,
        length: HashLength,
        hash_of: impl Fn(&Heading) -> Option<ContentHash>,
    ) -> Result<HeadingOutput, Reason> {
        let index = index(self.note, heading);
        let parts = self.note.heading_path(heading);
        // Nested headings repeat their parents, so the paths together can be much longer than the note; and many short
        // headings take more than their paths.
        let bytes = parts.iter().map(|part| part.len()).sum::<usize>() + heading.text.len() + FIELD_BYTES;
        budget.answer(bytes)?;
        let path = parts.join(self.delimiter);
        let same = self.path_of.get(index).and_then(|path| self.with_path.get(*path));
        let others = same.into_iter().flatten().filter(|other| **other != index).take(MOST_DUPLICATES);
        let section_hash = hash_of(heading).map(|hash| match length {
            HashLength::Whole => hash.to_string(),
            HashLength::Short => hash::short(&hash.to_string()).to_owned(),
        });
        Ok(HeadingOutput {
            id: id(index),
            duplicate_of: others.map(|index| id(*index)).collect(),
            path,
            text: heading.text.clone(),
            level: heading.level,
            line: heading.line,
            end_line: self.places.last_line(heading.section.end),
            section_hash,
            children_count: self.children.get(index).copied().unwrap_or_default(),
        })
    }
}

/// What the names of the fields of a heading take in an answer, at least.
const FIELD_BYTES: usize = 60;

/// Which heading of the note it is, counted from 0.
fn index(note: &Note<'_>, heading: &Heading) -> usize {
    // Headings are in document order, and no two start at the same place.
    note.headings.partition_point(|other| other.span.start < heading.span.start)
}

fn id(index: usize) -> String {
    format!("h-{}", index + 1)
}

/// Names a heading of a note.
#[derive(Deserialize, JsonSchema)]
pub struct HeadingInput {
    /// Its text, or its path: `Project::Tasks`.
    #[schemars(length(min = 1))]
    heading: String,
    /// The separator in the path.
    #[serde(default = "delimiter")]
    #[schemars(length(min = 1))]
    delimiter: String,
    /// Which of several that match, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    occurrence: Option<usize>,
    /// The line of the heading.
    #[serde(default)]
    #[schemars(range(min = 1))]
    line: Option<usize>,
}

fn delimiter() -> String {
    DELIMITER.to_owned()
}

impl HeadingInput {
    /// Every matching heading, in order.
    fn all<'n>(&self, note: &'n Note<'_>) -> Vec<&'n Heading> {
        let mut all = note.headings_named(&self.heading, &self.delimiter);
        if let Some(line) = self.line {
            // An underlined heading has two lines, and either names it.
            let there = note.heading_at_line(line).map(|heading| heading.line);
            all.retain(|heading| Some(heading.line) == there);
        }
        all
    }

    /// Those that `occurrence` selects.
    pub fn chosen<'n>(&self, note: &'n Note<'_>) -> Vec<&'n Heading> {
        let all = self.all(note);
        match self.occurrence {
            // Numbers count from 1; a 0 that slipped through means the first.
            Some(occurrence) => all.get(occurrence.saturating_sub(1)).copied().into_iter().collect(),
            None => all,
        }
    }

    /// The notice if the heading is not in the note.
    pub fn none_found(&self, note: &Note<'_>) -> String {
        const SHOWN: usize = 5;
        let paths: Vec<String> = note
            .headings
            .iter()
            .take(MOST_CANDIDATES)
            .map(|heading| clipped(&note.heading_path(heading).join(&self.delimiter)))
            .collect();
        let near = nearest_several(&self.heading, paths.iter().map(String::as_str), SHOWN);
        let listed =
            |names: Vec<&str>| names.into_iter().map(|name| quoted(name).to_string()).collect::<Vec<_>>().join(", ");
        match (paths.is_empty(), near.is_empty()) {
            // In order of how much it helps: nothing to choose from, likely names, the first ones.
            (true, _) => "The note has no headings.".to_owned(),
            (false, false) => format!("The note has no such heading. Did you mean {}?", listed(near)),
            (false, true) => {
                let more = if note.headings.len() > SHOWN { ", …" } else { "" };
                let first = listed(paths.iter().take(SHOWN).map(String::as_str).collect());
                format!("The note has no such heading; it has {first}{more}.")
            }
        }
    }

    pub fn delimiter(&self) -> &str {
        &self.delimiter
    }

    /// The one matching heading: a full path wins over the end of another.
    pub fn find<'n>(
        &self,
        path: &VaultPath,
        note: &'n Note<'_>,
        hash_of: impl Fn(&Heading) -> Option<ContentHash>,
    ) -> Result<&'n Heading, Reason> {
        let path_of = |heading: &Heading| note.heading_path(heading).join(&self.delimiter);
        let all = self.chosen(note);
        let whole = note.whole_paths(&all, &self.heading, &self.delimiter);
        // A full path wins over headings that only end in it.
        match (&all[..], &whole[..]) {
            ([only], _) | (_, [only]) => Ok(only),
            ([], _) if self.occurrence.is_some() && !self.all(note).is_empty() => Err(Reason::OccurrenceOutOfRange {
                path: path.clone(),
                occurrences: self.all(note).len(),
                wanted: self.occurrence.unwrap_or_default(),
            }),
            ([], _) => Err(missing(path, "heading", &self.heading, note.headings.iter().map(path_of))),
            // Never guessed: each candidate comes with what to send for it.
            (several, _) => {
                let candidate = |(number, heading): (usize, &&Heading)| HeadingCandidate {
                    id: id(index(note, heading)),
                    path: clipped(&path_of(heading)),
                    level: heading.level,
                    line: heading.line,
                    occurrence: number + 1,
                    hash: hash_of(heading),
                };
                let candidates =
                    PartCandidates::Headings(several.iter().take(MOST_CANDIDATES).enumerate().map(candidate).collect());
                Err(Reason::Ambiguous { path: path.clone(), target: clipped(&self.heading), candidates })
            }
        }
    }
}

/// The refusal if a note has no such part, with the parts it has.
pub fn missing(
    path: &VaultPath,
    section_type: &'static str,
    target: &str,
    available: impl Iterator<Item = String>,
) -> Reason {
    Reason::SectionMissing {
        path: path.clone(),
        section_type,
        target: clipped(target),
        available: available.take(MOST_NAMES).map(|name| clipped(&name)).collect(),
    }
}

/// The hash of the section whose heading is on a line, which the next edit can expect.
pub fn hash_after_edit(document: &Document, line: usize) -> Result<String, Reason> {
    let note = document.note();
    let section = note.heading_at_line(line).map(|heading| heading.section.clone());
    let hash = section.and_then(|section| document.hash_of(section));
    hash.map(|hash| hash.to_string()).ok_or_else(|| bug!("no section begins at the line of the edited heading"))
}
