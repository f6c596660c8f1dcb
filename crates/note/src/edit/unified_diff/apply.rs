//! Applies a unified diff.

use super::{DiffHunk, DiffLine, DiffMark, Patch, PatchError, PatchFailure, PatchMismatch};
use crate::{
    Document,
    edit::{EditResult, TextChange},
};

const NO_NEWLINE: &str = "\\ No newline at end of file";

impl Document {
    /// Makes the changes of a patch if every old line is where the patch says; otherwise none of them.
    ///
    /// Whether the last line of the file has a newline is unchanged, unless the patch mentions it.
    pub fn apply_patch(&self, patch: &Patch) -> Result<EditResult, PatchFailure> {
        let target = PatchedFile::of(self.shown());
        let mut changes = Vec::new();
        let mut done = 0;
        for (index, hunk) in patch.hunks.iter().enumerate() {
            let first = hunk.first();
            // Hunks that overlap would be applied to each other's result.
            if first < done {
                return Err(PatchError::Order { hunk: index }.into());
            }
            // All hunks are checked on the old text, before anything is changed.
            target.check(index, hunk).map_err(PatchFailure::Mismatch)?;
            target.check_end(index, hunk)?;
            target.changes(hunk, &mut changes);
            done = first + hunk.old().count();
        }
        Ok(self.apply(changes)?)
    }
}

impl DiffHunk {
    fn old(&self) -> impl Iterator<Item = &DiffLine> {
        self.lines.iter().filter(|line| line.mark.is_old())
    }

    /// The first old line or, without old lines, the one before which the new ones go; counted from 0.
    fn first(&self) -> usize {
        if self.old().next().is_some() { self.start.saturating_sub(1) } else { self.start }
    }
}

/// The file that a patch is applied to.
struct PatchedFile<'t> {
    shown: &'t str,
    lines: Vec<&'t str>,
    /// Where each line starts, and the end.
    starts: Vec<usize>,
}

impl<'t> PatchedFile<'t> {
    fn of(shown: &'t str) -> Self {
        let lines: Vec<&str> = shown.split_inclusive('\n').collect();
        let mut starts = vec![0];
        let mut at = 0;
        for line in &lines {
            at += line.len();
            starts.push(at);
        }
        Self { shown, lines, starts }
    }

    /// A line without its line ending, counted from 0.
    fn line(&self, index: usize) -> Option<&'t str> {
        self.lines.get(index).map(|line| line.strip_suffix('\n').unwrap_or(line))
    }

    fn is_unended(&self) -> bool {
        !self.shown.is_empty() && !self.shown.ends_with('\n')
    }

    fn check(&self, index: usize, hunk: &DiffHunk) -> Result<(), PatchMismatch> {
        let first = hunk.first();
        let mismatch = |line: usize, removed: bool, expected: &str, actual: Option<&str>| PatchMismatch {
            // Counted as the patch counts them.
            hunk: index,
            line: line + 1,
            removed,
            expected: expected.to_owned(),
            actual: actual.map(str::to_owned),
            // Models count lines badly; if the lines are elsewhere, the hint can say where.
            found_at: self.place_of(hunk).filter(|place| *place != first).map(|place| place + 1),
        };
        if first > self.lines.len() {
            let expected = hunk.old().next().map_or("", |line| &*line.text);
            return Err(mismatch(first, false, expected, None));
        }
        for (at, line) in (first..).zip(hunk.old()) {
            let removed = line.mark == DiffMark::Removed;
            let actual = self.line(at);
            if actual != Some(&*line.text) {
                return Err(mismatch(at, removed, &line.text, actual));
            }
            // "\ No newline at end of file" is a claim about the file like any other line.
            let ends_file = self.is_unended() && at + 1 == self.lines.len();
            if !line.ended && !ends_file {
                return Err(mismatch(at, removed, NO_NEWLINE, actual));
            }
        }
        Ok(())
    }

    /// Only the last line of the new file may lack a newline.
    fn check_end(&self, index: usize, hunk: &DiffHunk) -> Result<(), PatchError> {
        let ends_file = hunk.first() + hunk.old().count() == self.lines.len();
        let unended = hunk.lines.iter().any(|line| line.mark.is_new() && !line.ended);
        if unended && !ends_file { Err(PatchError::UnendedLine { hunk: index }) } else { Ok(()) }
    }

    /// The only place where all old lines of a hunk match, if they do so elsewhere.
    fn place_of(&self, hunk: &DiffHunk) -> Option<usize> {
        let old: Vec<&str> = hunk.old().map(|line| &*line.text).collect();
        if old.is_empty() {
            return None;
        }
        let here = |at: &usize| old.iter().enumerate().all(|(index, line)| self.line(at + index) == Some(line));
        let mut places = (0..self.lines.len()).filter(here);
        // Two places would be a guess.
        places.next().filter(|_| places.next().is_none())
    }

    /// Each run of removed and added lines is one change, so that kept lines keep their bytes.
    fn changes(&self, hunk: &DiffHunk, changes: &mut Vec<TextChange>) {
        let mut at = hunk.first();
        let mut lines = &hunk.lines[..];
        while !lines.is_empty() {
            let kept = lines.iter().take_while(|line| line.mark == DiffMark::Kept).count();
            at += kept;
            let run = lines[kept..].iter().take_while(|line| line.mark != DiffMark::Kept).count();
            let (run, rest) = lines[kept..].split_at(run);
            let removed = run.iter().filter(|line| line.mark == DiffMark::Removed).count();
            if !run.is_empty() {
                changes.push(self.change(at, removed, run));
            }
            at += removed;
            lines = rest;
        }
    }

    fn change(&self, at: usize, removed: usize, run: &[DiffLine]) -> TextChange {
        let added: Vec<&DiffLine> = run.iter().filter(|line| line.mark == DiffMark::Added).collect();
        let mut text: String = added.iter().map(|line| format!("{}\n", line.text)).collect();
        // The line behind the last has the end of the text as its start.
        let span = self.starts[at]..self.starts[at + removed];
        if let (Some(last), true) = (added.last(), span.end == self.shown.len()) {
            let was_unended = run.iter().any(|line| line.mark == DiffMark::Removed && !line.ended);
            if !last.ended || (self.is_unended() && !was_unended) {
                text.pop();
            }
            // The line above had no newline, and is no longer the last.
            let before = &self.shown[..span.start];
            if !before.is_empty() && !before.ends_with('\n') {
                text.insert(0, '\n');
            }
        }
        TextChange::new(span, text)
    }
}
