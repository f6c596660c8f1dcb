//! Reads a file from a checkpoint.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{
    checkpoint,
    reading::{self, NOT_UTF8},
};
use lapidary_vault::{File, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct CheckpointRead;

/// Read a file as it was before a change, or what another program wrote to it after it was replaced.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Its id, or a unique prefix of at least four characters.
    id: String,
    /// Path of the file at that time.
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    id: String,
    path: String,
    content: String,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    eol: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for CheckpointRead {
    const DECLARATION: Declaration = Declaration {
        name: "checkpoint_read",
        dotted: None,
        title: "Read an old version",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Read }],
        reasons: &[ReasonKind::CheckpointMissing, ReasonKind::CheckpointAmbiguous, ReasonKind::VersionMissing],
        words: "read an old earlier previous version of a note, history, before the change",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, _: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let given = reading::parse_path(&input.path)?;
        let found = checkpoint::find(view, &input.id)?;
        let entry = checkpoint::entry_of(&found, &given)?;
        let path = &entry.path;
        // A file that the change created has no earlier version.
        let created = || Reason::VersionMissing { path: path.clone(), wanted: found.id.clone() };
        let bytes = checkpoint::content(view, &found, entry)?.ok_or_else(created)?;
        let file = File { content: bytes.into(), modified: None, created: None };
        let shown = reading::show(path, &file)?;
        Ok(Output {
            id: found.id.clone(),
            path: path.to_string(),
            content: shown.text().to_owned(),
            content_hash: file.hash().to_string(),
            eol: shown.eol(),
            bom: shown.bom(),
            notice: shown.is_lossy().then(|| NOT_UTF8.to_owned()),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(format!("{} before {}\n{}", quoted(&output.path), output.id, fenced(&output.content)))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "The note before the first change",
                before: &[("a.md", "old\n")],
                input: json!({ "id": "c0ff", "path": "a.md" }),
                gives: ExampleResult::Including(json!({ "content": "old\n" }))
                    .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: &[],
            },
            Example {
                says: "A checkpoint that does not exist",
                before: &[],
                input: json!({ "id": "abcd", "path": "a.md" }),
                gives: ExampleResult::Refusal(ReasonKind::CheckpointMissing),
                after: &[],
            },
        ]
    }
}
