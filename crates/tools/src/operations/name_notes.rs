//! The names of notes in the link graph: of some by number, or of those that a text is found in.

use lapidary_note::count_steps;
use lapidary_operation::{
    Context, NamedNotes, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
};
use lapidary_query::paths_mark;
use lapidary_toolkit::index;
use lapidary_vault::FileEntry;
use serde_json::{Map, Value, json};

/// Names some notes, which are numbered in path order as in a survey.
pub struct NameNotes {
    pub vault: Option<String>,
    /// Those to be named.
    pub numbers: Vec<u32>,
    /// Those whose paths contain this are found.
    pub find: Option<String>,
}

// Not logged: a picture asks for names whenever it is moved, and the survey that it shows is logged.
const DECLARATION: OperationDeclaration = OperationDeclaration { name: "vault/names", recorded: false };

/// More are not named at once.
const MOST_NAMES: usize = 200;

impl ReadOperation for NameNotes {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([
            ("vault".to_owned(), json!(self.vault)),
            ("numbers".to_owned(), json!(self.numbers)),
            ("find".to_owned(), json!(self.find)),
        ])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(self.vault.clone()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let files = index::files(context, vaults.one()?)?;
        let notes: Vec<FileEntry<'_>> = files.iter().filter(FileEntry::is_note).collect();
        let path = |number: &u32| notes.get(*number as usize).map(|note| (*number, note.path().to_string()));
        let words: Option<Vec<String>> =
            self.find.as_deref().map(|find| find.to_lowercase().split_whitespace().map(str::to_owned).collect());
        let is_found = |entry: &FileEntry<'_>, words: &[String]| {
            count_steps(entry.path().as_str().len());
            let path = entry.path().as_str().to_lowercase();
            words.iter().all(|word| path.contains(word))
        };
        let found = words.map(|words| {
            let numbered = (0_u32..).zip(&notes).filter(|(_, note)| is_found(note, &words));
            numbered.map(|(number, _)| number).collect::<Vec<u32>>()
        });
        Ok(ReadPayload::Names(NamedNotes {
            mark: paths_mark(notes.iter().map(|note| note.path().as_str())),
            paths: self.numbers.iter().take(MOST_NAMES).filter_map(path).collect(),
            found,
        }))
    }
}
