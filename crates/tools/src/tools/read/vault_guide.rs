//! Reads the owner's guide to a vault.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, fence::fenced,
    quote::quoted,
};
use lapidary_toolkit::{hash, owner_guide};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct VaultGuide;

/// How the owner wants assistants to work in this vault: its guide (`AGENTS.md`, `CLAUDE.md` or a note of the owner's choice).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Without properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    guide: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    /// The line of the note at which the rest begins, if it is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
}

/// Longer guides are cut: some 8,000 tokens.
const MOST_BYTES: usize = 32 << 10;

impl ReadTool for VaultGuide {
    const DECLARATION: Declaration = Declaration {
        name: "vault_guide",
        dotted: None,
        title: "Owner's guide",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[ReasonKind::NotText],
        words: "owner's guide instructions for this vault, AGENTS.md, CLAUDE.md, house rules, conventions, how should I work here, where do notes go, Anleitung Regeln des Vaults, guide du coffre, guía de la bóveda, 使用指南, 約束",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, Input {}: Input) -> Result<Output, Reason> {
        let found = owner_guide::find(context, view, MOST_BYTES)?;
        let notice = found.is_none().then_some(owner_guide::NONE);
        Ok(match found {
            Some(found) => Output {
                path: Some(found.path.to_string()),
                guide: Some(found.text),
                content_hash: Some(found.hash.to_string()),
                rest_line: found.rest_line,
                notice,
            },
            None => Output { path: None, guide: None, content_hash: None, rest_line: None, notice },
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let (Some(path), Some(guide), Some(hash)) = (&output.path, &output.guide, &output.content_hash) else {
            return output.notice.map(str::to_owned);
        };
        let (path, digits) = (quoted(path), hash::digits(hash));
        let rest = output.rest_line.map_or(String::new(), |line| format!("\nThe rest is in {path} from line {line}."));
        Some(format!("The owner's guide, {path}, hash {digits}:\n{}{rest}", fenced(guide)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] =
            &[("AGENTS.md", "---\ntags: [meta]\n---\nNew notes go to `Inbox`.\n"), ("CLAUDE.md", "See AGENTS.md.\n")];
        vec![
            Example {
                says: "The guide without its properties",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Including(json!({ "path": "AGENTS.md", "guide": "New notes go to `Inbox`." })),
                after: &[],
            },
            Example {
                says: "A vault without a guide",
                before: &[("Plan.md", "x\n")],
                input: json!({}),
                gives: ExampleResult::Output(json!({ "notice": owner_guide::NONE })),
                after: &[],
            },
            Example {
                says: "A file that is not text",
                before: &[("AGENTS.md", "a\0b")],
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::NotText),
                after: &[],
            },
        ]
    }
}
