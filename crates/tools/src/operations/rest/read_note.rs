//! A note as JSON, and the tags of the vault.

use std::collections::HashMap;

use lapidary_note::{ContentHash, Document};
use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, RestPayload, ToolGroup,
    VaultChoice, bug,
};
use lapidary_query::Logic;
use lapidary_toolkit::{index, reading};
use lapidary_vault::{NoteRows, VaultPath};
use serde_json::{Map, Value, json};

/// A file in the form `application/vnd.olrapi.note+json`.
pub struct ReadNote {
    pub vault: String,
    pub path: VaultPath,
}

const NOTE: OperationDeclaration = OperationDeclaration { name: "rest/note", recorded: true };

impl ReadOperation for ReadNote {
    fn declaration(&self) -> &'static OperationDeclaration {
        &NOTE
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("path".to_owned(), json!(self.path.as_str()))])
    }

    fn files(&self) -> Vec<String> {
        vec![self.path.to_string()]
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let view = vaults.one()?;
        // Without suggestions: programs have no use for them.
        let file = reading::read_exactly(view, &self.path)?;
        let notes = index::notes(context, view)?;
        let missing = || Reason::NoteMissing { path: self.path.clone(), suggestions: Vec::new() };
        let entry = notes.find(&self.path).ok_or_else(missing)?;
        let go_on = || context.cancel.check().is_ok();
        let rows = NoteRows::new(notes, &go_on);
        // The object that rules are evaluated on is the one that the API shows.
        let whole = Logic::parse(&json!({ "var": "" })).map_err(|error| bug!("a rule of ours: {error}"))?;
        let note = whole.apply_to(&rows.row(entry).with_bytes(file.bytes()));
        let note = note.map_err(|halt| bug!("a note could not be shown: {halt}"))?;
        // When stopped early, only half of the links are known.
        context.check()?;
        let mut note = Value::from(&note);
        // Of what was read just now: the index may be a moment behind.
        note["stat"]["size"] = json!(file.content.len());
        note["version"] = json!(file_version(&file.hash()));
        Ok(ReadPayload::Rest(RestPayload::Json(note)))
    }
}

/// The token by which the API compares versions of a file. The plugin's has six digits, but programs only ever send back what they
/// got, and with 24 bits one in sixteen million overwrites would be of a version that its sender has not seen; any program that may write could
/// even choose it. 128 bits have no such pairs.
pub fn file_version(hash: &ContentHash) -> String {
    hash.to_string().trim_start_matches("sha256:").chars().take(32).collect()
}

/// Every tag with the number of its uses and those of the tags below it, in the order in which they are found.
pub struct RestTags {
    pub vault: String,
}

const TAGS: OperationDeclaration = OperationDeclaration { name: "rest/tags", recorded: true };

impl ReadOperation for RestTags {
    fn declaration(&self) -> &'static OperationDeclaration {
        &TAGS
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::new()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        /// A tag nested deeper than is realistic counts for its topmost parents only.
        const MOST_PARENTS: usize = 32;
        let (mut places, mut counts): (HashMap<String, usize>, Vec<(String, u64)>) = Default::default();
        let mut count = |name: &str| {
            let place = *places.entry(name.to_owned()).or_insert_with(|| {
                counts.push((name.to_owned(), 0));
                counts.len() - 1
            });
            counts[place].1 += 1;
        };
        let view = vaults.one()?;
        // The index has each tag of a note once, and the app counts every use.
        let in_texts = index::map_texts(context, index::files_to_search(context, view)?, |entry, bytes| {
            let document =
                // Most notes have no `#`, and then the text need not be parsed.
                Document::open(bytes.to_vec()).ok().filter(|_| entry.path().is_note() && bytes.contains(&b'#'))?;
            let (text, note) = (document.shown(), document.note());
            let names: Vec<String> = note.tags.iter().map(|tag| text[tag.name()].to_owned()).collect();
            (!names.is_empty()).then(|| (entry.path().clone(), names))
        })?;
        let in_texts: HashMap<VaultPath, Vec<String>> = in_texts.into_iter().collect();
        for (entry, digest) in index::notes(context, view)?.notes() {
            context.check()?;
            let in_properties = digest.written_tags().filter(|tag| tag.in_properties).map(|tag| tag.name);
            let in_text = in_texts.get(entry.path()).into_iter().flatten().map(String::as_str);
            for name in in_properties.chain(in_text).map(|name| name.trim_start_matches('#')) {
                if name.is_empty() {
                    continue;
                }
                count(name);
                let parents = name.match_indices('/').map(|(at, _)| &name[..at]).filter(|parent| !parent.is_empty());
                parents.take(MOST_PARENTS).for_each(&mut count);
            }
        }
        let tags: Vec<Value> =
            counts.into_iter().map(|(name, count)| json!({ "name": name, "count": count })).collect();
        Ok(ReadPayload::Rest(RestPayload::Json(json!({ "tags": tags }))))
    }
}
