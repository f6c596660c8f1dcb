//! Finds and replaces in a note.

mod in_scope;

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    note_edit::{NoteEdit, NoteWritten, NotesMade},
    target::NoteTarget,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianReplaceInNote;

/// Find and replace in one note, all occurrences by default, all replacements or none. For one exact place, use
/// `str_replace`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: NoteTarget,
    /// In order.
    #[schemars(length(min = 1))]
    replacements: Vec<ReplaceRequest>,
    /// The text, the properties, or both.
    #[serde(default)]
    scope: ReplaceScope,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplaceRequest {
    #[schemars(length(min = 1))]
    search: String,
    /// `$1`, `$&` and `$<name>` with `useRegex`.
    replace: String,
    /// ECMAScript.
    #[serde(default)]
    use_regex: bool,
    #[serde(default = "yes")]
    case_sensitive: bool,
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    whole_word: bool,
    /// White space matches any white space, including line breaks.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    flexible_whitespace: bool,
    #[serde(default = "yes")]
    replace_all: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum ReplaceScope {
    #[default]
    Body,
    Frontmatter,
    Both,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    total_replacements: usize,
    per_replacement: Vec<ReplacementCount>,
    #[serde(flatten)]
    written: NoteWritten,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReplacementCount {
    search: String,
    count: usize,
    body_count: usize,
    frontmatter_count: usize,
}

impl WriteTool for ObsidianReplaceInNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_replace_in_note",
        dotted: None,
        title: "Obsidian Replace In Note",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::PeriodicNotFound,
            ReasonKind::RegexInvalid,
            ReasonKind::RegexUnsafe,
            ReasonKind::PatchRejected,
            ReasonKind::FrontmatterInvalid,
        ],
        words: "search and replace all occurrences in a note, regular expression, rename a word everywhere",
    };
    const EFFECT: Effect = Effect::Write;
    const TAKES_TARGET: bool = true;
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/replacements/*/search", TextLanguage::Pattern).when("useRegex", "true"),
        TextArgument::new("/replacements/*/replace", TextLanguage::Replacement).when("useRegex", "true"),
    ];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let writing = NoteEdit::begin(
            tool,
            context,
            view,
            &input.target,
            NotesMade::Nothing,
            input.expected_hash.as_deref(),
            input.dry_run,
        )?;
        let before = writing.document()?;
        let mut document = before.clone();
        let mut counts = Vec::new();
        // Each on the result of the one before, as the schema promises.
        for wanted in &input.replacements {
            let (edited, count) = in_scope::replaced(context, writing.path(), &document, wanted, input.scope)?;
            document = edited;
            counts.push(count);
        }
        // Once, at the end: the properties may be invalid between two replacements.
        in_scope::check_properties(
            // Compared with the note before all replacements: what was invalid already is not their fault.
            writing.path(),
            &before,
            &document,
            counts.iter().any(|count| count.frontmatter_count > 0),
        )?;
        // A search that found nothing in one part may have been meant for the other.
        let notice = in_scope::found_elsewhere(context, writing.path(), &before, &input, &counts);
        Ok(writing.plan(document.content().clone(), |path, written| Output {
            path: path.to_string(),
            total_replacements: counts.iter().map(|count| count.count).sum(),
            per_replacement: counts,
            written,
            notice,
        }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let counts: Vec<String> = output.per_replacement.iter().map(|count| count.count.to_string()).collect();
        let done = output.written.done("replaced", "would be replaced");
        Some(format!("{}: {} {done}, {}", quoted(&output.path), counts.join(", "), output.written.text()))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nstone: agate\n---\nAn agate, 2026-04-13. Agate and agates.\n";
        const NEW: &str = "---\nstone: agate\n---\nAn onyx, 2026-04-13. Agate and agates.\n";
        const NOTES: &[(&str, &str)] = &[("Stone.md", NOTE)];
        let target = json!({ "type": "path", "path": "Stone.md" });
        vec![
            Example {
                says: "A whole word, in the text and not in the properties",
                before: NOTES,
                input: json!({ "target": target, "replacements": [{ "search": "agate", "replace": "onyx", "wholeWord": true }] }),
                gives: ExampleResult::Output(json!({
                    "path": "Stone.md",
                    "totalReplacements": 1,
                    "perReplacement": [{ "search": "agate", "count": 1, "bodyCount": 1, "frontmatterCount": 0 }],
                    "previousSizeInBytes": NOTE.len(),
                    "currentSizeInBytes": NEW.len(),
                    "contentHash": ContentHash::of(NEW.as_bytes()).to_string(),
                })),
                after: &[("Stone.md", NEW)],
            },
            Example {
                says: "A regular expression with groups",
                before: NOTES,
                input: json!({ "target": target, "replacements": [
                    { "search": "(\\d+)-(\\d+)-(\\d+)", "replace": "$3.$2.$1", "useRegex": true },
                ] }),
                gives: ExampleResult::Including(json!({ "totalReplacements": 1 })),
                after: &[("Stone.md", "---\nstone: agate\n---\nAn agate, 13.04.2026. Agate and agates.\n")],
            },
            Example {
                says: "Text found only in the properties is kept, with a notice",
                before: &[("a.md", "---\nstatus: open\n---\ntext\n")],
                input: json!({ "target": "a.md", "replacements": [{ "search": "open", "replace": "done" }] }),
                gives: ExampleResult::Including(json!({
                    "totalReplacements": 0,
                    "notice": "`open` is in the properties: set `scope` to `frontmatter` or `both`.",
                })),
                after: &[("a.md", "---\nstatus: open\n---\ntext\n")],
            },
            Example {
                says: "For text that is not there, the most similar one is shown",
                before: &[("a.md", "Order the slates\n")],
                input: json!({ "target": "a.md", "replacements": [{ "search": "Ordr the slates", "replace": "x" }] }),
                gives: ExampleResult::Including(json!({
                    "totalReplacements": 0,
                    "notice": "`Ordr the slates` is not there; line 1 has `Order the slates`.",
                })),
                after: &[("a.md", "Order the slates\n")],
            },
            Example {
                says: "A change that would break the properties is refused",
                before: NOTES,
                input: json!({ "target": target, "scope": "both", "replacements": [{ "search": "agate", "replace": "a: b" }] }),
                gives: ExampleResult::Refusal(ReasonKind::FrontmatterInvalid),
                after: NOTES,
            },
            Example {
                says: "An invalid expression",
                before: NOTES,
                input: json!({ "target": target, "replacements": [{ "search": "(", "replace": "", "useRegex": true }] }),
                gives: ExampleResult::Refusal(ReasonKind::RegexInvalid),
                after: NOTES,
            },
        ]
    }
}
