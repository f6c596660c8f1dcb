//! Choosing among several occurrences of a text.

use lapidary_note::{Document, Occurrence, ReplaceError};
use lapidary_operation::{ArgumentProblem, Context, Reason};
use lapidary_vault::VaultPath;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::near_text::{lines_of, near_text};

/// Which of several places with the same text a caller refers to.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(untagged)]
pub enum OccurrenceChoice {
    #[default]
    Unsaid,
    Word(OccurrenceWord),
    Number(usize),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OccurrenceWord {
    Unique,
    All,
}

impl JsonSchema for OccurrenceChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "string", "enum": ["unique", "all"] }, { "type": "integer", "minimum": 1 }],
        })
    }
}

impl From<OccurrenceChoice> for Occurrence {
    fn from(which: OccurrenceChoice) -> Self {
        match which {
            OccurrenceChoice::Unsaid | OccurrenceChoice::Word(OccurrenceWord::Unique) => Self::Unique,
            OccurrenceChoice::Word(OccurrenceWord::All) => Self::All,
            OccurrenceChoice::Number(number) => Self::Nth(number),
        }
    }
}

/// Why a text was not replaced in a document, for the caller.
pub fn refusal(
    context: &Context<'_>,
    tool: &str,
    path: &VaultPath,
    document: &Document,
    find: &str,
    error: ReplaceError,
) -> Reason {
    let path = path.clone();
    let shown = document.shown();
    let bad_argument = |at: &str, problem: &'static str| Reason::InvalidArguments {
        tool: tool.to_owned(),
        problems: vec![ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None }],
    };
    match error {
        ReplaceError::EmptyFind => bad_argument("find", "must not be empty"),
        ReplaceError::MergedLineEnds => {
            bad_argument("replace", "would merge two different line endings into one; include them in `find`")
        }
        ReplaceError::NotFound => {
            // The caller knows its text; the beginning is enough to recognise it.
            Reason::TextMissing { path, preview: find.chars().take(80).collect(), near: near_text(shown, find) }
        }
        ReplaceError::NotUnique { occurrences } => {
            // Documents are searched with `\n` alone, so lines are counted in the same form.
            Reason::TextNotUnique { path, occurrences, lines: lines_of(shown, &find.replace("\r\n", "\n")) }
        }
        ReplaceError::TooLarge { bytes } => context.budget.file_too_large(&path, bytes),
        ReplaceError::OutOfRange { occurrences, wanted } => Reason::OccurrenceOutOfRange { path, occurrences, wanted },
    }
}
