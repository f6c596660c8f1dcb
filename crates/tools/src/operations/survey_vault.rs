//! All notes of a vault with their links and tags, for the owner's overview and the link graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
    VaultSurvey,
};
use lapidary_query::{GraphLink, GraphNote, NoteGraph, Row, UnresolvedLink};
use lapidary_toolkit::{
    index,
    vault_links::{VaultLinks, folder_of},
};
use lapidary_vault::{FileRow, VisibleNotes};
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
        // Counted only, because the overview is about notes.
        for other in notes.iter().filter(|entry| !entry.is_note()) {
            survey.other_files += 1;
            survey.other_bytes += other.bytes();
        }
        // Their links and tags are not known yet, which the overview says.
        let unread = notes.iter().filter(|entry| entry.is_note() && entry.state().digest().is_none());
        survey.unread_notes = unread.count();
        survey.graph = SurveyedGraph::of(context, notes)?.graph;
        Ok(ReadPayload::Survey(Box::new(survey)))
    }
}

/// A graph while it is put together.
struct SurveyedGraph<'n> {
    notes: &'n VisibleNotes,
    graph: NoteGraph,
}

impl<'n> SurveyedGraph<'n> {
    fn of(context: &Context<'_>, notes: &'n VisibleNotes) -> Result<Self, Reason> {
        let mut surveyed = Self { notes, graph: NoteGraph::default() };
        surveyed.add_notes();
        surveyed.add_links(&VaultLinks::of(context, notes)?);
        Ok(surveyed)
    }

    fn add_notes(&mut self) {
        let mut folders: HashMap<&str, u32> = HashMap::new();
        let mut tags: BTreeMap<String, (String, Vec<u32>)> = BTreeMap::new();
        for (number, entry) in (0_u32..).zip(self.notes.iter().filter(|entry| entry.is_note())) {
            let folder = folder_of(entry.path());
            // Folders are numbered as they come, so the graph names each once.
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

    fn add_links(&mut self, links: &VaultLinks<'_>) {
        // Files other than notes have no place in the graph.
        let mut numbers: Vec<Option<u32>> = Vec::with_capacity(links.files.len());
        let mut next = 0_u32..;
        numbers.extend(links.files.iter().map(|entry| if entry.is_note() { next.next() } else { None }));
        let number = |file: u32| numbers.get(file as usize).copied().flatten();
        let among_notes = links.links.iter().filter_map(|link| {
            let (from, to) = (number(link.from)?, number(link.to)?);
            Some(GraphLink { from, to })
        });
        self.graph.links.extend(among_notes);
        let mut unresolved: BTreeMap<String, UnresolvedLink> = BTreeMap::new();
        for link in &links.unresolved {
            // Canvases link, too, but are not notes of the graph.
            let Some(from) = number(link.source) else { continue };
            let new = || UnresolvedLink { target: link.target.to_string(), sources: Vec::new() };
            let sources = &mut unresolved.entry(link.target.to_lowercase()).or_insert_with(new).sources;
            // Links come by note, so the last one is enough to compare with.
            if sources.last() != Some(&from) {
                sources.push(from);
            }
        }
        self.graph.unresolved = unresolved.into_values().collect();
        self.graph.unresolved.sort_by_key(|link| std::cmp::Reverse(link.sources.len()));
    }
}
