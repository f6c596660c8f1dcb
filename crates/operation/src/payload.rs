//! What operations answer, as values: a transport makes its reply of them.

use lapidary_note::ContentHash;
use lapidary_vault::{Checkpoint, LastSeen, VaultPath, View};

use crate::{ReasonKind, RenderedReply};

/// What an operation answers.
pub enum ReadPayload {
    /// Of a tool.
    Tool(RenderedReply),
    Contents(ResourceBody),
    Completed(CompletedValues),
    Prompts(Vec<ListedPrompt>),
    FilledPrompt(FilledPrompt),
    Subscribed(FileSubscription),
    /// The subscriptions after another look, each with whether there is news.
    Checked(Vec<(FileSubscription, bool)>),
    PromptsWatched {
        seen: PromptsSeen,
        changed: bool,
    },
    History(Box<CheckpointHistory>),
}

impl ReadPayload {
    /// How long the reply is, for the log.
    pub fn reply_bytes(&self) -> usize {
        match self {
            Self::Tool(rendered) => rendered.bytes(),
            Self::Contents(ResourceBody { form: ContentForm::Text(text), .. }) => text.len(),
            Self::Contents(ResourceBody { form: ContentForm::Bytes(bytes), .. }) => bytes.len(),
            Self::FilledPrompt(filled) => filled.text.len(),
            Self::Completed(_)
            | Self::Prompts(_)
            | Self::Subscribed(_)
            | Self::Checked(_)
            | Self::PromptsWatched { .. }
            | Self::History(_) => 0,
        }
    }

    /// As much of it as the limit of replies is for: text for a model. Of what has no text, the size of files is the
    /// limit.
    pub fn limited_bytes(&self) -> usize {
        match self {
            Self::Contents(ResourceBody { form: ContentForm::Bytes(_), .. }) => 0,
            other => other.reply_bytes(),
        }
    }
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceBody {
    pub media_type: &'static str,
    pub form: ContentForm,
    /// Of the file, where it is one; a note has it in its JSON.
    pub hash: Option<ContentHash>,
    /// Set where the lines of the file do not end with `\n`.
    pub eol: Option<&'static str>,
    pub bom: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentForm {
    Text(String),
    Bytes(Vec<u8>),
}

/// What begins with what was typed, or holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletedValues {
    /// The best of them.
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: usize,
}

/// How a vault is doing: nothing, or why it cannot be used.
pub struct VaultState {
    pub name: String,
    pub problem: Option<ReasonKind>,
}

/// A prompt as clients list it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPrompt {
    /// The vault, and the path below `Prompts` without its ending.
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

/// A prompt with its arguments in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledPrompt {
    pub description: Option<String>,
    pub text: String,
}

/// A file that a client wants to hear of, and what it would have read at the last look.
#[derive(Clone, Debug)]
pub struct FileSubscription {
    pub uri: String,
    pub vault: String,
    pub sight: LastSeen,
}

/// The prompts at the last look.
#[derive(Clone, Debug, Default)]
pub struct PromptsSeen {
    /// What tells one state of all prompts from another; `None` before the first look.
    pub mark: Option<ContentHash>,
    pub list: Vec<ListedPrompt>,
}

/// The checkpoints that the caller may see, oldest first, and the view through which their contents are read one by one:
/// all old contents together may be larger than memory.
pub struct CheckpointHistory {
    pub checkpoints: Vec<Checkpoint>,
    pub view: View,
}
