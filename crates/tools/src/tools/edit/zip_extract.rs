//! Extracts an archive of the vault into a folder.

mod archive;

use std::collections::HashSet;

use lapidary_note::counted;
use lapidary_operation::{
    ArchiveProblem, Context, Declaration, Effect, Example, ExampleResult, NameWanted, PathArgument, PathRole, Reason,
    ReasonKind, ToolGroup, ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_toolkit::{
    names::composed,
    naming::{self, NamedFile},
    reading, whole_file,
};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::archive::ArchiveEntry;

pub(crate) struct ZipExtract;

/// Extract a zip archive of the vault into a folder. Nothing is overwritten; hidden files are left out.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path of the archive.
    path: String,
    /// Made if it is missing.
    folder: String,
    /// Leave out the folder that holds everything in the archive.
    #[serde(default)]
    strip_root: bool,
    /// Only show what would be extracted.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    folder: String,
    file_count: usize,
    bytes: usize,
    // The first of them.
    files: Vec<String>,
    // Hidden files and those that only one system needs.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// How many files an answer names.
const NAMED: usize = 50;

impl WriteTool for ZipExtract {
    const DECLARATION: Declaration = Declaration {
        name: "zip_extract",
        dotted: None,
        title: "Extract an archive",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[
            PathArgument { pointer: "/path", role: PathRole::Read },
            PathArgument { pointer: "/folder", role: PathRole::Write },
        ],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::ArchiveRefused, ReasonKind::FileExists],
        words: "extract unzip unpack zip archive into folder",
    };
    const EFFECT: Effect = Effect::Write;
    const IS_SEPARABLE: bool = true;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let folder = reading::parse_path(&input.folder)?;
        let NamedFile { path, file, .. } = naming::find(context, view, &input.path)?;
        whole_file::check_kind(tool, context, view, &path, ".zip")?;
        // Read as a whole first: an archive with one bad entry changes nothing.
        let archive::ReadArchive { mut entries, left_out } = archive::read(context, &path, file.bytes())?;
        if input.strip_root {
            strip_root(&mut entries);
        }
        let mut changes = ChangeSet::default();
        let (mut seen, mut folders) = (HashSet::new(), HashSet::new());
        let mut bytes = 0;
        for ArchiveEntry { name, content } in entries {
            context.check()?;
            let refused = |problem| {
                let (path, entry) = (path.clone(), Some(name.clone()));
                Err(Reason::ArchiveRefused { path, entry, problem })
            };
            let Ok(place) = VaultPath::parse(&format!("{folder}/{name}")) else { return refused(ArchiveProblem::Name) };
            // Whatever the names were, everything stays in the folder.
            if !place.is_within(&folder) {
                return refused(ArchiveProblem::Name);
            }
            // Without case and with composed accents, since some disks take two such names for one file.
            let folded = |path: &VaultPath| composed(path.as_str()).to_lowercase();
            if !seen.insert(folded(&place)) {
                return refused(ArchiveProblem::Twice);
            }
            // Every folder above, for the check below.
            folders.extend(std::iter::successors(place.folder(), VaultPath::folder).map(|folder| folded(&folder)));
            if let Some(there) = reading::read_if_there(view, &place)? {
                return Err(Reason::DestinationExists {
                    path: place,
                    current: there.hash(),
                    wanted: NameWanted::Unpacked,
                });
            }
            naming::check_new(context, view, &place, None)?;
            bytes += content.len();
            let change = Change::Create { path: place, content: content.into() };
            context.budget.gather(&change)?;
            changes.changes.push(change);
        }
        // A file in the place of a folder of another.
        if seen.iter().any(|file| folders.contains(file)) {
            return Err(Reason::ArchiveRefused { path, entry: None, problem: ArchiveProblem::Broken });
        }
        let made: Vec<&VaultPath> = changes.changes.iter().filter_map(Change::makes).collect();
        let output = Output {
            path: path.to_string(),
            folder: folder.to_string(),
            file_count: made.len(),
            bytes,
            files: made.iter().take(NAMED).map(|path| path.to_string()).collect(),
            left_out,
            dry_run: input.dry_run,
        };
        Ok(ToolPlan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, folder, file_count, bytes, files, left_out, dry_run } = output;
        let done = if *dry_run { "Would extract" } else { "Extracted" };
        let count = counted(*file_count, "file");
        let mut text = format!("{done} {count}, {bytes} bytes, from {} into {}", quoted(path), quoted(folder));
        if *left_out > 0 {
            text += &format!("; {} left out", counted(*left_out, "hidden file"));
        }
        files.iter().for_each(|file| text += &format!("\n{}", quoted(file)));
        if *file_count > files.len() {
            text += &format!("\nand {}", counted(file_count - files.len(), "more file"));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "What is in an archive, without extracting it",
                before: &[],
                input: json!({ "path": "notes.zip", "folder": "Imported", "dryRun": true }),
                gives: ExampleResult::Including(json!({ "fileCount": 1, "bytes": 3, "files": ["Imported/a.md"] }))
                    .after("attachment_add", json!({ "name": "notes.zip", "data": NOTES })),
                after: &[],
            },
            Example {
                says: "A file that is not an archive",
                before: &[("notes.zip", "PK no zip")],
                input: json!({ "path": "notes.zip", "folder": "Imported" }),
                gives: ExampleResult::Refusal(ReasonKind::ArchiveRefused),
                after: &[("notes.zip", "PK no zip")],
            },
        ]
    }
}

/// An archive with `a.md`, which has three bytes.
const NOTES: &str = "UEsDBBQAAAAAAAAAIVzxhmx6AwAAAAMAAAAEAAAAYS5tZG9uZVBLAQIUAxQAAAAAAAAAIVzxhmx6AwAAAAMAAAAEAAAAAAAAAAAAAACAAQAAAABhLm1kUEsFBgAAAAABAAEAMgAAACUAAAAAAA==";

/// Leaves out the first folder if everything is in it.
fn strip_root(entries: &mut [ArchiveEntry]) {
    // A first entry without a folder means that there is no common one.
    let Some((root, _)) = entries.first().and_then(|entry| entry.name.split_once('/')) else { return };
    let root = format!("{root}/");
    if entries.iter().all(|entry| entry.name.starts_with(&root)) {
        entries.iter_mut().for_each(|entry| entry.name = entry.name.split_off(root.len()));
    }
}
