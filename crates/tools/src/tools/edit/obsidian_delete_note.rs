//! Moves a note to the trash.

use lapidary_note::{ContentHash, counted};
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_toolkit::{
    hash, naming,
    removing::{is_for_good, links_to, to_trash},
    target::NoteTarget,
};
use lapidary_vault::{ChangeSet, ContentGuard, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianDeleteNote;

/// Delete a note: it goes to the vault's trash. `undo` brings it back.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: NoteTarget,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Show what would happen without changing anything.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    deleted: bool,
    previous_size_in_bytes: usize,
    current_size_in_bytes: usize,
    /// It is in the trash.
    trashed: bool,
    /// The folder that holds it now, if that is in the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    trashed_to: Option<String>,
    /// Links to it in other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_links: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

const EXPECTED: &str = "expectedHash";

impl WriteTool for ObsidianDeleteNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_delete_note",
        dotted: None,
        title: "Obsidian Delete Note",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::PeriodicNotFound, ReasonKind::StalePrecondition],
        words: "delete remove trash a note, no longer needed",
    };
    const EFFECT: Effect = Effect::Destroy;
    const ASKS_FIRST: bool = true;
    const TAKES_TARGET: bool = true;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let name = Self::DECLARATION.name;
        let path = input.target.locate(name, context, view)?;
        let expected = hash::expected(name, EXPECTED, input.expected_hash.as_deref())?;
        // By exact path: a name that is close to another note's must not delete that one.
        let before = naming::read_exact_path(context, view, &path)?;
        context.check()?;
        hash::check(&path, EXPECTED, expected.as_ref(), Some(&before))?;
        // With a hash from the caller, a change in between is refused; without one, it is planned again.
        let guard = if expected.is_some() { ContentGuard::Caller } else { ContentGuard::Plan };
        let size = before.content.len();
        // Counted before the note is gone, and told, because nothing repairs them.
        let broken_links = Some(links_to(context, view, &path)?).filter(|count| *count > 0);
        let change = to_trash(view, path.clone(), before, guard);
        let output = Output {
            path: path.to_string(),
            deleted: true,
            previous_size_in_bytes: size,
            current_size_in_bytes: 0,
            trashed: !is_for_good(&change),
            // Known once it is done.
            trashed_to: None,
            broken_links,
            dry_run: input.dry_run,
        };
        Ok(ToolPlan { changes: ChangeSet::one(change), output, dry_run: input.dry_run })
    }

    fn finish(&self, output: &mut Output, learnt: &CommitReport<'_>) {
        if output.trashed
            && let Ok(path) = VaultPath::parse(&output.path)
        {
            output.trashed_to = learnt.trash_folder(&path).map(|folder| folder.to_string());
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = if output.dry_run { "Would delete" } else { "Deleted" };
        let (path, size) = (quoted(&output.path), counted(output.previous_size_in_bytes, "byte"));
        let trash = if output.trashed { ", in the trash" } else { "" };
        let broken = output.broken_links.map_or(String::new(), |count| format!(", {} to it", counted(count, "link")));
        Some(format!("{done} {path}, {size}{trash}{broken}"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Inbox/Idea.md", "# Idea\n")];
        const NO_TRASH: &[(&str, &str)] =
            &[("Inbox/Idea.md", "# Idea\n"), (".obsidian/app.json", r#"{"trashOption": "none"}"#)];
        let target = json!({ "type": "path", "path": "Inbox/Idea.md" });
        let hash = ContentHash::of(b"# Idea\n").to_string();
        vec![
            Example {
                says: "Into the trash",
                before: NOTES,
                input: json!({ "target": target }),
                gives: ExampleResult::Output(json!({
                    "path": "Inbox/Idea.md",
                    "deleted": true,
                    "previousSizeInBytes": 7,
                    "currentSizeInBytes": 0,
                    "trashed": true,
                })),
                after: &[(".trash/Idea.md", "# Idea\n")],
            },
            Example {
                says: "Links to it lead nowhere now",
                before: &[("a.md", "x\n"), ("b.md", "[[a]], ![[a]]\n")],
                input: json!({ "target": "a.md" }),
                gives: ExampleResult::Including(json!({ "deleted": true, "brokenLinks": 2 })),
                after: &[(".trash/a.md", "x\n"), ("b.md", "[[a]], ![[a]]\n")],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "target": { "type": "path", "path": "Inbox/Other.md" } }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: NOTES,
            },
            Example {
                says: "In a vault without a trash, only its checkpoint remains",
                before: NO_TRASH,
                input: json!({ "target": target, "expectedHash": hash }),
                gives: ExampleResult::Including(json!({ "deleted": true, "trashed": false })),
                after: &[(".obsidian/app.json", r#"{"trashOption": "none"}"#)],
            },
        ]
    }
}
