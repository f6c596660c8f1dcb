//! Moves or renames a file or folder and updates links to it.

use std::collections::{BTreeMap, BTreeSet};

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, NameWanted, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool,
    quote::{Prose, quoted, quoted_path},
};
use lapidary_toolkit::{
    file_edit::EXPECTED_CONTENT,
    folder, hash, index,
    moving::{FileMoving, LinksOutput, files_of_folder, folder_changes, writes},
    naming, reading,
    removing::out_of_the_way,
};
use lapidary_vault::{Change, ChangeSet, ContentGuard, VaultPath, View, VisibleFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FileMove;

/// Rename or move a file or folder; links to it follow in the same change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path of the file or folder.
    from: String,
    /// Its full new path, e.g. `Projects/Idea.md`.
    to: String,
    /// If a file exists there: refuse, move it to the trash, or take a free name.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Rewrite the links that would break.
    #[serde(default = "yes")]
    #[schemars(extend("x-rare" = true))]
    update_links: bool,
    /// Refuse if the file has another hash.
    #[serde(default)]
    expected_content_hash: Option<String>,
    /// Show what would change without changing anything.
    #[serde(default)]
    dry_run: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OnConflict {
    #[default]
    Error,
    Overwrite,
    Rename,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    from: String,
    to: String,
    moved: bool,
    /// Of the file at its new path.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
    /// How many files moved, if it was a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_moved: Option<usize>,
    #[serde(flatten)]
    links: LinksOutput,
    #[serde(rename = "dry_run")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// More copies of one name are unlikely.
const MAX_NAMES: usize = 9_999;

impl WriteTool for FileMove {
    const DECLARATION: Declaration = Declaration {
        name: "file_move",
        dotted: Some("file.move"),
        title: "Move or rename",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[
            PathArgument { pointer: "/from", role: PathRole::Write },
            PathArgument { pointer: "/to", role: PathRole::Write },
        ],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::FileExists,
            ReasonKind::StalePrecondition,
            ReasonKind::EditRefused,
        ],
        words: "rename a file, rename a note, rename a folder, move a note, file folder directory, change its name or path, give a note a new name, wrong name, put notes into another folder, take out of a folder, into a subfolder, call a note something else, archive, reorganise files, update links backlinks",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let from = reading::parse_path(&input.from)?;
        let to = reading::parse_path(&input.to)?;
        let files = index::files(context, view)?;
        match files.find_folder(&from) {
            Some(folder) => move_folder(context, view, &input, folder, to),
            None => move_file(context, view, &input, from, to),
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { from, to, moved, content_hash, files_moved, links, dry_run, notice: _ } = output;
        let done = match (moved, dry_run) {
            (false, false) => "Not moved",
            (true, false) => "Moved",
            (_, true) => "Dry run: would move",
        };
        let files = files_moved.map_or_else(String::new, |files| format!(", {}", counted(files, "file")));
        let hash = content_hash.as_ref().map_or_else(String::new, |hash| format!(", hash {}", hash::digits(hash)));
        Some(format!("{done} {} → {}{files}{}{hash}", quoted(from), quoted(to), links.text()))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Inbox/Idea.md", "# Idea\nsee [plan](../Plan.md)\n"),
            ("Plan.md", "[[Inbox/Idea|Idea]] and [[Idea#Idea]]\n"),
        ];
        vec![
            Example {
                says: "A note moves, and links to it and in it are updated",
                before: NOTES,
                input: json!({ "from": "Inbox/Idea.md", "to": "Projects/Cut.md" }),
                gives: ExampleResult::Including(json!({ "to": "Projects/Cut.md", "moved": true, "linksUpdated": 2 })),
                after: &[
                    ("Projects/Cut.md", "# Idea\nsee [plan](../Plan.md)\n"),
                    ("Plan.md", "[[Cut|Cut]] and [[Cut#Idea]]\n"),
                ],
            },
            Example {
                says: "A folder moves with everything in it",
                before: NOTES,
                input: json!({ "from": "Inbox", "to": "Archive/2026" }),
                gives: ExampleResult::Including(json!({ "to": "Archive/2026", "filesMoved": 1 })),
                after: &[
                    ("Archive/2026/Idea.md", "# Idea\nsee [plan](Plan.md)\n"),
                    ("Plan.md", "[[Idea|Idea]] and [[Idea#Idea]]\n"),
                ],
            },
            Example {
                says: "Bases follow: links, paths and folders in their filters and formulas",
                before: &[
                    ("Inbox/Idea.md", "# Idea\n"),
                    (
                        "All.base",
                        "filters:\n  and: # both\n    - file.inFolder(\"Inbox\")\n    - file.path != \"Inbox/Idea.md\"\nformulas:\n  \
                         of: 'file.hasLink(\"Idea\") || author == \"[[Inbox/Idea|it]]\"'\n",
                    ),
                ],
                input: json!({ "from": "Inbox", "to": "Archive/2026" }),
                gives: ExampleResult::Including(json!({ "linksUpdated": 3, "filesUpdated": 1 })),
                after: &[(
                    "All.base",
                    "filters:\n  and: # both\n    - file.inFolder(\"Archive/2026\")\n    - file.path != \
                     \"Archive/2026/Idea.md\"\nformulas:\n  of: 'file.hasLink(\"Idea\") || author == \"[[Archive/2026/Idea|it]]\"'\n",
                )],
            },
            Example {
                says: "A folder that may be mistyped",
                before: NOTES,
                input: json!({ "from": "Plan.md", "to": "Inobx/Plan.md" }),
                gives: ExampleResult::Including(
                    json!({ "notice": "The folder `Inobx` is new. Did you mean `Inbox`?" }),
                ),
                after: &[
                    ("Inbox/Idea.md", "# Idea\nsee [plan](Plan.md)\n"),
                    ("Inobx/Plan.md", "[[Inbox/Idea|Idea]] and [[Idea#Idea]]\n"),
                ],
            },
            Example {
                says: "An existing file is not touched",
                before: NOTES,
                input: json!({ "from": "Inbox/Idea.md", "to": "Plan.md" }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: NOTES,
            },
            Example {
                says: "A free name next to it",
                before: NOTES,
                input: json!({ "from": "Inbox/Idea.md", "to": "Plan.md", "on_conflict": "rename" }),
                gives: ExampleResult::Including(json!({ "to": "Plan (1).md" })),
                after: &[
                    ("Plan (1).md", "# Idea\nsee [plan](Plan.md)\n"),
                    ("Plan.md", "[[Plan (1)|Plan (1)]] and [[Plan (1)#Idea]]\n"),
                ],
            },
            Example {
                says: "A missing file cannot be moved",
                before: NOTES,
                input: json!({ "from": "Inbox/Idee.md", "to": "Cut.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: NOTES,
            },
        ]
    }
}

fn move_file(
    context: &Context<'_>,
    view: &View,
    input: &Input,
    from: VaultPath,
    to: VaultPath,
) -> Result<ToolPlan<Output>, Reason> {
    let expected =
        hash::expected(FileMove::DECLARATION.name, EXPECTED_CONTENT, input.expected_content_hash.as_deref())?;
    // A file too large to be read can still be moved, unless the caller gave a hash to check.
    let before = match naming::read_exact_path(context, view, &from) {
        Err(Reason::FileTooLarge { .. }) if expected.is_none() => None,
        read => Some(read?),
    };
    hash::check(&from, EXPECTED_CONTENT, expected.as_ref(), before.as_deref())?;
    let files = index::files(context, view)?;
    // Spelt as on disk, where accented letters may be encoded differently: links are looked up by that path.
    let from = files.find(&from).map_or(from, |entry| entry.path().clone());
    let (to, in_the_way) = destination(context, view, &from, to, input.on_conflict)?;
    let mut changes: Vec<Change> = in_the_way.into_iter().collect();
    // The file that makes room takes part in no rewrite, neither as a target nor as a source of links.
    let gone: BTreeSet<VaultPath> = changes.iter().map(|change| change.path().clone()).collect();
    let (mut content, mut links, mut others) = (None, LinksOutput::default(), Vec::new());
    if input.update_links {
        let moved = BTreeMap::from([(from.clone(), to.clone())]);
        let (rewrites, output) = FileMoving::new(context, view, moved, gone)?.rewrites(context, view)?;
        links = output;
        for rewrite in rewrites {
            // The moved file's own links are part of its move: a file is changed once in a change.
            if rewrite.path == from { content = Some(rewrite.content) } else { others.push(rewrite) }
        }
    }
    let guard = if expected.is_some() { ContentGuard::Caller } else { ContentGuard::Plan };
    let change = Change::Move { from, to: to.clone(), before, guard, content };
    // A file that was moved unread has no hash to report.
    let content_hash = change.before().and(change.content()).map(|content| content.hash().to_string());
    changes.push(change);
    changes.extend(writes(others));
    let output = Output {
        from: input.from.clone(),
        to: to.to_string(),
        moved: true,
        content_hash,
        files_moved: None,
        links,
        dry_run: input.dry_run,
        notice: new_folder(files, &to),
    };
    Ok(ToolPlan { changes: ChangeSet { changes }, output, dry_run: input.dry_run })
}

/// The notice for a move into a new folder whose name is close to that of an existing one.
fn new_folder(files: &VisibleFiles, to: &VaultPath) -> Option<String> {
    let folder = to.folder().filter(|folder| files.find_folder(folder).is_none())?;
    let meant = folder::near(files, &folder)?;
    Some(format!("The folder {} is new. Did you mean {}?", quoted_path(&folder), quoted_path(&meant)))
}

/// Where the file goes, and what happens to an existing one.
fn destination(
    context: &Context<'_>,
    view: &View,
    from: &VaultPath,
    to: VaultPath,
    on_conflict: OnConflict,
) -> Result<(VaultPath, Option<Change>), Reason> {
    // A note without `.md` would disappear from Obsidian.
    if from.is_note() && naming::lacks_ending(&to) {
        let problem = "has no extension, so Obsidian would not show the note: add `.md`";
        return Err(Reason::bad_argument(FileMove::DECLARATION.name, "to", problem));
    }
    let Some(there) = reading::read_if_there(view, &to)? else {
        naming::check_new(context, view, &to, Some(from))?;
        return Ok((to, None));
    };
    match on_conflict {
        OnConflict::Overwrite if to != *from => {
            // The caller has asked for the file to go, whatever is in it; it can be found in the trash.
            let trash = out_of_the_way(view, to.clone(), there, ContentGuard::Nobody);
            Ok((to, Some(trash)))
        }
        OnConflict::Rename => {
            // `a (1).md`, `a (2).md`: the first free name.
            for number in 1..=MAX_NAMES {
                let name = match to.name().rsplit_once('.') {
                    // A name such as `.env` is all stem.
                    Some((stem, ending)) if !stem.is_empty() => format!("{stem} ({number}).{ending}"),
                    _ => format!("{} ({number})", to.name()),
                };
                let wanted = to
                    .sibling(&name)
                    .map_err(|problem| Reason::PathInvalid { given: lapidary_operation::clipped(&name), problem })?;
                if reading::read_if_there(view, &wanted)?.is_none() {
                    match naming::check_new(context, view, &wanted, Some(from)) {
                        Ok(()) => return Ok((wanted, None)),
                        // Elsewhere this name is that of another file, so it is not free here either.
                        Err(Reason::NameTaken { .. }) => {}
                        Err(other) => return Err(other),
                    }
                }
            }
            Err(Reason::DestinationExists { path: to, current: there.hash(), wanted: NameWanted::Moved })
        }
        OnConflict::Error | OnConflict::Overwrite => {
            Err(Reason::DestinationExists { path: to, current: there.hash(), wanted: NameWanted::Moved })
        }
    }
}

fn move_folder(
    context: &Context<'_>,
    view: &View,
    input: &Input,
    from: VaultPath,
    to: VaultPath,
) -> Result<ToolPlan<Output>, Reason> {
    let tool = FileMove::DECLARATION.name;
    if input.expected_content_hash.is_some() {
        return Err(Reason::bad_argument(tool, EXPECTED_CONTENT, "is for files, and this is a folder"));
    }
    if to.is_within(&from) {
        return Err(Reason::bad_argument(tool, "to", "must not be inside `from`"));
    }
    let files = index::files(context, view)?;
    // The caller may have meant to move the folder into the existing one, as `mv` does.
    if files.find_folder(&to).is_some() {
        let problem = Prose::ours(format_args!(
            "is an existing folder; to move this one into it, send {}",
            quoted(&format!("{to}/{}", from.name()))
        ));
        return Err(Reason::bad_argument(tool, "to", problem));
    }
    if let Some(there) = reading::read_if_there(view, &to)? {
        return Err(Reason::DestinationExists { path: to, current: there.hash(), wanted: NameWanted::Moved });
    }
    // A folder that differs only in case from another would be the same folder on some systems.
    naming::check_new(context, view, &to, Some(&from))?;
    let moved = files_of_folder(view, files, &from, &to)?;
    let files_moved = Some(moved.len());
    let (mut rewrites, mut links) = (Vec::new(), LinksOutput::default());
    // Links are rewritten in the same change, so that no state in between has broken links.
    if input.update_links {
        let moving = FileMoving::new(context, view, moved.clone(), BTreeSet::new())?;
        (rewrites, links) = moving.with_folder(from.clone(), to.clone()).rewrites(context, view)?;
    }
    let changes = folder_changes(from, to.clone(), &moved, rewrites);
    let output = Output {
        from: input.from.clone(),
        to: to.to_string(),
        moved: true,
        content_hash: None,
        files_moved,
        links,
        dry_run: input.dry_run,
        notice: new_folder(files, &to),
    };
    Ok(ToolPlan { changes: ChangeSet { changes }, output, dry_run: input.dry_run })
}
