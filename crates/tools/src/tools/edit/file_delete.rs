//! Deletes a file or an empty folder.

use std::sync::Arc;

use lapidary_note::{ContentHash, counted};
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRefusal, PathRole, Reason,
    ReasonKind, ToolGroup, ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_toolkit::{
    file_edit::{EXPECTED_CONTENT, FileEdit, FileInput},
    index, reading,
    removing::{is_for_good, links_to, to_trash},
};
use lapidary_vault::{Change, ChangeSet, ContentGuard, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FileDelete;

/// Move a file or empty folder to the trash set in the vault's settings; with `trash: false` and its hash, delete it
/// permanently.
///
/// Either way `checkpoint_restore` brings it back.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// Where people look for it.
    #[serde(default = "yes")]
    trash: bool,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    file: String,
    /// Permanently.
    deleted: bool,
    trashed: bool,
    /// The folder that holds it now, if that is in the vault.
    #[serde(rename = "trashedTo", skip_serializing_if = "Option::is_none")]
    trashed_to: Option<String>,
    /// Links to it in other files.
    #[serde(rename = "brokenLinks", skip_serializing_if = "Option::is_none")]
    broken_links: Option<usize>,
    dry_run: bool,
}

impl WriteTool for FileDelete {
    const DECLARATION: Declaration = Declaration {
        name: "file_delete",
        dotted: Some("file.delete"),
        title: "Delete a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::StalePrecondition],
        words: "delete remove trash a file note attachment, throw away",
    };
    const EFFECT: Effect = Effect::Destroy;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let (file, dry_run) = (input.file.file.clone(), input.file.dry_run);
        if let Some(folder) = empty_folder(context, view, &input)? {
            let output = Output { file, deleted: false, trashed: true, trashed_to: None, broken_links: None, dry_run };
            return Ok(ToolPlan { changes: ChangeSet::one(Change::TrashFolder { path: folder }), output, dry_run });
        }
        // By exact path only: a name that stands for another note must not delete it.
        let editing = FileEdit::begin_exactly(Self::DECLARATION.name, context, view, input.file)?;
        let expected = editing.is_expected();
        let guard = if expected { ContentGuard::Caller } else { ContentGuard::Plan };
        let (path, before) = (editing.path().clone(), Arc::clone(&editing.before));
        let broken_links = Some(links_to(context, view, &path)?).filter(|count| *count > 0);
        let change =
            if input.trash { to_trash(view, path, before, guard) } else { Change::Delete { path, before, guard } };
        // Asked of the change, not of the input: a vault whose settings have no trash deletes permanently, too.
        let deleted = is_for_good(&change);
        if deleted && !expected {
            let why =
                if input.trash { "is required: this vault has no trash" } else { "is required with `trash: false`" };
            return Err(editing.bad_argument(EXPECTED_CONTENT, why));
        }
        let output = Output { file, deleted, trashed: !deleted, trashed_to: None, broken_links, dry_run };
        Ok(ToolPlan { changes: ChangeSet::one(change), output, dry_run })
    }

    fn finish(&self, output: &mut Output, learnt: &CommitReport<'_>) {
        if output.trashed
            && let Ok(path) = VaultPath::parse(&output.file)
        {
            // Known only now: the name in the trash is chosen when the file gets there.
            output.trashed_to = learnt.trash_folder(&path).map(|folder| folder.to_string());
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, deleted, trashed_to, broken_links, dry_run, .. } = output;
        let done = match (deleted, trashed_to) {
            (true, _) => "deleted".to_owned(),
            (false, Some(folder)) => format!("moved to {folder}"),
            (false, None) => "moved to the trash".to_owned(),
        };
        let broken = broken_links.map_or(String::new(), |count| format!(", {} to it", counted(count, "link")));
        Some(format!("{}{}: {done}{broken}", quoted(file), if *dry_run { ", dry run" } else { "" }))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Inbox/Idea.md", "# Idea\n")];
        let hash = ContentHash::of(b"# Idea\n").to_string();
        vec![
            Example {
                says: "Into the trash",
                before: NOTES,
                input: json!({ "file": "Inbox/Idea.md" }),
                gives: ExampleResult::Output(
                    json!({ "file": "Inbox/Idea.md", "deleted": false, "trashed": true, "dry_run": false }),
                ),
                after: &[(".trash/Idea.md", "# Idea\n")],
            },
            Example {
                says: "Permanently, and only exactly this",
                before: NOTES,
                input: json!({ "file": "Inbox/Idea.md", "trash": false, "expected_content_hash": hash }),
                gives: ExampleResult::Including(json!({ "deleted": true, "trashed": false })),
                after: &[],
            },
            Example {
                says: "A folder with files in it",
                before: NOTES,
                input: json!({ "file": "Inbox" }),
                gives: ExampleResult::Refusal(ReasonKind::PathIsDirectory),
                after: NOTES,
            },
            Example {
                says: "Permanent deletion without a hash is refused",
                before: NOTES,
                input: json!({ "file": "Inbox/Idea.md", "trash": false }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}

/// The folder to delete, if the path names one and the caller sees no file in it. Files that the caller cannot see
/// would go with it, so a folder that rules name parts of is kept: whether those parts exist must not be revealed.
fn empty_folder(context: &Context<'_>, view: &View, input: &Input) -> Result<Option<VaultPath>, Reason> {
    let path = reading::parse_path(&input.file.file)?;
    match reading::read_if_there(view, &path) {
        // A folder has no hash, and no permanent deletion: with either, the usual refusal of a folder is given.
        Err(Reason::PathIsDirectory { .. }) if input.trash && input.file.expected_content_hash.is_none() => {}
        _ => return Ok(None),
    }
    let files = index::files(context, view)?;
    let empty = files.find_folder(&path).filter(|folder| files.below(Some(folder)).next().is_none());
    let Some(folder) = empty else { return Ok(None) };
    // If the rules treat a folder of any other name the same, none of them names a part of this one.
    let elsewhere = folder.sibling(&format!("{} 2", folder.name()));
    if elsewhere.is_ok_and(|elsewhere| view.closes_alike(&folder, &elsewhere)) {
        return Ok(Some(folder));
    }
    Err(Reason::PathForbidden { path: folder, writing: true, denied: PathRefusal::PartlyClosed })
}
