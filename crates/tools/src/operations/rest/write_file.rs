//! A file gets another content, or more of it.

use base64::{Engine, engine::general_purpose::STANDARD};
use lapidary_note::FileContent;
use lapidary_operation::{
    Context, Declaration, Effect, Example, PathArgument, PathRole, Reason, ReasonKind, ToolPlan, WriteTool,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    RestChange,
    changes::{RequestedFile, declared},
};

pub(crate) struct RestWrite;

/// Write a file exactly as sent.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    path: String,
    /// Text, or bytes in base64 if it is not text.
    content: String,
    #[serde(default)]
    is_base64: bool,
    /// Behind what is there, on a new line.
    #[serde(default)]
    append: bool,
    /// What a missing file begins with, before the text that is appended.
    #[serde(default)]
    begins: Option<String>,
    /// Only a file that does not exist yet.
    #[serde(default)]
    must_be_new: bool,
    #[serde(default)]
    expected_hash: Option<String>,
}

impl WriteTool for RestWrite {
    const DECLARATION: Declaration = declared(
        "rest/write",
        "REST: write a file",
        &[PathArgument { pointer: "/path", role: PathRole::Write }],
        &[ReasonKind::FileExists, ReasonKind::StalePrecondition],
    );
    const EFFECT: Effect = Effect::Write;
    const IN_BATCHES: bool = false;
    type Input = Input;
    type Output = RestChange;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<RestChange>, Reason> {
        let name = Self::DECLARATION.name;
        let file = RequestedFile::begin(name, context, view, &input.path, input.expected_hash.as_deref())?;
        // For a request that says `If-None-Match: *`.
        if let Some(before) = file.before.as_ref().filter(|_| input.must_be_new) {
            return Err(Reason::FileExists { path: file.path.clone(), current: before.hash() });
        }
        let sent = match input.is_base64 {
            true => {
                STANDARD.decode(&input.content).map_err(|_| Reason::bad_argument(name, "content", "must be base64"))?
            }
            false => input.content.into_bytes(),
        };
        let before = match (&file.before, input.begins) {
            _ if !input.append => None,
            (Some(before), _) => Some(before.bytes().to_vec()),
            (None, begins) => begins.map(String::into_bytes),
        };
        let content = match before {
            None => sent,
            Some(mut content) => {
                // New text begins on a line by itself, as in the plugin.
                if !content.is_empty() && !content.ends_with(b"\n") {
                    // With the ending that the file has, so that it does not become mixed.
                    let is_crlf = content.windows(2).any(|pair| pair == b"\r\n");
                    content.extend_from_slice(if is_crlf { b"\r\n" } else { b"\n" });
                }
                content.extend_from_slice(&sent);
                content
            }
        };
        Ok(file.plan(FileContent::from(content), !input.append, Vec::new()))
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}
