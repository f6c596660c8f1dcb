//! The answers of operations, as values that a transport turns into its reply.

use std::sync::Arc;

use lapidary_note::ContentHash;
use lapidary_query::NoteGraph;
use lapidary_vault::{Checkpoint, LastSeen, VaultPath, View, store::Capabilities};
use serde_json::{Map, Value};

use crate::{AppFacts, ReasonKind, RenderedReply, RestPayload};

/// The answer of an operation.
pub enum ReadPayload {
    /// Of a tool.
    Tool(RenderedReply),
    Contents(ResourceBody),
    Completed(CompletedValues),
    Prompts(Vec<ListedPrompt>),
    FilledPrompt(FilledPrompt),
    Skills(Vec<SkillEntry>),
    Subscribed(FileSubscription),
    /// The subscriptions after another check, each with whether there is news.
    Checked(Vec<(FileSubscription, bool)>),
    PromptsWatched {
        seen: PromptsSeen,
        changed: bool,
    },
    History(Box<CheckpointHistory>),
    Survey(Box<VaultSurvey>),
    Names(NamedNotes),
    Guides(Vec<OwnerGuide>),
    /// For the REST API.
    Rest(RestPayload),
}

impl ReadPayload {
    /// How long the reply is, for the log.
    pub fn reply_bytes(&self) -> usize {
        match self {
            Self::Tool(rendered) => rendered.bytes(),
            Self::Contents(ResourceBody { form: ContentForm::Text(text), .. }) => text.len(),
            Self::Contents(ResourceBody { form: ContentForm::Bytes(bytes), .. }) => bytes.len(),
            Self::FilledPrompt(filled) => filled.text.len(),
            Self::Guides(guides) => guides.iter().map(|guide| guide.text.len()).sum(),
            Self::Rest(payload) => payload.bytes(),
            Self::Completed(_)
            | Self::Prompts(_)
            | Self::Skills(_)
            | Self::Subscribed(_)
            | Self::Checked(_)
            | Self::PromptsWatched { .. }
            | Self::History(_)
            | Self::Survey(_)
            | Self::Names(_) => 0,
        }
    }

    /// The part that the reply limit applies to: text for a model. Content without text is limited by the size of
    /// files.
    pub fn limited_bytes(&self) -> usize {
        match self {
            // What a program asked for is limited by the size of files and by memory.
            Self::Contents(ResourceBody { form: ContentForm::Bytes(_), .. }) | Self::Rest(_) => 0,
            other => other.reply_bytes(),
        }
    }
}

/// The content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceBody {
    pub media_type: &'static str,
    pub form: ContentForm,
    /// Of the file, if it is one; a note has it in its JSON.
    pub hash: Option<ContentHash>,
    /// Set if the lines of the file do not end with `\n`.
    pub eol: Option<&'static str>,
    pub bom: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentForm {
    Text(String),
    Bytes(Vec<u8>),
}

/// Values that start with or contain the typed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletedValues {
    /// The best of them.
    pub values: Vec<String>,
    /// The total number.
    pub total: usize,
}

/// The state of a vault: nothing, or why it cannot be used.
pub struct VaultState {
    pub name: String,
    pub problem: Option<ReasonKind>,
    /// What its place can promise; not of a vault that cannot be used.
    pub capabilities: Option<Capabilities>,
    /// Its Obsidian app, if it may be looked for.
    pub app: Option<Arc<dyn AppFacts>>,
}

/// A prompt as listed to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPrompt {
    /// The vault, and the path below `Prompts` without its extension.
    pub name: String,
    pub vault: String,
    pub title: String,
    pub description: Option<String>,
    pub arguments: Vec<PromptArgument>,
    /// A playbook, from the folder that the owner chose for them.
    pub is_skill: bool,
    pub path: VaultPath,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: Option<String>,
}

/// A prompt with its arguments filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledPrompt {
    pub description: Option<String>,
    pub text: String,
}

/// A skill as listed to clients, which check all that they read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillEntry {
    /// Of its `SKILL.md`.
    pub uri: String,
    /// Every property of its `SKILL.md`.
    pub frontmatter: Map<String, Value>,
    /// All its files, `SKILL.md` first.
    pub files: Vec<SkillFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    pub uri: String,
    pub hash: ContentHash,
    pub bytes: u64,
}

/// A file that a client subscribed to, and its state at the last check.
#[derive(Clone, Debug)]
pub struct FileSubscription {
    pub uri: String,
    pub vault: String,
    pub sight: LastSeen,
}

/// The prompts at the last check.
#[derive(Clone, Debug, Default)]
pub struct PromptsSeen {
    /// A fingerprint of all prompts; `None` before the first check.
    pub mark: Option<ContentHash>,
    pub list: Vec<ListedPrompt>,
}

/// The checkpoints that the caller may see, oldest first, and the view through which their contents are read one at a
/// time: all old contents together may exceed memory.
pub struct CheckpointHistory {
    pub checkpoints: Vec<Checkpoint>,
    pub view: View,
}

/// A whole vault, as far as the caller may see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VaultSurvey {
    pub vault: String,
    /// Its name in links that open the app.
    pub vault_in_obsidian: String,
    pub graph: NoteGraph,
    /// Files other than notes.
    pub other_files: usize,
    pub other_bytes: u64,
    /// Notes that could not be read, so that their links and tags are missing.
    pub unread_notes: usize,
}

/// The names of some notes of a vault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedNotes {
    /// Of all notes: numbers of another vault state mean other notes.
    pub mark: String,
    /// By number.
    pub paths: Vec<(u32, String)>,
    /// The numbers of the notes that fit, if some were looked for.
    pub found: Option<Vec<u32>>,
}

/// The owner's guide to a vault, or its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerGuide {
    pub vault: String,
    pub path: VaultPath,
    /// Without properties.
    pub text: String,
    /// Of the file.
    pub hash: ContentHash,
    /// The line of the file at which the rest begins, if it was cut.
    pub rest_line: Option<usize>,
}
