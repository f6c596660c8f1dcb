//! The difference of two texts, as rows that a page shows: changed lines with some around them, and the changed words in
//! them.

use std::{ops::Range, time::Duration};

use similar::{ChangeTag, DiffOp, TextDiff, group_diff_ops};

use crate::{
    marked_line::{LinePart, NoteAddress, differences, line_around, marked_line, plain_line},
    property_rows::{PropertyRow, property_rows},
};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Beyond this the comparison gets coarser instead of slower.
const PATIENCE: Duration = Duration::from_millis(500);
/// More rows of a file are not read by anyone, and take seconds to draw.
const MOST_ROWS: usize = 2_000;
/// Words are compared only in lines that a person compares by words.
const LONGEST_COMPARED: usize = 500;

/// Each may take a tenth of a second.
const MOST_LONG_LINES: usize = 20;

/// What a change does to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    pub rows: Vec<DiffRow>,
    /// Lines of the whole file, also of the part that is not shown.
    pub added: usize,
    pub removed: usize,
    /// There are more rows than are shown.
    pub is_cut: bool,
    /// What no line shows: other line endings, a byte order mark, a missing end of the last line.
    pub facts: Vec<&'static str>,
    pub properties: Vec<PropertyRow>,
    /// Long lines that were compared.
    long_lines: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// Unchanged lines are left out; the next ones have these numbers.
    Gap {
        old: usize,
        new: usize,
    },
    Line(DiffLine),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub sign: LineSign,
    pub old: Option<usize>,
    pub new: Option<usize>,
    /// Markup: the text, with the changed words marked.
    // Escaped where it is made: templates write it without escaping it again.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSign {
    Same,
    Removed,
    Added,
}

impl LineSign {
    /// For style sheets.
    pub fn class(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }

    /// For those who do not see colours or signs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            Self::Same => " ",
            // The minus sign U+2212, which is as wide as the plus.
            Self::Removed => "−",
            Self::Added => "+",
        }
    }
}

impl FileDiff {
    /// `None` is a file that is not there. `address` is where the name of a note leads to; empty if nowhere.
    pub fn between(before: Option<&str>, after: Option<&str>, address: &dyn Fn(&str) -> String) -> Self {
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let mut diff =
            // Neither depends on the rows, so a diff that is cut has both.
            Self { facts: facts(before, after), properties: property_rows(before, after), ..Self::default() };
        let (old_lines, new_lines) = (lines(old), lines(new));
        let ops = TextDiff::configure().timeout(PATIENCE).diff_slices(&old_lines, &new_lines).ops().to_vec();
        // Counted before anything is cut, so that the totals at the top of a file are true.
        for op in &ops {
            let (_, old, new) = op.as_tag_tuple();
            if !matches!(op, DiffOp::Equal { .. }) {
                diff.removed += old.len();
                diff.added += new.len();
            }
        }
        // Where the previous group ended; a group that begins elsewhere has unchanged lines before it that are left
        // out.
        let mut end = (0, 0);
        for group in group_diff_ops(ops, CONTEXT) {
            if let Some(first) = group.first() {
                let (old, new) = (first.old_range().start, first.new_range().start);
                if (old, new) != end {
                    diff.rows.push(DiffRow::Gap { old: old + 1, new: new + 1 });
                }
            }
            for op in &group {
                if diff.rows.len() >= MOST_ROWS {
                    diff.is_cut = true;
                    return diff;
                }
                diff.push(op, &old_lines, &new_lines, address);
                end = (op.old_range().end, op.new_range().end);
            }
        }
        diff
    }

    fn push(&mut self, op: &DiffOp, old_lines: &[&str], new_lines: &[&str], address: NoteAddress<'_>) {
        let (old, new) = (op.old_range(), op.new_range());
        // One operation can be longer than the page: a new file of a million lines is a single one.
        let room = MOST_ROWS.saturating_sub(self.rows.len());
        self.is_cut |= old.len() > room || new.len() > room;
        if let DiffOp::Equal { .. } = op {
            for (old, new) in old.zip(new).take(room) {
                self.line(LineSign::Same, Some(old), Some(new), plain_line(old_lines[old], address));
            }
            return;
        }
        // Lines that replace each other are compared by words, the others are shown as they are.
        let pairs: Vec<Option<(String, String)>> = old
            .clone()
            .zip(new.clone())
            .take(room)
            .map(|(old, new)| marked_words(old_lines[old], new_lines[new], address))
            .collect();
        // A line without one beside it is shown from its start.
        let differs: Vec<_> = old
            .clone()
            .zip(new.clone())
            .zip(&pairs)
            .map(|((old, new), marked)| match marked {
                Some(_) => Default::default(),
                None => self.differences(old_lines[old], new_lines[new]),
            })
            .collect();
        let around =
            |number: usize| differs.get(number).map(|(old, new)| (old.as_slice(), new.as_slice())).unwrap_or_default();
        // All removed lines come before the added ones, as in a unified diff; `split_rows` pairs them again.
        for (number, old) in old.enumerate().take(room) {
            let marked = pairs.get(number).and_then(Option::as_ref).map(|(old, _)| old.clone());
            let text = marked.unwrap_or_else(|| line_around(old_lines[old], around(number).0, address));
            self.line(LineSign::Removed, Some(old), None, text);
        }
        for (number, new) in new.enumerate().take(room) {
            let marked = pairs.get(number).and_then(Option::as_ref).map(|(_, new)| new.clone());
            let text = marked.unwrap_or_else(|| line_around(new_lines[new], around(number).1, address));
            self.line(LineSign::Added, None, Some(new), text);
        }
    }

    /// Where two long lines differ, as long as a file has time for that; the others are shown from their start.
    fn differences(&mut self, old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
        self.long_lines += 1;
        if self.long_lines > MOST_LONG_LINES { Default::default() } else { differences(old, new) }
    }

    fn line(&mut self, sign: LineSign, old: Option<usize>, new: Option<usize>, text: String) {
        let number = |index: usize| index + 1;
        self.rows.push(DiffRow::Line(DiffLine { sign, old: old.map(number), new: new.map(number), text }));
    }

    /// The rows for two columns: removed lines beside those that replace them.
    pub fn split_rows(&self) -> Vec<(Option<&DiffLine>, Option<&DiffLine>)> {
        let mut rows = Vec::new();
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for row in &self.rows {
            match row {
                DiffRow::Line(line) if line.sign == LineSign::Removed => removed.push(line),
                DiffRow::Line(line) if line.sign == LineSign::Added => added.push(line),
                // An unchanged line or a gap ends a run of changes: only lines of one run can replace each other.
                other => {
                    drain_pairs(&mut rows, &mut removed, &mut added);
                    match other {
                        DiffRow::Line(line) => rows.push((Some(line), Some(line))),
                        DiffRow::Gap { .. } => rows.push((None, None)),
                    }
                }
            }
        }
        // The last run has no line after it that would end it.
        drain_pairs(&mut rows, &mut removed, &mut added);
        rows
    }
}

type LinePair<'a> = (Option<&'a DiffLine>, Option<&'a DiffLine>);

fn drain_pairs<'a>(rows: &mut Vec<LinePair<'a>>, removed: &mut Vec<&'a DiffLine>, added: &mut Vec<&'a DiffLine>) {
    let longest = removed.len().max(added.len());
    rows.extend((0..longest).map(|at| (removed.get(at).copied(), added.get(at).copied())));
    removed.clear();
    added.clear();
}

/// Without their ends, and without a byte order mark: what changes about these is said in words.
fn lines(text: &str) -> Vec<&str> {
    // `lines` also drops `\r`, so a file that only changes its line endings has no changed line; `facts` says it.
    text.strip_prefix('\u{feff}').unwrap_or(text).lines().collect()
}

/// Both lines with the words that differ marked, if there are any that do not.
fn marked_words(old: &str, new: &str, address: NoteAddress<'_>) -> Option<(String, String)> {
    if old.len() > LONGEST_COMPARED || new.len() > LONGEST_COMPARED {
        return None;
    }
    let diff = TextDiff::from_words(old, new);
    // Nothing in common but blanks: marking everything says nothing.
    let common: usize = diff
        .iter_all_changes()
        .filter(|change| change.tag() == ChangeTag::Equal)
        .map(|change| change.value().trim().len())
        .sum();
    if common == 0 {
        return None;
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let part = |tag| LinePart { tag, text: change.value() };
        match change.tag() {
            ChangeTag::Equal => {
                left.push(part(None));
                right.push(part(None));
            }
            ChangeTag::Delete => left.push(part(Some("del"))),
            ChangeTag::Insert => right.push(part(Some("ins"))),
        }
    }
    Some((marked_line(&left, address), marked_line(&right, address)))
}

/// What changes without a line that shows it.
fn facts(before: Option<&str>, after: Option<&str>) -> Vec<&'static str> {
    // A file that is created or deleted has no such change: everything about it is new or gone.
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    let mut facts = Vec::new();
    let has_mark = |text: &str| text.starts_with('\u{feff}');
    match (has_mark(before), has_mark(after)) {
        (true, false) => facts.push("The byte order mark is removed."),
        (false, true) => facts.push("A byte order mark is added."),
        _ => {}
    }
    // One is enough: a file with mixed endings counts as CRLF.
    let has_windows_ends = |text: &str| text.contains("\r\n");
    match (has_windows_ends(before), has_windows_ends(after)) {
        (true, false) => facts.push("Line endings change from CRLF to LF."),
        (false, true) => facts.push("Line endings change from LF to CRLF."),
        _ => {}
    }
    // An empty file has no last line that could lack an end.
    let is_ended = |text: &str| text.is_empty() || text.ends_with('\n');
    match (is_ended(before), is_ended(after)) {
        (true, false) => facts.push("The last line no longer ends with a line break."),
        (false, true) => facts.push("The last line now ends with a line break."),
        _ => {}
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: Option<&str>, after: Option<&str>) -> FileDiff {
        FileDiff::between(before, after, &str::to_owned)
    }

    fn text(diff: &FileDiff) -> String {
        let row = |row: &DiffRow| match row {
            DiffRow::Gap { old, new } => format!("@{old},{new}"),
            DiffRow::Line(line) => format!("{}{}", line.sign.sign(), line.text),
        };
        diff.rows.iter().map(row).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn words_are_marked_and_unchanged_lines_are_left_out() {
        let before: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let after = before.replace("line 10\n", "row 10\n");
        let diff = between(Some(&before), Some(&after));
        assert_eq!((diff.added, diff.removed, diff.is_cut), (1, 1, false));
        assert_eq!(
            text(&diff),
            "@7,7| line 7| line 8| line 9|−<del>line</del> 10|+<ins>row</ins> 10| line 11| line 12| line 13"
        );
        let split = diff.split_rows();
        assert_eq!(split.len(), 8);
        assert!(split.iter().any(|(old, new)| matches!((old, new), (Some(old), Some(new)) if old.sign != new.sign)));
    }

    #[test]
    fn a_new_file_is_added_and_a_missing_one_removed() {
        let diff = between(None, Some("a\nb\n"));
        assert_eq!((text(&diff), diff.added, diff.facts.len()), ("+a|+b".to_owned(), 2, 0));
        assert_eq!(text(&between(Some("a"), None)), "−a");
        assert_eq!(between(None, None).rows, []);
    }

    #[test]
    fn what_no_line_shows_is_said() {
        let said = |before, after| between(Some(before), Some(after)).facts;
        assert_eq!(said("a\r\n", "a\n"), ["Line endings change from CRLF to LF."]);
        assert_eq!(said("\u{feff}a\n", "a\n"), ["The byte order mark is removed."]);
        assert_eq!(text(&between(Some("\u{feff}a\r\n"), Some("\u{feff}b\r\n"))), "−a|+b");
        assert_eq!(said("a\n", "a"), ["The last line no longer ends with a line break."]);
        assert_eq!(said("a\n", "b\n"), [""; 0]);
    }

    #[test]
    fn hostile_texts_are_shown_in_bounds() {
        let long = "<b>".repeat(400_000);
        let diff = between(Some("x"), Some(&long));
        let bytes: usize =
            diff.rows.iter().map(|row| if let DiffRow::Line(line) = row { line.text.len() } else { 0 }).sum();
        assert!(bytes < 20_000 && text(&diff).contains("&lt;b&gt;"), "{bytes}");
        let many: String = (0..50_000).map(|line| format!("{line}\n")).collect();
        let diff = between(Some(&many), Some(&many.replace('\n', "x\n")));
        assert!(diff.is_cut && diff.rows.len() <= MOST_ROWS * 2, "{}", diff.rows.len());
        assert_eq!((diff.added, diff.removed), (50_000, 50_000));
    }
}
