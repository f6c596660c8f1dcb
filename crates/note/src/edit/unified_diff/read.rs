//! Parses a unified diff.

use super::{DiffHunk, DiffLine, DiffMark, HunkRange, Patch, PatchError};
use crate::text::plain_line_ends;

impl Patch {
    /// Parses a patch. Text before the first `@@` is for people.
    pub fn parse(patch: &str) -> Result<Self, PatchError> {
        let patch = plain_line_ends(patch);
        // The last line end belongs to the message, not to the patch.
        let lines: Vec<&str> = patch.strip_suffix('\n').unwrap_or(&patch).split('\n').collect();
        let mut at = lines.iter().position(|line| line.starts_with("@@")).ok_or(PatchError::NoHunk)?;
        let mut hunks = Vec::new();
        while at < lines.len() {
            let (hunk, next) = DiffReader { lines: &lines, hunk: hunks.len() }.hunk(at)?;
            hunks.push(hunk);
            at = next;
            // Blank lines after a hunk come from transmission, not from the patch.
            while lines.get(at).is_some_and(|line| line.is_empty()) {
                at += 1;
            }
        }
        Ok(Self { hunks })
    }

    pub fn hunks(&self) -> usize {
        self.hunks.len()
    }
}

struct DiffReader<'p> {
    lines: &'p [&'p str],
    hunk: usize,
}

impl DiffReader<'_> {
    /// The hunk whose header is on a line, and the line after it.
    fn hunk(&self, header: usize) -> Result<(DiffHunk, usize), PatchError> {
        let bad_header = PatchError::Header { hunk: self.hunk, line: header + 1 };
        let stated = range(self.lines[header]).ok_or_else(|| bad_header.clone())?;
        // Line 0 is only for a hunk without old lines.
        if stated.old_start == 0 && stated.old_lines > 0 {
            return Err(bad_header);
        }
        let mut lines: Vec<DiffLine> = Vec::new();
        let (mut old, mut new) = (0, 0);
        let mut at = header + 1;
        // The counts of the header say where the hunk ends, since a line of the patch may look like a header.
        while old < stated.old_lines || new < stated.new_lines {
            let line = self.lines.get(at).copied().ok_or_else(|| self.counts(header, stated))?;
            if let Some(line) = self.line(at, line)? {
                old += usize::from(line.mark.is_old());
                new += usize::from(line.mark.is_new());
                lines.push(line);
            } else if self.is_header(at) {
                return Err(self.counts(header, stated));
            } else {
                self.unend(&mut lines)?;
            }
            if old > stated.old_lines || new > stated.new_lines {
                return Err(self.counts(header, stated));
            }
            at += 1;
        }
        // The marker for a missing newline is not counted, so it may follow the last line.
        if self.lines.get(at).is_some_and(|line| line.starts_with('\\')) {
            self.unend(&mut lines)?;
            at += 1;
        }
        self.check_unended(&lines)?;
        self.ends(at, header, stated)?;
        Ok((DiffHunk { start: stated.old_start, lines }, at))
    }

    /// A line of a hunk; `None` for a header and for `\ No newline at end of file`. A blank context line may have lost
    /// its space in transit.
    fn line(&self, at: usize, line: &str) -> Result<Option<DiffLine>, PatchError> {
        let (mark, text) = match line.split_at_checked(1) {
            None if line.is_empty() => (DiffMark::Kept, ""),
            Some((" ", text)) => (DiffMark::Kept, text),
            Some(("-", text)) => (DiffMark::Removed, text),
            Some(("+", text)) => (DiffMark::Added, text),
            Some(("\\", _)) => return Ok(None),
            _ if self.is_header(at) => return Ok(None),
            _ => return Err(PatchError::Line { hunk: self.hunk, line: at + 1 }),
        };
        Ok(Some(DiffLine { mark, text: text.to_owned(), ended: true }))
    }

    fn is_header(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|line| line.starts_with("@@"))
    }

    /// Removes the newline from the line above.
    fn unend(&self, lines: &mut [DiffLine]) -> Result<(), PatchError> {
        // A second marker for the same line is a mistake.
        let last = lines.last_mut().filter(|line| line.ended);
        last.ok_or(PatchError::UnendedLine { hunk: self.hunk })?.ended = false;
        Ok(())
    }

    /// Only the last line of a side can lack a newline.
    fn check_unended(&self, lines: &[DiffLine]) -> Result<(), PatchError> {
        let sides: [fn(DiffMark) -> bool; 2] = [DiffMark::is_old, DiffMark::is_new];
        let follows = |side: fn(DiffMark) -> bool| {
            let mut own = lines.iter().filter(|line| side(line.mark));
            own.any(|line| !line.ended) && own.next().is_some()
        };
        if sides.into_iter().any(follows) { Err(PatchError::UnendedLine { hunk: self.hunk }) } else { Ok(()) }
    }

    /// Whether the hunk ends where its counts say.
    fn ends(&self, at: usize, header: usize, stated: HunkRange) -> Result<(), PatchError> {
        let starts = |at: usize, marks: &str| self.lines.get(at).is_some_and(|line| line.starts_with(marks));
        let another_file = (starts(at, "--- ") && starts(at + 1, "+++ ")) || starts(at, "diff ");
        match self.lines.get(at) {
            None => Ok(()),
            Some(line) if line.is_empty() || self.is_header(at) => Ok(()),
            Some(_) if another_file => Err(PatchError::SeveralFiles { line: at + 1 }),
            Some(line) if line.starts_with([' ', '-', '+']) => Err(self.counts(header, stated)),
            Some(_) => Err(PatchError::Line { hunk: self.hunk, line: at + 1 }),
        }
    }

    /// What the header of a hunk should have said.
    fn counts(&self, header: usize, stated: HunkRange) -> PatchError {
        let body = self.lines[header + 1..].iter().take_while(|line| !line.starts_with("@@"));
        let mut lines: Vec<&&str> = body.collect();
        // Blank lines at the end are not part of the hunk.
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let count = |marks: [char; 2]| lines.iter().filter(|line| line.is_empty() || line.starts_with(marks)).count();
        let actual = HunkRange { old_lines: count([' ', '-']), new_lines: count([' ', '+']), ..stated };
        PatchError::Counts { hunk: self.hunk, line: header + 1, stated, actual }
    }
}

/// `@@ -a,b +c,d @@`; a count of one may be omitted.
pub(super) fn range(header: &str) -> Option<HunkRange> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let (old_start, old_lines) = side(old)?;
    let (new_start, new_lines) = side(new)?;
    Some(HunkRange { old_start, old_lines, new_start, new_lines })
}

fn side(range: &str) -> Option<(usize, usize)> {
    let (start, lines) = range.split_once(',').unwrap_or((range, "1"));
    Some((number(start)?, number(lines)?))
}

/// `parse` alone would accept a sign.
fn number(digits: &str) -> Option<usize> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}
