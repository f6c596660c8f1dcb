//! Lists files and folders.

use std::collections::BTreeMap;

use lapidary_operation::{
    ArgumentProblem, Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason,
    ReasonKind, ToolGroup, WireFamily, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    folder::{FolderTarget, relative},
    index,
    names::NameGlob,
    page::ListPage,
    time::{milliseconds, minute},
};
use lapidary_vault::{VaultPath, View, VisibleFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct FileList;

/// List the files and folders in a folder, with size and modification time.
///
/// Paths are relative to the vault, as other tools take them. A folder has the time of the latest change to a file in
/// it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The folder, e.g. `Projects`; the whole vault by default.
    #[serde(default)]
    directory: Option<String>,
    /// Also list the contents of subfolders.
    #[serde(default)]
    recursive: bool,
    /// Only paths that match, relative to `directory`: `*.md`, with `recursive` also `**/*.md`.
    #[serde(default)]
    glob: Option<String>,
    /// The same as `glob`.
    #[serde(default)]
    pattern: Option<String>,
    /// How many to list.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
    /// How many to skip: the `nextOffset` of the previous answer.
    #[serde(default)]
    offset: usize,
}

fn limit() -> usize {
    1000
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    entries: Vec<ListedFile>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedFile {
    path: String,
    r#type: EntryType,
    size_bytes: u64,
    mtime_ms: u64,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EntryType {
    File,
    Directory,
}

impl ReadTool for FileList {
    const DECLARATION: Declaration = Declaration {
        name: "file_list",
        dotted: Some("file.list"),
        title: "List files",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/directory", role: PathRole::List }],
        reasons: &[],
        words: "list files folders directory, ls, which files are there, what is in a folder, attachments, size, recently changed",
    };
    const TEXTS: &'static [TextArgument] =
        &[TextArgument::new("/glob", TextLanguage::Glob), TextArgument::new("/pattern", TextLanguage::Glob)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let glob = the_glob(&input)?.map(|given| NameGlob::parse(Self::DECLARATION.name, "glob", given)).transpose()?;
        let files = index::files(context, view)?;
        let folder = match FolderTarget::find(view, files, input.directory.as_deref().unwrap_or_default())?.or_nothing()
        {
            Ok(folder) => folder,
            Err(notice) => {
                return Ok(Output { entries: Vec::new(), total: 0, next_offset: None, notice: Some(notice) });
            }
        };
        let mut found = entries(context, files, folder.as_ref(), input.recursive)?;
        // Filtered after the times of folders were computed, which come from all files in them.
        found.retain(|path, _| glob.as_ref().is_none_or(|glob| glob.matches(relative(path, folder.as_ref()))));
        let page = ListPage::of(found.into_iter().collect(), input.offset, input.limit);
        let shown = |(path, found): (&str, FileFacts)| ListedFile {
            path: path.to_owned(),
            r#type: found.r#type,
            size_bytes: found.bytes,
            mtime_ms: found.changed,
        };
        let entries = page.items.into_iter().map(shown).collect();
        Ok(Output { entries, total: page.total, next_offset: page.next, notice: None })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = format!("{} in all", output.total);
        for ListedFile { path, r#type, size_bytes, mtime_ms } in &output.entries {
            text += &match r#type {
                EntryType::Directory => format!("\n{}", quoted(&format!("{path}/"))),
                EntryType::File => format!("\n{} {size_bytes} {}", quoted(path), minute(*mtime_ms)),
            };
        }
        text += &output.next_offset.map_or_else(String::new, |next| format!("\n… go on with `offset: {next}`"));
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const FILES: &[(&str, &str)] = &[("Projects/Plan.md", "Plan"), ("Projects/Sub/gem.png", "PNG"), ("a.md", "")];
        let file = |path: &str, bytes: usize| json!({ "path": path, "type": "file", "sizeBytes": bytes, "mtimeMs": 0 });
        let folder = |path: &str| json!({ "path": path, "type": "directory", "sizeBytes": 0, "mtimeMs": 0 });
        vec![
            Example {
                says: "What is in a folder",
                before: FILES,
                input: json!({ "directory": "Projects" }),
                gives: ExampleResult::Output(
                    json!({ "entries": [file("Projects/Plan.md", 4), folder("Projects/Sub")], "total": 2 }),
                ),
                after: &[],
            },
            Example {
                says: "All notes, the first of them",
                before: FILES,
                input: json!({ "recursive": true, "glob": "**/*.md", "limit": 1 }),
                gives: ExampleResult::Output(
                    json!({ "entries": [file("Projects/Plan.md", 4)], "total": 2, "nextOffset": 1 }),
                ),
                after: &[],
            },
            Example {
                says: "A folder that does not exist",
                before: FILES,
                input: json!({ "directory": "projects" }),
                gives: ExampleResult::Output(json!({
                    "entries": [],
                    "total": 0,
                    "notice": "There is no folder `projects`. Did you mean `Projects`?",
                })),
                after: &[],
            },
            Example {
                says: "An invalid pattern",
                before: FILES,
                input: json!({ "pattern": "[a" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
            Example {
                says: "A folder outside the vault",
                before: FILES,
                input: json!({ "directory": "../other" }),
                gives: ExampleResult::Refusal(ReasonKind::PathTraversal),
                after: &[],
            },
        ]
    }
}

/// The pattern, under either of its names.
fn the_glob(input: &Input) -> Result<Option<&str>, Reason> {
    match (input.glob.as_deref(), input.pattern.as_deref()) {
        (Some(glob), Some(pattern)) if glob != pattern => Err(Reason::InvalidArguments {
            tool: FileList::DECLARATION.name.to_owned(),
            problems: vec![ArgumentProblem {
                at: "pattern".to_owned(),
                problem: "is the same as `glob`, so only one can be given".into(),
                nearest: None,
            }],
        }),
        (glob, pattern) => Ok(glob.or(pattern)),
    }
}

struct FileFacts {
    r#type: EntryType,
    bytes: u64,
    changed: u64,
}

/// The time of a folder comes from the files that the caller may see: the one on disk would reveal others.
fn entries<'f>(
    context: &Context<'_>,
    files: &'f VisibleFiles,
    folder: Option<&VaultPath>,
    recursive: bool,
) -> Result<BTreeMap<&'f str, FileFacts>, Reason> {
    // Folders and files below the first level count only for the time of the one above.
    let within = |path: &str| recursive || !relative(path, folder).contains('/');
    // A folder without visible files has no time.
    let empty = || FileFacts { r#type: EntryType::Directory, bytes: 0, changed: 0 };
    let folders = files.folders_below(folder).map(VaultPath::as_str).filter(|path| within(path));
    let mut found: BTreeMap<&str, FileFacts> = folders.map(|path| (path, empty())).collect();
    let start = folder.map_or(0, |folder| folder.as_str().len() + 1);
    for file in files.below(folder) {
        context.check()?;
        let (path, changed) = (file.path().as_str(), milliseconds(Some(file.modified())));
        // Each slash behind the listed folder ends the path of one folder above the file.
        let below = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > start);
        // Only the first level is listed, so only that folder needs the time.
        for at in below.take(if recursive { usize::MAX } else { 1 }) {
            if let Some(above) = found.get_mut(&path[..at]) {
                above.changed = above.changed.max(changed);
            }
        }
        if within(path) {
            found.insert(path, FileFacts { r#type: EntryType::File, bytes: file.bytes(), changed });
        }
    }
    Ok(found)
}
