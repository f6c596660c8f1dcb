//! The names that a vault has, for a query that finds nothing: perhaps it misspells one.

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
};

use crate::nearest;

use super::{QueryContext, QueryHalt, QueryVault, RowSelection};

/// More names of a query are not looked for.
const MOST_WANTED: usize = 16;

/// Tags, folders and names of properties in the files that the caller may read.
#[derive(Default)]
pub struct KnownNames {
    /// Without `#`.
    tags: BTreeSet<String>,
    folders: BTreeSet<String>,
    properties: BTreeSet<String>,
}

impl KnownNames {
    /// Inline fields are properties only in Dataview.
    pub fn of(vault: &dyn QueryVault, context: &QueryContext<'_>, with_fields: bool) -> Result<Self, QueryHalt> {
        let mut known = Self::default();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        for number in vault.select(&RowSelection::Files).iter() {
            context.step(16)?;
            let Some(row) = vault.row(number) else { continue };
            let mut bytes = 0;
            let mut put = |names: &mut BTreeSet<String>, name: &str| {
                if !names.contains(name) {
                    bytes += name.len() + size_of::<String>();
                    names.insert(name.to_owned());
                }
            };
            // Most files are in a folder of which another was seen already.
            let folder = row.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            if seen.insert(folder.into()) {
                // Every folder above it is one that a query may name.
                let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
                ends.filter(|end| *end > 0).for_each(|end| put(&mut known.folders, &folder[..end]));
            }
            row.visit_tags(&mut |tag| {
                put(&mut known.tags, tag.name);
                ControlFlow::Continue(())
            });
            row.visit_properties(&mut |name, _| {
                put(&mut known.properties, name);
                ControlFlow::Continue(())
            });
            if with_fields {
                row.visit_fields(&mut |field| put(&mut known.properties, field.key));
            }
            // After the file, so that the budget is asked once and not for every name.
            context.hold(bytes)?;
        }
        Ok(known)
    }

    /// That no note has a tag, with the one that was probably meant.
    pub fn without_tag(&self, tag: &str) -> String {
        let meant = nearest(tag.trim_start_matches('#'), self.tags.iter().map(String::as_str));
        unknown("no note has the tag", &format!("#{}", tag.trim_start_matches('#')), meant.map(|tag| format!("#{tag}")))
    }

    /// That there is no such folder.
    pub fn without_folder(&self, folder: &str) -> String {
        let meant = nearest(folder, self.folders.iter().map(String::as_str));
        unknown("there is no folder", &format!("\"{folder}\""), meant.map(|folder| format!("\"{folder}\"")))
    }

    /// That no note has a property.
    pub fn without_property(&self, name: &str) -> String {
        let meant = nearest(name, self.properties.iter().map(String::as_str));
        unknown("no note has the property", name, meant.map(str::to_owned))
    }

    /// The same, if a property of another name is near.
    pub fn nearest_property(&self, name: &str) -> Option<String> {
        nearest(name, self.properties.iter().map(String::as_str))
            .map(|meant| unknown("no note has the property", name, Some(meant.to_owned())))
    }

    /// Keeps the names that no note has as a property. Most queries name what is in one of the first notes, which is
    /// sooner found than all names.
    pub fn retain_unknown_properties(
        vault: &dyn QueryVault,
        context: &QueryContext<'_>,
        with_fields: bool,
        wanted: &mut Vec<String>,
        is_same: &dyn Fn(&str, &str) -> bool,
    ) -> Result<(), QueryHalt> {
        // Each is compared with every name of every note.
        wanted.truncate(MOST_WANTED);
        for number in vault.pages().iter() {
            if wanted.is_empty() {
                break;
            }
            context.step(1 + wanted.len() as u64)?;
            let Some(row) = vault.row(number) else { continue };
            row.visit_properties(&mut |known, _| {
                wanted.retain(|name| !is_same(known, name));
                ControlFlow::Continue(())
            });
            if with_fields {
                row.visit_fields(&mut |field| wanted.retain(|name| !is_same(field.key, name)));
            }
        }
        Ok(())
    }
}

fn unknown(what: &str, name: &str, meant: Option<String>) -> String {
    match meant {
        Some(meant) => format!("{what} {name}; did you mean {meant}?"),
        None => format!("{what} {name}"),
    }
}
