//! All notes of a vault with their links and tags, for the owner's overview and the link graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lapidary_note::count_steps;
use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
    VaultSurvey,
};
use lapidary_query::{GraphLink, GraphNote, NoteGraph, Row, UnresolvedLink};
use lapidary_toolkit::index;
use lapidary_vault::{FileRow, VaultPath, VisibleNotes};
use serde_json::{Map, Value, json};

/// Looks over a whole vault.
pub struct SurveyVault {
    pub vault: Option<String>,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "vault/survey", recorded: true };

impl ReadOperation for SurveyVault {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("vault".to_owned(), json!(self.vault))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(self.vault.clone()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let view = vaults.one()?;
        let notes = index::notes(context, view)?;
        let mut survey = VaultSurvey {
            vault: view.vault().to_owned(),
            vault_in_obsidian: view.vault_in_obsidian(),
            ..VaultSurvey::default()
        };
        for other in notes.iter().filter(|entry| !entry.is_note()) {
            survey.other_files += 1;
            survey.other_bytes += other.bytes();
        }
        let unread = notes.iter().filter(|entry| entry.is_note() && entry.state().digest().is_none());
        survey.unread_notes = unread.count();
        survey.graph = SurveyedGraph::of(notes).graph;
        Ok(ReadPayload::Survey(Box::new(survey)))
    }
}

/// A graph while it is put together.
struct SurveyedGraph<'n> {
    notes: &'n VisibleNotes,
    numbers: HashMap<&'n VaultPath, u32>,
    /// Where the links of a folder lead. The same answer for every note in it, and looked for once.
    known: HashMap<(&'n str, String), Option<&'n VaultPath>>,
    graph: NoteGraph,
}

impl<'n> SurveyedGraph<'n> {
    fn of(notes: &'n VisibleNotes) -> Self {
        let listed = || notes.iter().filter(|entry| entry.is_note());
        let numbers = listed().map(|entry| entry.path()).zip(0_u32..).collect();
        let mut surveyed = Self { notes, numbers, known: HashMap::new(), graph: NoteGraph::default() };
        surveyed.add_notes();
        surveyed.add_links();
        surveyed
    }

    fn add_notes(&mut self) {
        let mut folders: HashMap<&str, u32> = HashMap::new();
        let mut tags: BTreeMap<String, (String, Vec<u32>)> = BTreeMap::new();
        for (number, entry) in (0_u32..).zip(self.notes.iter().filter(|entry| entry.is_note())) {
            let folder = folder_of(entry.path());
            let next = u32::try_from(folders.len()).unwrap_or(u32::MAX);
            let folder = *folders.entry(folder).or_insert_with(|| {
                self.graph.folders.push(folder.to_owned());
                next
            });
            let row = FileRow::new(self.notes, entry.state());
            let mut own: BTreeSet<String> = BTreeSet::new();
            row.visit_tags(&mut |tag| {
                // Tags that differ only in case are one, in the spelling that came first.
                if own.insert(tag.name.to_lowercase()) {
                    let known = tags.entry(tag.name.to_lowercase());
                    known.or_insert_with(|| (tag.name.to_owned(), Vec::new())).1.push(number);
                }
                std::ops::ControlFlow::Continue(())
            });
            self.graph.notes.push(GraphNote {
                path: entry.path().to_string(),
                folder,
                tags: Vec::new(),
                created: row.created(),
                modified: row.modified(),
                bytes: entry.bytes(),
            });
        }
        let mut tags: Vec<(String, Vec<u32>)> = tags.into_values().collect();
        // By name among equals, because the sort is stable.
        tags.sort_by_key(|(_, notes)| std::cmp::Reverse(notes.len()));
        for (tag, (name, notes)) in (0_u32..).zip(tags) {
            self.graph.tags.push(name);
            for note in notes {
                self.graph.notes[note as usize].tags.push(tag);
            }
        }
    }

    fn add_links(&mut self) {
        let mut unresolved: BTreeMap<String, UnresolvedLink> = BTreeMap::new();
        for (from, entry) in (0_u32..).zip(self.notes.iter().filter(|entry| entry.is_note())) {
            let mut targets: BTreeSet<u32> = BTreeSet::new();
            for link in FileRow::new(self.notes, entry.state()).links() {
                // A link into the note itself has no target.
                if link.target.is_empty() {
                    continue;
                }
                match self.resolve(link.target, entry.path()) {
                    Some(path) => targets.extend(self.numbers.get(path).copied()),
                    None => {
                        let new = || UnresolvedLink { target: link.target.to_owned(), sources: Vec::new() };
                        let sources = &mut unresolved.entry(link.target.to_lowercase()).or_insert_with(new).sources;
                        if sources.last() != Some(&from) {
                            sources.push(from);
                        }
                    }
                }
            }
            targets.remove(&from);
            self.graph.links.extend(targets.into_iter().map(|to| GraphLink { from, to }));
        }
        self.graph.unresolved = unresolved.into_values().collect();
        self.graph.unresolved.sort_by_key(|link| std::cmp::Reverse(link.sources.len()));
    }

    fn resolve(&mut self, target: &str, source: &'n VaultPath) -> Option<&'n VaultPath> {
        count_steps(64);
        let (notes, key) = (self.notes, (folder_of(source), target.to_owned()));
        *self.known.entry(key).or_insert_with_key(|(_, target)| notes.resolve(target, source))
    }
}

/// Empty for the root.
fn folder_of(path: &VaultPath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}
