//! Whether the notes of a change fit their schemas. The executor asks once for every change, whichever tool planned it.

use lapidary_note::FileContent;
use lapidary_operation::{
    Context, Reason, ShapeProblem,
    quote::{Prose, quoted_path},
};
use lapidary_vault::{Change, ChangeSet, VaultPath, View, rebased};

use super::{MismatchResponse, NoteFacts, NoteSchema, in_force, read_schema};
use crate::{index, reading};

/// What a change does to the shape of notes.
#[derive(Default)]
pub struct CheckedShape {
    /// Notes that do not fit any more, and what they lack.
    worse: Vec<(VaultPath, Vec<ShapeProblem>)>,
}

/// How many notes and problems a notice names.
const NAMED_NOTES: usize = 3;
const NAMED_PROBLEMS: usize = 3;

impl CheckedShape {
    /// One short sentence for the answer; without what the notes say, if the caller may not read them.
    pub fn notice(self, shows_content: bool) -> Option<String> {
        let count = self.worse.len();
        let as_shown = |problem: ShapeProblem| if shows_content { problem } else { problem.without_content() };
        let one = |(path, problems): (VaultPath, Vec<ShapeProblem>)| {
            let more = problems.len().saturating_sub(NAMED_PROBLEMS);
            let named = problems.into_iter().take(NAMED_PROBLEMS).map(|problem| as_shown(problem).says());
            let mut named: Vec<String> = named.collect();
            named.extend((more > 0).then(|| format!("{more} more")));
            format!("{}: {}", quoted_path(&path), named.join("; "))
        };
        let mut notes: Vec<String> = self.worse.into_iter().take(NAMED_NOTES).map(one).collect();
        let more = count.saturating_sub(NAMED_NOTES);
        notes.extend((more > 0).then(|| format!("and {more} more")));
        (count > 0).then(|| format!("Not as the schema of the note type wants: {}.", notes.join(". ")))
    }
}

/// Refuses a change if a schema says so; otherwise what has become worse. What was wrong before may stay: a note can be
/// edited elsewhere without being put right.
pub fn check(context: &Context<'_>, view: &View, changes: &ChangeSet) -> Result<CheckedShape, Reason> {
    let mut checked = CheckedShape::default();
    if context.shape.schema_folder().is_none() || changes.is_empty() {
        return Ok(checked);
    }
    let schemas = in_force(context, view)?.schemas;
    for change in &changes.changes {
        context.check()?;
        match change {
            Change::Write { path, before, content, .. } => {
                check_schema(context, path, content)?;
                let before = || Some((path, NoteFacts::of_content(&before.content)));
                checked.compare(context, &schemas, before, path, || NoteFacts::of_content(content))?;
            }
            Change::Create { path, content } => {
                check_schema(context, path, content)?;
                checked.compare(context, &schemas, || None, path, || NoteFacts::of_content(content))?;
            }
            // What was moved unread is too large to be looked at.
            Change::Move { from, to, before: Some(before), content, .. } => {
                let after = content.as_ref().unwrap_or(&before.content);
                check_schema(context, to, after)?;
                let before = || Some((from, NoteFacts::of_content(&before.content)));
                checked.compare(context, &schemas, before, to, || NoteFacts::of_content(after))?;
            }
            Change::MoveFolder { from, to } => checked.folder(context, view, &schemas, from, to)?,
            Change::Move { before: None, .. }
            | Change::Trash { .. }
            | Change::TrashFolder { .. }
            | Change::MakeFolder { .. }
            | Change::Delete { .. } => {}
        }
    }
    Ok(checked)
}

/// A note that becomes a schema has to be one: a broken one would hold for no note, and that would go unnoticed.
fn check_schema(context: &Context<'_>, path: &VaultPath, content: &FileContent) -> Result<(), Reason> {
    if !path.is_note() || !context.shape.is_schema(path) {
        return Ok(());
    }
    match read_schema(content) {
        Ok(_) => Ok(()),
        Err(problem) => Err(Reason::SchemaInvalid { path: path.clone(), problem: Prose::ours(problem) }),
    }
}

impl CheckedShape {
    fn compare<'p>(
        &mut self,
        context: &Context<'_>,
        schemas: &[NoteSchema],
        before: impl FnOnce() -> Option<(&'p VaultPath, NoteFacts)>,
        path: &VaultPath,
        after: impl FnOnce() -> NoteFacts,
    ) -> Result<(), Reason> {
        if schemas.is_empty() || !is_checked(context, path) {
            return Ok(());
        }
        let (before, after) = (before(), after());
        let (mut told, mut refused) = (Vec::new(), Vec::new());
        for schema in schemas {
            let mut new = schema.problems(path, &after);
            if let Some((path, before)) = before.as_ref().filter(|(path, _)| is_checked(context, path)) {
                let known = schema.problems(path, before);
                new.retain(|problem| !known.contains(problem));
            }
            let into = if schema.on_mismatch == MismatchResponse::Refuse { &mut refused } else { &mut told };
            // Two schemas may ask for the same.
            new.retain(|problem| !into.contains(problem));
            into.extend(new);
        }
        if !refused.is_empty() {
            return Err(Reason::SchemaMismatch { path: path.clone(), problems: refused });
        }
        if !told.is_empty() {
            self.worse.push((path.clone(), told));
        }
        Ok(())
    }

    /// Notes that come into the folder of a type with their own folder.
    fn folder(
        &mut self,
        context: &Context<'_>,
        view: &View,
        schemas: &[NoteSchema],
        from: &VaultPath,
        to: &VaultPath,
    ) -> Result<(), Reason> {
        let of_folder = |schema: &&NoteSchema| {
            // A folder outside of both, or around both, makes no difference.
            let folder = schema.notes.folder.as_ref();
            folder.is_some_and(|folder| (folder.covers(to) || folder.is_within(to)) && !folder.covers(from))
        };
        let concerned: Vec<NoteSchema> = schemas.iter().filter(of_folder).cloned().collect();
        if concerned.is_empty() {
            return Ok(());
        }
        for entry in index::files(context, view)?.below(Some(from)).filter(|entry| entry.is_note()) {
            context.check()?;
            let arrived = rebased(entry.path(), from, to);
            let (Some(arrived), Some(file)) = (arrived, reading::read_if_there(view, entry.path())?) else { continue };
            let facts = || NoteFacts::of_content(&file.content);
            self.compare(context, &concerned, || Some((entry.path(), facts())), &arrived, facts)?;
        }
        Ok(())
    }
}

/// Schemas themselves and the notes that are kept up have no type.
pub(crate) fn is_checked(context: &Context<'_>, path: &VaultPath) -> bool {
    path.is_note() && !context.shape.is_schema(path) && !context.shape.is_kept_up(path)
}
