//! Tests of patches, and laws for random ones.

use proptest::prelude::*;

use super::*;
use crate::{Document, edit::variants};

fn patched(file: &str, patch: &str) -> Result<String, PatchFailure> {
    let edited = Document::open(file.to_owned()).unwrap().apply_patch(&Patch::parse(patch)?)?;
    Ok(edited.document.raw().to_owned())
}

#[test]
fn a_patch_changes_what_it_says_and_nothing_else() {
    for (before, patch, after) in [
        ("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "--- a/n.md\n+++ b/n.md\n@@ -2 +2 @@ heading\n-b\n+B", "a\nB\nc\n"),
        ("a\nb\nc\n", "@@ -1,0 +2,2 @@\n+x\n+y\n", "a\nx\ny\nb\nc\n"),
        ("a\nb\nc\n", "@@ -0,0 +1 @@\n+x\n", "x\na\nb\nc\n"),
        ("a\nb\nc\n", "@@ -3,0 +4 @@\n+x\n", "a\nb\nc\nx\n"),
        ("a\nb\nc\n", "@@ -2 +1,0 @@\n-b\n", "a\nc\n"),
        ("a\n\nc\n", "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "a\n\nC\n"),
        ("a\n\nc\n", "@@ -1,2 +1,2 @@\n-a\n+A\n\n", "A\n\nc\n"),
        ("a\nb\nc\nd\ne\n", "@@ -1 +1 @@\n-a\n+A\n@@ -4,2 +4,3 @@\n d\n+x\n e\n", "A\nb\nc\nd\nx\ne\n"),
        ("-- x\n++ y\n", "@@ -1,2 +1,2 @@\n--- x\n-++ y\n++++ y\n+-- x\n", "+++ y\n-- x\n"),
        ("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n", ""),
    ] {
        let parsed = Patch::parse(patch).unwrap_or_else(|error| panic!("{patch}: {error}"));
        variants::check(before, after, |document| {
            document.apply_patch(&parsed).map_err(|failure| match failure {
                PatchFailure::Edit(error) => error,
                // Some forms of the file end differently than the patch says.
                _ => crate::EditError::OutsideLines { line: 0, lines: 0 },
            })
        });
    }
    assert_eq!(patched("", "@@ -0,0 +1,2 @@\n+a\n+b\n").unwrap(), "a\nb\n");
    assert_eq!(patched("a\r\nb\r\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n").unwrap(), "a\r\nc\r\n");
    assert_eq!(patched("a\r\nb\nc\r\n", "@@ -1,3 +1,4 @@\n a\n+x\n b\n c\n").unwrap(), "a\r\nx\r\nb\nc\r\n");
}

#[test]
fn the_end_of_the_last_line_changes_only_if_the_patch_says_so() {
    const NO: &str = "\\ No newline at end of file\n";
    for (before, patch, after) in [
        ("a\nb", "@@ -2 +2 @@\n-b\n+B\n".to_owned(), "a\nB"),
        ("a\nb", format!("@@ -2 +2 @@\n-b\n{NO}+B\n{NO}"), "a\nB"),
        ("a\nb", format!("@@ -2 +2 @@\n-b\n{NO}+b\n"), "a\nb\n"),
        ("a\nb\n", format!("@@ -2 +2 @@\n-b\n+b\n{NO}"), "a\nb"),
        ("a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{NO}"), "A\nb"),
        ("a\nb", format!("@@ -2 +2,2 @@\n-b\n{NO}+b\n+c\n{NO}"), "a\nb\nc"),
        ("a\nb", "@@ -2 +2,2 @@\n b\n+c\n".to_owned(), "a\nb\nc"),
        ("a\nb", "@@ -2,0 +3 @@\n+c\n".to_owned(), "a\nb\nc"),
        ("a\nb", format!("@@ -2 +1,0 @@\n-b\n{NO}"), "a\n"),
        ("", format!("@@ -0,0 +1 @@\n+a\n{NO}"), "a"),
        ("a", format!("@@ -1 +0,0 @@\n-a\n{NO}"), ""),
    ] {
        assert_eq!(patched(before, &patch).as_deref(), Ok(after), "{before:?} {patch}");
    }
}

#[test]
fn an_invalid_patch_is_refused_with_its_place() {
    let range = |old_start, old_lines, new_start, new_lines| HunkRange { old_start, old_lines, new_start, new_lines };
    let counts = |stated, actual| PatchError::Counts { hunk: 0, line: 1, stated, actual };
    for (patch, error) in [
        ("", PatchError::NoHunk),
        ("--- a\n+++ b\n", PatchError::NoHunk),
        ("@@ nonsense\n", PatchError::Header { hunk: 0, line: 1 }),
        ("@@ -1 +1\n-a\n", PatchError::Header { hunk: 0, line: 1 }),
        ("@@ -+1 +1 @@\n", PatchError::Header { hunk: 0, line: 1 }),
        ("@@ -0,1 +1 @@\n-a\n+b\n", PatchError::Header { hunk: 0, line: 1 }),
        ("@@ -1 +1 @@\n*a\n", PatchError::Line { hunk: 0, line: 2 }),
        ("@@ -1 +1 @@\n-a\n+b\n```\n", PatchError::Line { hunk: 0, line: 4 }),
        ("@@ -1,3 +1,3 @@\n a\n-b\n+c\n", counts(range(1, 3, 1, 3), range(1, 2, 1, 2))),
        ("@@ -1 +1 @@\n-a\n-b\n+c\n", counts(range(1, 1, 1, 1), range(1, 2, 1, 1))),
        ("@@ -1 +1 @@\n-a\n+b\n c\n", counts(range(1, 1, 1, 1), range(1, 2, 1, 2))),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n@@ -5 +5 @@\n-x\n", counts(range(1, 2, 1, 2), range(1, 1, 1, 1))),
        ("@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -1 +1 @@\n-a\n+b\n", PatchError::SeveralFiles { line: 4 }),
        ("@@ -1 +1 @@\n-a\n+b\ndiff --git a/x b/x\n", PatchError::SeveralFiles { line: 4 }),
        ("@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+c\n+d\n", PatchError::UnendedLine { hunk: 0 }),
        ("@@ -1 +1 @@\n\\ No newline\n-a\n+b\n", PatchError::UnendedLine { hunk: 0 }),
        ("@@ -2 +2 @@\n-b\n+c\n@@ -1 +1 @@\n-a\n+b\n", PatchError::Order { hunk: 1 }),
    ] {
        assert_eq!(patched("a\nb", patch), Err(error.into()), "{patch}");
    }
}

#[test]
fn a_file_that_does_not_match_the_patch_is_not_touched() {
    for (file, patch, said, actual, found_at) in [
        ("x\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "context mismatch in hunk 0 at line 1", Some("x"), None),
        ("a\nx\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "delete mismatch in hunk 0 at line 2", Some("x"), None),
        ("y\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "context mismatch in hunk 0 at line 1", Some("y"), Some(2)),
        ("a\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "delete mismatch in hunk 0 at line 2", None, None),
        ("a\n", "@@ -5,0 +6 @@\n+x\n", "context mismatch in hunk 0 at line 6", None, None),
        ("", "@@ -1 +1 @@\n-a\n+b\n", "delete mismatch in hunk 0 at line 1", None, None),
        (
            "a\n",
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
            "delete mismatch in hunk 0 at line 1",
            Some("a"),
            // Its lines are where it says; the problem is that it does not end the file.
            None,
        ),
        (
            "a\nb\nc\n",
            "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-b\n+B\n",
            "delete mismatch in hunk 1 at line 3",
            Some("c"),
            Some(2),
        ),
    ] {
        match patched(file, patch) {
            Err(PatchFailure::Mismatch(mismatch)) => {
                assert_eq!(mismatch.to_string(), said);
                assert_eq!((mismatch.actual.as_deref(), mismatch.found_at), (actual, found_at), "{patch}");
            }
            outcome => panic!("{patch}: {outcome:?}"),
        }
    }
}

/// A text that becomes another, described line by line.
#[derive(Clone, Debug)]
struct Story {
    lines: Vec<(DiffMark, String)>,
    context: usize,
}

impl Story {
    fn side(&self, side: fn(DiffMark) -> bool, eol: &str) -> String {
        self.lines.iter().filter(|(mark, _)| side(*mark)).map(|(_, text)| format!("{text}{eol}")).collect()
    }

    /// The same description in reverse.
    fn reversed(&self) -> Self {
        let turned = |mark| match mark {
            DiffMark::Kept => DiffMark::Kept,
            DiffMark::Removed => DiffMark::Added,
            DiffMark::Added => DiffMark::Removed,
        };
        Self { lines: self.lines.iter().map(|(mark, text)| (turned(*mark), text.clone())).collect(), ..self.clone() }
    }

    /// As `diff -U<context>` would write it.
    fn diff(&self) -> String {
        let near = |at: usize| {
            let from = at.saturating_sub(self.context);
            let to = (at + self.context + 1).min(self.lines.len());
            self.lines[from..to].iter().any(|(mark, _)| *mark != DiffMark::Kept)
        };
        let (mut diff, mut old, mut new, mut at) = (String::new(), 0, 0, 0);
        while at < self.lines.len() {
            if !near(at) {
                (old, new, at) = (old + 1, new + 1, at + 1);
                continue;
            }
            let end = (at..self.lines.len()).find(|at| !near(*at)).unwrap_or(self.lines.len());
            let hunk = &self.lines[at..end];
            let count = |side: fn(DiffMark) -> bool| hunk.iter().filter(|(mark, _)| side(*mark)).count();
            let (olds, news) = (count(DiffMark::is_old), count(DiffMark::is_new));
            let start = |before: usize, lines: usize| if lines == 0 { before } else { before + 1 };
            diff += &format!("@@ -{},{olds} +{},{news} @@\n", start(old, olds), start(new, news));
            for (mark, text) in hunk {
                let sign = [" ", "-", "+"][*mark as usize];
                diff += &format!("{sign}{text}\n");
            }
            (old, new, at) = (old + olds, new + news, end);
        }
        diff
    }
}

fn story() -> impl Strategy<Value = Story> {
    let mark = prop_oneof![3 => Just(DiffMark::Kept), 1 => Just(DiffMark::Removed), 1 => Just(DiffMark::Added)];
    let lines = prop::collection::vec((mark, "[-+@ a\\\\#é]{0,3}"), 0..20);
    (lines, 0..4_usize).prop_map(|(lines, context)| Story { lines, context })
}

proptest! {
    #[test]
    fn a_diff_leads_from_one_text_to_the_other_and_back(story in story(), eol in prop_oneof![Just("\n"), Just("\r\n")]) {
        for story in [story.clone(), story.reversed()] {
            let (old, new) = (story.side(DiffMark::is_old, eol), story.side(DiffMark::is_new, eol));
            // An empty file has no line endings to go by.
            if story.diff().is_empty() || old.is_empty() && eol != "\n" {
                continue;
            }
            prop_assert_eq!(patched(&old, &story.diff()), Ok(new));
        }
    }

    #[test]
    fn a_wrong_count_is_always_noticed(story in story(), which in 0..2_usize) {
        let diff = story.diff();
        let Some(header) = diff.lines().next() else { return Ok(()) };
        let mut range = super::read::range(header).unwrap();
        if which == 0 { range.old_lines += 1 } else { range.new_lines += 1 }
        let wrong = diff.replacen(header, &range.to_string(), 1);
        prop_assert!(patched(&story.side(DiffMark::is_old, "\n"), &wrong).is_err());
    }
}
