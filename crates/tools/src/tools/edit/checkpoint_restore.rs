use lapidary_note::{ContentHash, FileContent};
use lapidary_operation::{
    Context, Declaration, Effect, Example, Family, Gives, Group, Kind, PathArgument, Plan, Reason, Role, Wanted,
    WriteTool, quote::quoted,
};
use lapidary_toolkit::{
    checkpoint, hash, index,
    moving::{files_of_folder, folder_changes},
    reading,
    removing::out_of_the_way,
};
use lapidary_vault::{
    Change, ChangeSet, Checkpoint, Guard, VaultPath, View,
    store::{CheckpointKind, EntryRecord},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct CheckpointRestore;

/// Undo a change: the files are again what they were before it. What is there now is kept in a new checkpoint, and a
/// file that the change had made goes to the trash.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Of the checkpoint; so many of its first characters as tell it from others, at least four.
    id: String,
    /// Only this file; otherwise all files of the checkpoint, or none if one cannot be restored.
    #[serde(default)]
    path: Option<String>,
    /// Refuse unless the file at `path` now has this hash. Needed to bring back a deleted file over a new one of its name.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    id: String,
    files: Vec<FileOutput>,
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileOutput {
    path: String,
    /// `restored`, `removed`, `moved back` or `unchanged`.
    outcome: &'static str,
    /// Somebody has changed it since; that version is in the new checkpoint.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    changed_since: bool,
}

const EXPECTED: &str = "expectedHash";

impl WriteTool for CheckpointRestore {
    const DECLARATION: Declaration = Declaration {
        name: "checkpoint_restore",
        dotted: None,
        title: "Undo a change",
        family: Family::Own,
        group: Group::Edit,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: Role::Write }],
        reasons: &[
            Kind::CheckpointMissing,
            Kind::CheckpointAmbiguous,
            Kind::VersionMissing,
            Kind::StalePrecondition,
            Kind::FileExists,
        ],
        words: "undo revert restore roll back a change, get back a deleted note, recover an old version",
    };
    const IN_BATCHES: bool = false;
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Plan<Output>, Reason> {
        let found = checkpoint::find(view, &input.id)?;
        let path = input.path.as_deref().map(reading::parse_path).transpose()?;
        let name = Self::DECLARATION.name;
        let expected = hash::expected(name, EXPECTED, input.expected_hash.as_deref())?;
        let guard = if expected.is_some() { Guard::Caller } else { Guard::Plan };
        if let Some(expected) = &expected {
            let Some(path) = &path else { return Err(Reason::bad_argument(name, EXPECTED, "needs `path`")) };
            let now = reading::read_if_there(view, path)?;
            hash::check(path, EXPECTED, Some(expected), now.as_deref())?;
        }
        let path = path.map(|path| checkpoint::entry_of(&found, &path)).transpose()?.map(|entry| entry.path.clone());
        let mut restoring =
            Restoring { view, ahead: None, found: &found, guard, changes: ChangeSet::default(), files: Vec::new() };
        // The last first, as each was made on top of those before it.
        for index in (0..found.entries.len()).rev() {
            context.check()?;
            if path.as_ref().is_none_or(|path| found.entries[index].path == *path) {
                restoring.entry(context, index)?;
            }
        }
        let Restoring { changes, files, .. } = restoring;
        let output = Output { id: found.id.clone(), files, dry_run: input.dry_run };
        Ok(Plan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = if output.dry_run { "Would restore" } else { "Restored" };
        let mut text = format!("**{done} what was there before {}**", quoted(&output.id));
        for FileOutput { path, outcome, changed_since } in &output.files {
            let since = if *changed_since { " (it had been changed since)" } else { "" };
            text += &format!("\n- {outcome} {}{since}", quoted(path));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("a.md", "old\n"), ("b.md", "[[a]]\n")];
        vec![
            Example {
                says: "An edit is undone",
                before: NOTES,
                input: json!({ "id": "c0ff" }),
                gives: Gives::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("str_replace", json!({ "file": "a.md", "find": "old", "replace": "new" })),
                after: NOTES,
            },
            Example {
                says: "A move with its links is undone",
                before: NOTES,
                input: json!({ "id": "c0ff" }),
                gives: Gives::Including(json!({ "files": [
                    { "path": "b.md", "outcome": "restored" },
                    { "path": "a.md", "outcome": "moved back" },
                ] }))
                .after("file_move", json!({ "from": "a.md", "to": "c.md" })),
                after: NOTES,
            },
            Example {
                says: "A deleted note comes back",
                before: NOTES,
                input: json!({ "id": "c0ff", "path": "a.md" }),
                gives: Gives::Including(json!({ "files": [{ "path": "a.md", "outcome": "restored" }] }))
                    .after("file_delete", json!({ "file": "a.md" })),
                after: NOTES,
            },
            Example {
                says: "A note that was made goes to the trash",
                before: NOTES,
                input: json!({ "id": "c0ff" }),
                gives: Gives::Including(json!({ "files": [{ "path": "c.md", "outcome": "removed" }] }))
                    .after("file_create", json!({ "file": "c.md", "content": "new\n" })),
                after: &[(".trash/c.md", "new\n")],
            },
            Example {
                says: "A checkpoint that is not there",
                before: NOTES,
                input: json!({ "id": "abcd" }),
                gives: Gives::Refusal(Kind::CheckpointMissing),
                after: NOTES,
            },
        ]
    }
}

struct Restoring<'a> {
    view: &'a View,
    found: &'a Checkpoint,
    /// The vault with what has been put back already.
    ahead: Option<View>,
    guard: Guard,
    changes: ChangeSet,
    files: Vec<FileOutput>,
}

impl Restoring<'_> {
    fn entry(&mut self, context: &Context<'_>, index: usize) -> Result<(), Reason> {
        let (found, entry) = (self.found, &self.found.entries[index]);
        // A file that came here by a move goes back with it. If it moved on from here, that is a step of its own.
        let before_it = index.checked_sub(1).and_then(|before| found.entries.get(before));
        let came = before_it.is_some_and(|other| other.moved_to.as_ref() == Some(&entry.path) && !other.is_of_folder());
        if came && entry.before.is_none() && entry.moved_to.is_none() {
            return Ok(());
        }
        // Of a folder there is no content, nor of a file that was moved unread.
        match &entry.moved_to {
            None => self.file(entry),
            Some(_) if entry.is_of_folder() => self.empty_folder(context, entry),
            Some(to) if entry.before.is_none() && index::files(context, self.now())?.find_folder(to).is_some() => {
                self.folder(context, entry, to)
            }
            Some(to) => {
                // What it was when it had arrived stands right behind it.
                let arrived = found.entries.get(index + 1).filter(|other| other.path == *to && other.before.is_none());
                self.moved(entry, to, arrived.and_then(|other| other.after))
            }
        }
    }

    fn now(&self) -> &View {
        self.ahead.as_ref().unwrap_or(self.view)
    }

    fn change(&mut self, change: Change) -> Result<(), Reason> {
        let change = ChangeSet::one(change);
        self.ahead = Some(self.now().with(&change));
        self.changes.join(change, |folder| self.view.had_folder(folder)).map_err(Reason::NotJoined)
    }

    fn tell(&mut self, path: &VaultPath, outcome: &'static str, changed_since: bool) {
        self.files.push(FileOutput { path: path.to_string(), outcome, changed_since });
    }

    fn file(&mut self, entry: &EntryRecord) -> Result<(), Reason> {
        let (path, guard) = (entry.path.clone(), self.guard);
        let old = checkpoint::content(self.view, self.found, entry)?;
        let now = reading::read_if_there(self.now(), &path)?;
        let is_change = self.found.kind == CheckpointKind::Change;
        let since = |now: &ContentHash| is_change && entry.after != Some(*now);
        match (old, now) {
            (Some(old), Some(now)) if now.bytes() == old => self.tell(&path, "unchanged", false),
            // The change took the file away, so what has its name now is somebody's new one. Who has seen it may say so.
            (Some(_), Some(now)) if is_change && entry.after.is_none() && guard == Guard::Plan => {
                return Err(Reason::DestinationExists { path, current: now.hash(), wanted: Wanted::Back });
            }
            (Some(old), Some(now)) => {
                let changed_since = since(&now.hash());
                self.change(Change::Write { path: path.clone(), before: now, guard, content: old.into() })?;
                self.tell(&path, "restored", changed_since);
            }
            (Some(old), None) => {
                self.change(Change::Create { path: path.clone(), content: old.into() })?;
                self.tell(&path, "restored", false);
            }
            (None, Some(now)) => {
                let changed_since = since(&now.hash());
                self.change(out_of_the_way(self.view, path.clone(), now, guard))?;
                self.tell(&path, "removed", changed_since);
            }
            (None, None) => self.tell(&path, "unchanged", false),
        }
        Ok(())
    }

    /// A file that was moved: back if it is still what it was then, else its old text anew and the new one to the trash.
    fn moved(&mut self, entry: &EntryRecord, to: &VaultPath, after: Option<ContentHash>) -> Result<(), Reason> {
        let (path, guard) = (&entry.path, self.guard);
        let there = match reading::read_if_there(self.now(), to) {
            Err(Reason::FileTooLarge { .. }) if entry.before.is_none() => None,
            Ok(None) => return self.file(&alone(entry)),
            there => there?,
        };
        if let Some(now) = reading::read_if_there(self.now(), path)? {
            return Err(Reason::DestinationExists { path: path.clone(), current: now.hash(), wanted: Wanted::Back });
        }
        let now = there.as_ref().map(|there| there.hash());
        let changed_since = after.is_some() && after != now;
        let old = if changed_since { None } else { checkpoint::content(self.view, self.found, entry)? };
        let old = old.filter(|old| there.as_ref().is_some_and(|there| there.bytes() != *old));
        let (from, to, before) = (to.clone(), path.clone(), there);
        self.change(Change::Move { from, to, before, guard, content: old.map(FileContent::from) })?;
        self.tell(path, "moved back", changed_since);
        Ok(())
    }

    fn folder(&mut self, context: &Context<'_>, entry: &EntryRecord, to: &VaultPath) -> Result<(), Reason> {
        let changes = {
            let files = index::files(context, self.now())?;
            let moved = files_of_folder(self.now(), files, to, &entry.path)?;
            let in_the_way = files.find_folder(&entry.path);
            if in_the_way.as_ref().is_some_and(|folder| files.below(Some(folder)).next().is_some()) {
                return Err(Reason::PathIsDirectory { path: entry.path.clone() });
            }
            let back = folder_changes(to.clone(), entry.path.clone(), &moved, Vec::new());
            in_the_way.map(|path| Change::TrashFolder { path }).into_iter().chain(back).collect::<Vec<_>>()
        };
        changes.into_iter().try_for_each(|change| self.change(change))?;
        self.tell(&entry.path, "moved back", false);
        Ok(())
    }
}

impl Restoring<'_> {
    /// A folder that was made goes if it is still empty, and one that was removed comes back.
    fn empty_folder(&mut self, context: &Context<'_>, entry: &EntryRecord) -> Result<(), Reason> {
        let path = entry.path.clone();
        let files = index::files(context, self.now())?;
        let (change, outcome) = match files.find_folder(&path) {
            Some(folder) if files.below(Some(&folder)).next().is_some() => (None, "unchanged"),
            Some(path) => (Some(Change::TrashFolder { path }), "removed"),
            None => (Some(Change::MakeFolder { path: path.clone() }), "restored"),
        };
        change.map_or(Ok(()), |change| self.change(change))?;
        self.tell(&path, outcome, false);
        Ok(())
    }
}

/// Without where it went.
fn alone(entry: &EntryRecord) -> EntryRecord {
    EntryRecord { moved_to: None, ..entry.clone() }
}
