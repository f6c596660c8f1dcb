//! A note type as a caller names it.

use std::collections::BTreeMap;

use lapidary_operation::{Context, Reason, quote::Prose};
use lapidary_vault::{PathPrefix, View};

use super::NoteType;
use crate::{folder::FolderTarget, index};

/// The arguments of tools that look at the notes of a type.
pub struct TypeInput<'a> {
    pub folder: Option<&'a str>,
    pub tag: Option<&'a str>,
    pub property: &'a BTreeMap<String, String>,
}

impl TypeInput<'_> {
    /// The folder has to be there, so that a misspelt one is not taken for one without notes.
    pub fn parse(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<NoteType, Reason> {
        let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let folder = self.folder.map(|folder| folder.trim().trim_matches('/')).filter(|folder| !folder.is_empty());
        let folder = match folder {
            Some(_) => FolderTarget::chosen(view, index::notes(context, view)?, folder)?,
            None => None,
        };
        let folder = folder.map(|folder| PathPrefix::parse(folder.as_str())).transpose();
        let notes = NoteType {
            folder: folder.map_err(|error| Reason::bad_argument(tool, "folder", Prose::ours(error)))?,
            tag: self.tag.and_then(|tag| filled(tag.trim().trim_start_matches('#'))),
            properties: self.property.iter().map(|(name, value)| (name.clone(), value.trim().to_owned())).collect(),
        };
        match notes.is_empty() {
            true => Err(Reason::bad_argument(tool, "folder", "must be given, or `tag` or `property`")),
            false => Ok(notes),
        }
    }
}
