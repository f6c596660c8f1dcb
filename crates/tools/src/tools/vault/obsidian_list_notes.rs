//! Lists files as a tree.

mod tree;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, clipped, fence::fenced, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    folder::{FolderTarget, relative},
    folder_words::{FolderDescriber, FolderWords},
    index,
    names::NameRegex,
};
use lapidary_vault::{VaultPath, View, VisibleFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::tree::TreeBranch;

pub(crate) struct ObsidianListNotes;

/// List the files and folders of the vault as a tree.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// A folder, e.g. `Projects`.
    #[serde(default)]
    path: Option<String>,
    /// E.g. `md`.
    #[serde(default)]
    extension: Option<String>,
    /// Only names that this matches; folders too.
    #[serde(default)]
    name_regex: Option<String>,
    /// Levels.
    #[serde(default = "depth")]
    #[schemars(range(min = 1, max = 20))]
    depth: usize,
}

fn depth() -> usize {
    2
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    entries: Vec<ListedEntry>,
    totals: ListTotals,
    applied_filters: NoteFilters,
    // What some of them are for.
    #[serde(skip_serializing_if = "FolderWords::is_empty")]
    #[schemars(with = "Map<String, Value>")]
    folders: FolderWords,
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<ExcludedEntries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListedEntry {
    path: String,
    r#type: NodeType,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Below the listed folder, from 0.
    #[serde(skip)]
    level: usize,
}

#[derive(Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NodeType {
    File,
    Directory,
}

#[derive(Serialize, JsonSchema)]
struct ListTotals {
    entries: usize,
    files: usize,
    directories: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NoteFilters {
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_regex: Option<String>,
    depth: usize,
}

#[derive(Serialize, JsonSchema)]
struct ExcludedEntries {
    reason: &'static str,
    cap: usize,
    hint: String,
}

/// Folders that are described, the upper ones first.
const MOST_DESCRIBED: usize = 8;

/// More entries than a model can use.
const CAP: usize = 1000;

impl ReadTool for ObsidianListNotes {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_list_notes",
        dotted: None,
        title: "Obsidian List Notes",
        family: WireFamily::Obsidian,
        group: ToolGroup::Vault,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::List }],
        reasons: &[
            ReasonKind::DirectoryMissing,
            ReasonKind::PathIsFile,
            ReasonKind::RegexInvalid,
            ReasonKind::RegexUnsafe,
        ],
        words: "list notes files folders directory tree, ls, what is in the vault or a folder",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/nameRegex", TextLanguage::Pattern)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        // Checked before the vault is listed.
        let regex = input.name_regex.as_deref().map(|given| NameRegex::guarded("nameRegex", given)).transpose()?;
        // With or without its dot, as callers write both.
        let extension = input.extension.as_deref().and_then(with_dot);
        let path = input.path.unwrap_or_default();
        let files = index::files(context, view)?;
        let folder = FolderTarget::find(view, files, &path)?.required()?;
        let mut walk = TreeWalk {
            folder: folder.as_ref(),
            extension: extension.as_deref(),
            regex: regex.as_ref(),
            depth: input.depth,
            entered: Vec::new(),
            closed: None,
            entries: Vec::new(),
            beyond: 0,
        };
        // An empty folder is its own entry. With an extension filter, only files count.
        let is_empty = |folder: &&VaultPath| files.below(Some(folder)).next().is_none();
        let empty = files.folders_below(folder.as_ref()).filter(is_empty).filter(|_| extension.is_none());
        let mut empty = empty.peekable();
        for file in files.below(folder.as_ref()) {
            context.check()?;
            // Both lists are in path order, so they are merged on the way.
            while let Some(folder) = empty.next_if(|folder| *folder < file.path()) {
                walk.take(folder, NodeType::Directory)?;
            }
            walk.take(file.path(), NodeType::File)?;
        }
        for folder in empty {
            walk.take(folder, NodeType::Directory)?;
        }
        // Everything is counted even beyond the cap, so that the answer says how much is missing.
        let TreeWalk { entries, beyond, .. } = walk;
        let folders = described(context, view, files, folder.as_ref(), &entries)?;
        let filtered = extension.is_some() || regex.is_some();
        let directories = entries.iter().filter(|entry| entry.r#type == NodeType::Directory).count();
        Ok(Output {
            path,
            totals: ListTotals { entries: entries.len(), files: entries.len() - directories, directories },
            applied_filters: NoteFilters {
                extension: extension.as_deref().map(clipped),
                name_regex: input.name_regex.as_deref().map(clipped),
                depth: input.depth,
            },
            folders,
            excluded: (beyond > 0).then(|| excluded(beyond)),
            notice: entries.is_empty().then(|| nothing(filtered).to_owned()),
            entries,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(markdown(output))
    }

    fn examples(&self) -> Vec<Example> {
        const FILES: &[(&str, &str)] = &[
            ("Projects/Garden/Beds/North.md", ""),
            ("Projects/Garden/gem.png", ""),
            ("Projects/Plan.md", ""),
            ("Todo.md", ""),
        ];
        let file = |path: &str| json!({ "path": path, "type": "file" });
        vec![
            Example {
                says: "The upper two levels of the vault",
                before: FILES,
                input: json!({}),
                gives: ExampleResult::Output(json!({
                    "path": "",
                    "entries": [
                        { "path": "Projects", "type": "directory" },
                        { "path": "Projects/Garden", "type": "directory", "truncated": true },
                        file("Projects/Plan.md"),
                        file("Todo.md"),
                    ],
                    "totals": { "entries": 4, "files": 2, "directories": 2 },
                    "appliedFilters": { "depth": 2 },
                })),
                after: &[],
            },
            Example {
                says: "The notes in a folder",
                before: FILES,
                input: json!({ "path": "Projects/Garden/", "extension": "MD", "depth": 20 }),
                gives: ExampleResult::Including(json!({
                    "path": "Projects/Garden/",
                    "entries": [
                        { "path": "Projects/Garden/Beds", "type": "directory" },
                        file("Projects/Garden/Beds/North.md"),
                    ],
                    "appliedFilters": { "extension": ".md", "depth": 20 },
                })),
                after: &[],
            },
            Example {
                says: "What folders are for, from their notes",
                before: &[
                    ("Areas/Areas.md", "---\ndescription: What goes on and on.\n---\n"),
                    ("Areas/Garden/index.md", "# Garden\n\nBeds and seeds.\n"),
                ],
                input: json!({ "extension": "md" }),
                gives: ExampleResult::Including(json!({
                    "folders": { "Areas": "What goes on and on.", "Areas/Garden": "Beds and seeds." },
                })),
                after: &[],
            },
            Example {
                says: "Nothing fits",
                before: FILES,
                input: json!({ "nameRegex": "^x" }),
                gives: ExampleResult::Including(json!({ "entries": [], "notice": "Nothing matches the filters." })),
                after: &[],
            },
            Example {
                says: "A folder that does not exist",
                before: FILES,
                input: json!({ "path": "Project" }),
                gives: ExampleResult::Refusal(ReasonKind::DirectoryMissing),
                after: &[],
            },
            Example {
                says: "A note is not a folder",
                before: FILES,
                input: json!({ "path": "Todo.md" }),
                gives: ExampleResult::Refusal(ReasonKind::PathIsFile),
                after: &[],
            },
        ]
    }
}

/// What the listed folders are for.
fn described(
    context: &Context<'_>,
    view: &View,
    files: &VisibleFiles,
    folder: Option<&VaultPath>,
    entries: &[ListedEntry],
) -> Result<FolderWords, Reason> {
    let mut listed: Vec<&ListedEntry> = entries.iter().filter(|entry| entry.r#type == NodeType::Directory).collect();
    listed.sort_by_key(|entry| entry.level);
    let listed: Vec<VaultPath> = listed.into_iter().filter_map(|entry| VaultPath::parse(&entry.path).ok()).collect();
    FolderDescriber::new(context, view, files).of_folders(folder.into_iter().chain(&listed), MOST_DESCRIBED)
}

/// Folders are derived from files: a visible file shows the folders above it. In path order, the contents of a folder
/// are contiguous.
struct TreeWalk<'w> {
    folder: Option<&'w VaultPath>,
    extension: Option<&'w str>,
    regex: Option<&'w NameRegex>,
    depth: usize,
    /// The folders above the last file, topmost first.
    entered: Vec<&'w str>,
    /// A folder that the walk does not enter, with a trailing `/`.
    closed: Option<&'w str>,
    entries: Vec<ListedEntry>,
    /// How many entries the cap left out.
    beyond: usize,
}

impl<'w> TreeWalk<'w> {
    /// A file, or a folder without any.
    fn take(&mut self, path: &'w VaultPath, r#type: NodeType) -> Result<(), Reason> {
        let whole = path.as_str();
        // The contents of a folder follow each other, so one such folder is remembered at a time.
        if self.closed.is_some_and(|closed| whole.starts_with(closed)) {
            return Ok(());
        }
        // Levels count from the listed folder.
        let below = relative(whole, self.folder);
        let start = whole.len() - below.len();
        let mut level = 0;
        for (at, _) in below.match_indices('/') {
            let folder = &whole[..start + at];
            // The first file of a folder shows the folder.
            if self.entered.get(level) != Some(&folder) {
                self.entered.truncate(level);
                self.entered.push(folder);
                let truncated = level + 1 == self.depth;
                // A folder that does not fit hides all that is in it.
                let shown = self.is_named(folder)?;
                if shown {
                    self.add(ListedEntry { path: folder.to_owned(), r#type: NodeType::Directory, truncated, level });
                }
                if truncated || !shown {
                    // With its `/`, so that `Notes 2` is not taken for a part of `Notes`.
                    self.closed = Some(&whole[..=start + at]);
                    return Ok(());
                }
            }
            level += 1;
        }
        let fits = self.extension.is_none_or(|extension| whole.to_lowercase().ends_with(extension));
        // A folder that holds only empty folders was shown with the first of them.
        let is_shown = r#type == NodeType::Directory && self.entered.get(level) == Some(&whole);
        if fits && !is_shown && self.is_named(whole)? {
            self.add(ListedEntry { path: whole.to_owned(), r#type, truncated: false, level });
        }
        if r#type == NodeType::Directory {
            self.entered.truncate(level);
            self.entered.push(whole);
        }
        Ok(())
    }

    fn is_named(&self, path: &str) -> Result<bool, Reason> {
        self.regex.map_or(Ok(true), |regex| regex.matches(name(path)))
    }

    fn add(&mut self, entry: ListedEntry) {
        // Counted further, to say how much is left out.
        if self.entries.len() < CAP { self.entries.push(entry) } else { self.beyond += 1 }
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// `None` if there is nothing to compare with.
fn with_dot(extension: &str) -> Option<String> {
    let extension = extension.trim().trim_start_matches('.').to_lowercase();
    (!extension.is_empty()).then(|| format!(".{extension}"))
}

fn excluded(beyond: usize) -> ExcludedEntries {
    let hint = format!(
        "Not shown: {}. Set `path` to a folder, set `extension` or `nameRegex`, or lower `depth`.",
        counted(beyond, "more entry")
    );
    ExcludedEntries { reason: "entry_cap", cap: CAP, hint }
}

fn nothing(filtered: bool) -> &'static str {
    if filtered { "Nothing matches the filters." } else { "The directory is empty." }
}

fn markdown(output: &Output) -> String {
    let path = if output.path.is_empty() { "(vault root)".to_owned() } else { quoted(&output.path).to_string() };
    let ListTotals { files, directories, .. } = output.totals;
    let NoteFilters { extension, name_regex, depth } = &output.applied_filters;
    let extension = extension.as_ref().map(|extension| format!("extension={}", quoted(extension)));
    let name_regex = name_regex.as_ref().map(|regex| format!("nameRegex={}", quoted(regex)));
    let filters: Vec<String> = extension.into_iter().chain(name_regex).collect();
    let filters = if filters.is_empty() { String::new() } else { format!(" · filters: {}", filters.join(", ")) };
    let (files, folders) = (counted(files, "file"), counted(directories, "folder"));
    let words = output.folders.get(output.path.trim_end_matches('/'));
    let words = words.map_or(String::new(), |words| format!(" — {}", quoted(words)));
    let head = format!("{path}: {files}, {folders}, depth {depth}{filters}{words}");
    if output.entries.is_empty() {
        return head;
    }
    // Names come from the vault, so the tree is fenced and each name kept on one line.
    let branches: Vec<TreeBranch> = output.entries.iter().map(|entry| branch(entry, &output.folders)).collect();
    let excluded = output.excluded.as_ref().map_or(String::new(), |excluded| format!("\n{}", excluded.hint));
    format!("{head}\n{}{excluded}", fenced(&tree::draw(&branches)))
}

fn branch(entry: &ListedEntry, folders: &FolderWords) -> TreeBranch {
    let slash = if entry.r#type == NodeType::Directory { "/" } else { "" };
    let more = if entry.truncated { " …" } else { "" };
    let words = folders.get(&entry.path).map_or(String::new(), |words| format!(" — {words}"));
    TreeBranch { level: entry.level, label: format!("{}{slash}{more}{words}", name(&entry.path)) }
}
