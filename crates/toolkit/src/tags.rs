//! Counting and listing tags.

use std::collections::{HashMap, HashSet};

use lapidary_note::Note;
use lapidary_operation::{Context, Reason, quote::quoted};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Serialize;

use crate::index;

/// Tags and how many notes have them. Tags that differ only in case are one, in the spelling that came first.
#[derive(Default)]
pub struct TagCounts {
    counts: HashMap<String, TagCount>,
    notes: usize,
}

struct TagCount {
    name: String,
    notes: usize,
    /// The note that was counted last, so that each note counts once however often it has a tag.
    last: usize,
}

/// Whether a note with `#a/b` also counts for `#a`, as in Obsidian's own list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NestedTags {
    CountForParents,
    CountAlone,
}

/// A tag nested deeper than is realistic counts only for its topmost parents, and a long one not for its longer
/// parents: each parent is another name, as long as its parts.
const MOST_PARENTS: usize = 32;
const LONGEST_PARENT: usize = 1000;

impl TagCounts {
    pub fn add_note<'t>(&mut self, tags: impl Iterator<Item = &'t str>, nested: NestedTags) {
        self.notes += 1;
        for tag in tags {
            let parents = tag.match_indices('/').map(|(at, _)| &tag[..at]).filter(|parent| !parent.is_empty());
            // From the top, so that the parents that are left out are the deepest ones.
            let parents = parents.take(MOST_PARENTS).take_while(|parent| parent.len() <= LONGEST_PARENT);
            if nested == NestedTags::CountForParents {
                parents.for_each(|parent| self.add(parent));
            }
            self.add(tag);
        }
    }

    fn add(&mut self, tag: &str) {
        let folded = tag.to_lowercase();
        // The first spelling is shown, as in Obsidian.
        let new = || TagCount { name: tag.to_owned(), notes: 0, last: 0 };
        let count = self.counts.entry(folded).or_insert_with(new);
        if count.last != self.notes {
            count.last = self.notes;
            count.notes += 1;
        }
    }

    /// The most used first, ties by name.
    pub fn sorted(self) -> Vec<(String, usize)> {
        let mut counts: Vec<(String, TagCount)> = self.counts.into_iter().collect();
        counts.sort_unstable_by(|(a, counted_a), (b, counted_b)| {
            // A vault is read in path order, but a hash map forgets it.
            counted_b.notes.cmp(&counted_a.notes).then_with(|| a.cmp(b))
        });
        counts.into_iter().map(|(_, count)| (count.name, count.notes)).collect()
    }
}

/// All tags of the vault, the most used first.
pub fn of_vault(context: &Context<'_>, view: &View) -> Result<Vec<(String, usize)>, Reason> {
    let mut counts = TagCounts::default();
    for (_, digest) in index::notes(context, view)?.notes() {
        context.check()?;
        counts.add_note(digest.tags().map(|tag| tag.name), NestedTags::CountForParents);
    }
    Ok(counts.sorted())
}

// The tags of a note without `#`, by where they occur; each spelling once. Not a doc comment, because that would be in
// the schema of a tool.
#[derive(Serialize, JsonSchema)]
pub struct TagsOfNote {
    pub frontmatter: Vec<String>,
    pub inline: Vec<String>,
    pub all: Vec<String>,
}

impl TagsOfNote {
    pub fn of(note: &Note<'_>) -> Self {
        let frontmatter = once(note.property_tags().into_iter().map(|tag| tag.name));
        let inline = once(note.tags.iter().map(|tag| note.text[tag.name()].to_owned()));
        // A tag may be in both places.
        let all = once(frontmatter.iter().chain(&inline).cloned());
        Self { frontmatter, inline, all }
    }
}

/// The tags of a note without `#`, those of its properties first, each spelling once.
pub fn of_note(note: &Note<'_>) -> Vec<String> {
    TagsOfNote::of(note).all
}

fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Callers' tags without `#`; of those that differ only in case the first. `None` if one is empty.
pub fn bare(given: &[String]) -> Option<Vec<&str>> {
    let mut seen = HashSet::new();
    let mut tags = Vec::new();
    for tag in given {
        let bare = tag.trim().trim_start_matches('#').trim();
        if bare.is_empty() {
            return None;
        }
        if seen.insert(bare.to_lowercase()) {
            tags.push(bare);
        }
    }
    Some(tags)
}

/// Tags on their own line.
pub fn line(title: &str, tags: &[String]) -> String {
    let shown: String = tags.iter().map(|tag| format!(" #{}", quoted(tag))).collect();
    format!("\n{title}:{}", if shown.is_empty() { " none" } else { &shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(notes: &[&[&str]], nested: NestedTags) -> Vec<(String, usize)> {
        let mut counts = TagCounts::default();
        notes.iter().for_each(|tags| counts.add_note(tags.iter().copied(), nested));
        counts.sorted()
    }

    fn shown(counts: &[(String, usize)]) -> Vec<(&str, usize)> {
        counts.iter().map(|(name, count)| (name.as_str(), *count)).collect()
    }

    #[test]
    fn notes_are_counted_not_uses() {
        let notes: [&[&str]; 3] = [&["Work", "work/Plan"], &["WORK/plan/x", "Größe"], &["größe", "b"]];
        assert_eq!(
            shown(&counted(&notes, NestedTags::CountForParents)),
            [("Größe", 2), ("Work", 2), ("work/Plan", 2), ("b", 1), ("WORK/plan/x", 1)]
        );
        let alone = counted(&notes, NestedTags::CountAlone);
        assert_eq!(shown(&alone)[0], ("Größe", 2));
        assert_eq!(alone.len(), 5);
    }

    #[test]
    fn a_long_tag_makes_few_parents() {
        let tag = "a/".repeat(50_000) + "a";
        let counts = counted(&[&[&tag]], NestedTags::CountForParents);
        assert_eq!(counts.len(), MOST_PARENTS + 1);
        assert!(counts.iter().any(|(name, _)| name == "a/a") && counts.iter().any(|(name, _)| *name == tag));
        let wide = format!("{0}/{0}/{0}", "b".repeat(LONGEST_PARENT));
        assert_eq!(counted(&[&[&wide]], NestedTags::CountForParents).len(), 2);
    }

    #[test]
    fn odd_slashes_do_not_create_empty_tags() {
        let counts = counted(&[&["/x", "a//b", "c/"]], NestedTags::CountForParents);
        assert_eq!(shown(&counts), [("/x", 1), ("a", 1), ("a/", 1), ("a//b", 1), ("c", 1), ("c/", 1)]);
    }
}
