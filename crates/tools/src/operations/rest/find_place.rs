//! What a path of the REST API leads to: a file, a folder, or a part of a file.

use std::{cmp::Ordering, collections::BTreeSet};

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, RestPayload, RestPlace, ToolGroup,
    VaultChoice,
};
use lapidary_toolkit::{index, reading};
use lapidary_vault::{VaultPath, View};
use serde_json::{Map, Value, json};

/// Finds what the parts of a path lead to. A part with a slash in it can only belong to the name of a heading.
pub struct FindPlace {
    pub vault: String,
    pub parts: Vec<String>,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "rest/find", recorded: true };

impl ReadOperation for FindPlace {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("parts".to_owned(), json!(self.parts))])
    }

    fn files(&self) -> Vec<String> {
        self.whole().map(|path| path.to_string()).into_iter().collect()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let place = self.place(context, vaults.one()?)?;
        Ok(ReadPayload::Rest(RestPayload::Place(place)))
    }
}

impl FindPlace {
    fn whole(&self) -> Option<VaultPath> {
        path_of(&self.parts)
    }

    fn place(&self, context: &Context<'_>, view: &View) -> Result<RestPlace, Reason> {
        if self.parts.is_empty() {
            return Ok(RestPlace::Folder(names(context, view, None)?));
        }
        if let Some(path) = self.whole() {
            // The whole path as a file comes first: a note may be called like a heading of another.
            if let Some(found) = file(view, path.clone(), Vec::new())? {
                return Ok(found);
            }
            let names = names(context, view, Some(&path))?;
            // A folder exists for the caller through the files in it that it may see.
            if !names.is_empty() {
                return Ok(RestPlace::Folder(names));
            }
        }
        // From the longest on: a folder may be named like a file.
        for known in (1..self.parts.len()).rev() {
            context.check()?;
            if let Some(path) = path_of(&self.parts[..known])
                && let Some(found) = file(view, path, self.parts[known..].to_vec())?
            {
                return Ok(found);
            }
        }
        Ok(RestPlace::Nothing)
    }
}

fn path_of(parts: &[String]) -> Option<VaultPath> {
    if parts.iter().any(|part| part.is_empty() || part.contains(['/', '\\'])) {
        return None;
    }
    VaultPath::parse(&parts.join("/")).ok()
}

/// A file that the caller may read. A closed one is not there.
fn file(view: &View, path: VaultPath, rest: Vec<String>) -> Result<Option<RestPlace>, Reason> {
    if !view.shows(&path) {
        return Ok(None);
    }
    match reading::read_if_there(view, &path) {
        Ok(file) => Ok(file.map(|file| RestPlace::File { path, file, rest })),
        // What is closed, or not a file, is simply not found: the answer must not tell the two apart.
        Err(Reason::PathIsDirectory { .. } | Reason::NotAFile { .. } | Reason::PathForbidden { .. }) => Ok(None),
        Err(Reason::NoteMissing { .. } | Reason::PathInvalid { .. } | Reason::PathIsFile { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The names directly in a folder, as far as the caller sees files there. An empty folder has none, as in the app.
fn names(context: &Context<'_>, view: &View, folder: Option<&VaultPath>) -> Result<Vec<String>, Reason> {
    let prefix = folder.map_or_else(String::new, |folder| format!("{folder}/"));
    let mut found = BTreeSet::new();
    // Over all files that the caller sees, so hidden folders do not show.
    for entry in index::files(context, view)?.iter() {
        context.check()?;
        if let Some(below) = entry.path().as_str().strip_prefix(&prefix) {
            found.insert(match below.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => below.to_owned(),
            });
        }
    }
    let mut names: Vec<String> = found.into_iter().collect();
    // In the order of the plugin, which programs may rely on.
    names.sort_by(|one, other| as_javascript(one, other));
    Ok(names)
}

/// JavaScript compares the units of UTF-16.
fn as_javascript(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}
