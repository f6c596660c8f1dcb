//! Findings about links: those that lead nowhere, notes without any, and notes with too many.

use std::collections::BTreeMap;

use lapidary_note::{count_steps, counted};
use lapidary_operation::{
    Reason,
    quote::{quoted, quoted_path},
};
use lapidary_vault::VaultPath;

use super::{CheckedVault, FindingFix, FindingKind, HealthFinding};
use crate::{unresolved::CertainMatch, vault_links::is_attachment_name};

/// Notes with more links to them are hubs.
const HUB_LINKS: usize = 50;
/// A note is an index of a hub if it links to this share of those that link to the hub.
const INDEX_SHARE: usize = 3;

impl CheckedVault<'_, '_, '_> {
    pub(super) fn unresolved_links(&mut self, kind: FindingKind) -> Result<(), Reason> {
        // Each target once for a note, with the line of its first link.
        let mut targets: BTreeMap<(u32, String), (String, usize, usize)> = BTreeMap::new();
        for link in &self.links.unresolved {
            // Only the name decides what was meant; folders are often left out.
            let name = link.target.rsplit('/').next().unwrap_or_default();
            let of_kind =
                if is_attachment_name(name) { FindingKind::MissingAttachment } else { FindingKind::BrokenLink };
            if of_kind == kind {
                let key = (link.source, link.target.to_lowercase());
                let entry = targets.entry(key).or_insert_with(|| (link.target.to_string(), link.line, 0));
                entry.2 += 1;
            }
        }
        for ((source, _), (target, line, count)) in targets {
            self.context.check()?;
            let Some(source) = self.links.path(source) else { continue };
            // In this order: where nothing can be written, no fix is offered.
            let fix = match self.known.certain(&target) {
                _ if source.is_canvas() => Err("a card is placed by a person: edit the canvas"),
                _ if self.view.may_write(source).is_err() => Err("the note may not be changed"),
                Some((why, to)) => Ok(FindingFix::Retarget {
                    source: source.clone(),
                    target: target.clone(),
                    to: to.clone(),
                    keeps_words: why == CertainMatch::Alias,
                }),
                None => Err("no file is surely meant: create it, or edit the link"),
            };
            let times = if count > 1 { format!(", {count} times") } else { String::new() };
            let says =
                format!("{}:{line} links to {}, which does not exist{times}", quoted_path(source), quoted(&target));
            let about = [source.as_str(), target.as_str()];
            let finding = HealthFinding::new(kind, &about, &[source], says, fix);
            self.found.push(HealthFinding { target: Some(target), ..finding });
        }
        Ok(())
    }

    pub(super) fn orphan_notes(&mut self) {
        let both = self.links.both_ways();
        let orphans: Vec<&VaultPath> = self
            .links
            .numbered()
            .filter(|(file, entry)| entry.is_note() && both.degree(*file) == 0)
            .map(|(_, entry)| entry.path())
            .collect();
        for path in orphans {
            let says = format!("{} has no links and no backlinks", quoted_path(path));
            let fix = Err("only its owner knows where it belongs: link it from a note");
            self.add(FindingKind::OrphanNote, &[path.as_str()], &[path], says, fix);
        }
    }

    pub(super) fn hubs(&mut self) {
        let both = self.links.both_ways();
        // Collected, because adding a finding needs the whole struct.
        for (file, entry) in self.links.numbered().filter(|(_, entry)| entry.is_note()).collect::<Vec<_>>() {
            let sources = both.sources(file);
            if sources.len() <= HUB_LINKS {
                continue;
            }
            // How many of them each note links to; the hub itself may be their index.
            let mut listed: BTreeMap<u32, usize> = BTreeMap::new();
            for source in sources {
                // Notes that link to one of the sources: an index would link to many of them.
                for index in both.sources(*source) {
                    count_steps(4);
                    *listed.entry(*index).or_default() += 1;
                }
            }
            if listed.values().any(|count| count * INDEX_SHARE >= sources.len()) {
                continue;
            }
            let path = entry.path();
            let says =
                format!("{} link to {}, and no note lists them", counted(sources.len(), "note"), quoted_path(path));
            let fix = Err("what to list is a choice: make an index note, or a base");
            self.add(FindingKind::HubWithoutIndex, &[path.as_str()], &[path], says, fix);
        }
    }
}
