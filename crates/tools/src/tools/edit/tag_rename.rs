//! Renames a tag in all notes.

use std::collections::BTreeSet;

use lapidary_note::{counted, is_tag, is_tag_within};
use lapidary_operation::{
    ArgumentProblem, Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, ToolGroup, ToolPlan,
    WireFamily, WriteTool, clipped, quote::quoted,
};
use lapidary_query::nearest;
use lapidary_toolkit::{file_edit, index, reading};
use lapidary_vault::{Change, ChangeSet, ContentGuard, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct TagRename;

/// Rename a tag in all notes, in text and properties, including nested tags (`#old/x` becomes `#new/x`).
///
/// Check the diff with `dry_run` first. `from` ignores case; if `to` exists, the two are merged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// With or without `#`.
    #[schemars(length(min = 1))]
    from: String,
    /// The new name: `area/garden`.
    #[schemars(length(min = 1))]
    to: String,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    from: String,
    to: String,
    changed: bool,
    replaced_count: usize,
    files_changed: usize,
    /// The first hundred.
    files: Vec<RetaggedFile>,
    /// Files that have the tag but are not changed, and why; the first hundred.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<LeftFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_left: Option<usize>,
    #[serde(rename = "dry_run")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RetaggedFile {
    file: String,
    replaced_count: usize,
}

#[derive(Serialize, JsonSchema)]
struct LeftFile {
    file: String,
    why: String,
}

/// Longer lists are not useful.
const MOST_NAMES: usize = 100;
/// In the text, where the numbers matter more.
const SHOWN_NAMES: usize = 20;

impl WriteTool for TagRename {
    const IS_SEPARABLE: bool = true;
    const DECLARATION: Declaration = Declaration {
        name: "tag_rename",
        dotted: Some("tag.rename"),
        title: "Rename a tag everywhere",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "rename merge a tag in all notes of the vault, nested tags, vault-wide",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let Input { from, to, dry_run } = input;
        if !is_tag(&to) {
            return Err(Reason::InvalidArguments {
                tool: Self::DECLARATION.name.to_owned(),
                problems: vec![ArgumentProblem {
                    at: "to".to_owned(),
                    problem: "is not a tag: letters, digits, `-`, `_` and `/`, no space, not digits alone".into(),
                    nearest: None,
                }],
            });
        }
        let (mut changes, mut files, mut left) = (Vec::new(), Vec::new(), Vec::new());
        // Notes that cannot be changed are reported and left: one of them must not keep the others from being
        // renamed.
        for path in notes_with(context, view, &from)? {
            context.check()?;
            match renamed(view, path, &from, &to) {
                Ok(None) => {}
                Ok(Some((change, replaced_count))) => {
                    // Charged one by one, before the whole change is in memory.
                    context.budget.gather(&change)?;
                    files.push(RetaggedFile { file: path.to_string(), replaced_count });
                    changes.push(change);
                }
                // The disk itself failed, not only this note.
                Err(reason @ Reason::Disk { .. }) => return Err(reason),
                Err(reason) => left.push(LeftFile { file: path.to_string(), why: reason.to_string() }),
            }
        }
        left.extend(bases_with(context, view, &from)?);
        let notice = if files.is_empty() && left.is_empty() { nothing_found(context, view, &from)? } else { None };
        let (files_changed, files_left) = (files.len(), left.len());
        let replaced_count = files.iter().map(|file| file.replaced_count).sum();
        // Counted before the lists are cut.
        files.truncate(MOST_NAMES);
        left.truncate(MOST_NAMES);
        let output = Output {
            from: clipped(&from),
            to: clipped(&to),
            changed: files_changed > 0,
            replaced_count,
            files_changed,
            files,
            left,
            files_left: (files_left > 0).then_some(files_left),
            dry_run,
            notice,
        };
        Ok(ToolPlan { changes: ChangeSet { changes }, output, dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { from, to, replaced_count, files_changed, files, left, files_left, dry_run, .. } = output;
        let dry = if *dry_run { "Dry run: " } else { "" };
        let (from, to) = (quoted(from), quoted(to));
        let mut text = format!("{dry}{from} → {to}: {replaced_count} in {}", counted(*files_changed, "note"));
        for RetaggedFile { file, replaced_count } in files.iter().take(SHOWN_NAMES) {
            text += &format!("\n{} {replaced_count}", quoted(file));
        }
        // The number of all notes, as the list itself may have been cut already.
        if *files_changed > files.len().min(SHOWN_NAMES) {
            text += &format!("\n… {} more", files_changed - files.len().min(SHOWN_NAMES));
        }
        for LeftFile { file, why } in left.iter().take(SHOWN_NAMES) {
            text += &format!("\nLeft: {}: {why}", quoted(file));
        }
        let unnamed = files_left.unwrap_or_default().saturating_sub(left.len().min(SHOWN_NAMES));
        if unnamed > 0 {
            text += &format!("\n… {unnamed} more left");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] =
            &[("a.md", "#gem and #gem/red, not #gems\n"), ("b.md", "---\ntags: [Gem, x]\n---\n"), ("c.md", "gem\n")];
        vec![
            Example {
                says: "In text and properties, with nested tags",
                before: NOTES,
                input: json!({ "from": "#gem", "to": "stone" }),
                gives: ExampleResult::Output(json!({
                    "from": "#gem",
                    "to": "stone",
                    "changed": true,
                    "replacedCount": 3,
                    "filesChanged": 2,
                    "files": [{ "file": "a.md", "replacedCount": 2 }, { "file": "b.md", "replacedCount": 1 }],
                    "dry_run": false,
                })),
                after: &[
                    ("a.md", "#stone and #stone/red, not #gems\n"),
                    ("b.md", "---\ntags: [stone, x]\n---\n"),
                    ("c.md", "gem\n"),
                ],
            },
            Example {
                says: "A base that names the tag is left, and said",
                before: &[
                    ("a.md", "#gem\n"),
                    ("Gems.base", "filters: file.hasTag(\"gem/red\")\n"),
                    ("Other.base", "filters: file.hasTag(\"gems\")\n"),
                ],
                input: json!({ "from": "gem", "to": "stone" }),
                gives: ExampleResult::Including(json!({
                    "filesChanged": 1,
                    "left": [{ "file": "Gems.base", "why": "a filter or formula names the tag" }],
                    "filesLeft": 1,
                })),
                after: &[
                    ("a.md", "#stone\n"),
                    ("Gems.base", "filters: file.hasTag(\"gem/red\")\n"),
                    ("Other.base", "filters: file.hasTag(\"gems\")\n"),
                ],
            },
            Example {
                says: "Look before you leap",
                before: NOTES,
                input: json!({ "from": "gem", "to": "stone", "dry_run": true }),
                gives: ExampleResult::Including(json!({ "filesChanged": 2, "dry_run": true })),
                after: NOTES,
            },
            Example {
                says: "A tag that no note has",
                before: NOTES,
                input: json!({ "from": "jem", "to": "stone" }),
                gives: ExampleResult::Including(json!({
                    "changed": false, "notice": "No note has the tag `jem`. Did you mean `Gem`?",
                })),
                after: NOTES,
            },
            Example {
                says: "Not a tag",
                before: NOTES,
                input: json!({ "from": "gem", "to": "precious stone" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
            Example {
                says: "A tag with nothing after its slash",
                before: NOTES,
                input: json!({ "from": "gem", "to": "stone/" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}

/// The notes that have the tag or one nested in it, in path order.
fn notes_with<'v>(context: &Context<'_>, view: &'v View, tag: &str) -> Result<Vec<&'v VaultPath>, Reason> {
    let tag = tag.strip_prefix('#').unwrap_or(tag);
    let notes = index::notes(context, view)?.notes();
    let has = |digest: &lapidary_vault::Digest<'_>| digest.tags().any(|found| is_tag_within(found.name, tag));
    Ok(notes.filter(|(_, digest)| has(digest)).map(|(entry, _)| entry.path()).collect())
}

/// The bases that name the tag or one nested in it. Their filters are left: a text in a formula may mean anything.
fn bases_with(context: &Context<'_>, view: &View, tag: &str) -> Result<Vec<LeftFile>, Reason> {
    let tag = tag.strip_prefix('#').unwrap_or(tag).to_lowercase();
    let names_it = |text: &str| {
        // Between quotes, as in `file.hasTag("gem")`.
        let quoted = text.split(['"', '\'']).skip(1).map(|word| word.trim_start_matches('#'));
        quoted.into_iter().any(|word| is_tag_within(&word.to_lowercase(), &tag))
    };
    let mut found = Vec::new();
    for entry in index::notes(context, view)?.other_sources().filter(|entry| entry.path().is_base()) {
        context.check()?;
        let Some(file) = reading::read_if_there(view, entry.path())? else { continue };
        let Ok(shown) = reading::show(entry.path(), &file) else { continue };
        let text = shown.text();
        // `file.hasTag`, `file.tags` and `tags`: all of them have the word.
        if text.to_lowercase().contains("tag") && names_it(text) {
            found
                .push(LeftFile { file: entry.path().to_string(), why: "a filter or formula names the tag".to_owned() });
        }
    }
    Ok(found)
}

/// The notice if no note has the tag; `None` if one has it and needs no change.
fn nothing_found(context: &Context<'_>, view: &View, tag: &str) -> Result<Option<String>, Reason> {
    if !notes_with(context, view, tag)?.is_empty() {
        return Ok(None);
    }
    let tag = tag.strip_prefix('#').unwrap_or(tag);
    let mut known = BTreeSet::new();
    for (_, digest) in index::notes(context, view)?.notes() {
        known.extend(digest.tags().map(|found| found.name));
    }
    let meant = nearest(tag, known).map_or(String::new(), |meant| format!(" Did you mean {}?", quoted(meant)));
    Ok(Some(format!("No note has the tag {}.{meant}", quoted(&clipped(tag)))))
}

/// The change of one note; `None` if it needs none, or no longer exists.
fn renamed(view: &View, path: &VaultPath, from: &str, to: &str) -> Result<Option<(Change, usize)>, Reason> {
    let Some(before) = reading::read_if_there(view, path)? else { return Ok(None) };
    // Checked here, so that a note that is closed is left out; the judge would refuse the whole change.
    view.may_write(path).map_err(|denied| Reason::PathForbidden {
        path: path.clone(),
        writing: true,
        denied: lapidary_operation::PathRefusal::ByScope(denied),
    })?;
    if view.is_source(path, Some(&before)) {
        return Err(Reason::SourceFixed { path: path.clone() });
    }
    let document = reading::editable(path, &before)?;
    let renamed = document.rename_tag_tree(from, to).map_err(|error| file_edit::refusal(path, error))?;
    // The index found the tag by its folded name; the text may already have the new spelling.
    if renamed.document == document {
        return Ok(None);
    }
    let (path, content) = (path.clone(), renamed.document.content().clone());
    Ok(Some((Change::Write { path, before, guard: ContentGuard::Plan, content }, renamed.count)))
}
