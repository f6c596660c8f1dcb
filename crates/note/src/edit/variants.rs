//! One case in every form of file: LF, CRLF, lone CR and all of them mixed, with and without a byte order mark, with
//! and without a final newline.

use super::{EditError, EditResult};
use crate::Document;

/// Runs an edit on all forms of `before` and expects the same form of `after`.
pub(crate) fn check(before: &str, after: &str, edit: impl Fn(&Document) -> Result<EditResult, EditError>) {
    let run = |file: &str| {
        let edited = edit(&Document::open(file.to_owned()).unwrap())?;
        let new = edited.document.raw().to_owned();
        let shown = edited.document.shown().to_owned();
        assert!(shown.get(edited.span.clone()).is_some(), "{file:?} {:?}", edited.span);
        let reopened = Document::open(new.clone()).unwrap();
        assert_eq!((reopened.shown(), reopened.eol()), (&*shown, edited.document.eol()), "{file:?}");
        assert_eq!(reopened.note(), edited.document.note(), "the kept parse matches a new one");
        Ok((new, shown))
    };
    for eol in ["\n", "\r\n", "\r"] {
        // A text without any line ending has none to go by.
        if eol != "\n" && !before.contains('\n') {
            continue;
        }
        for bom in ["", "\u{feff}"] {
            let form = |text: &str| format!("{bom}{}", text.replace('\n', eol));
            let file = form(before);
            let (new, _) = run(&file).unwrap_or_else(|error: EditError| panic!("{file:?}: {error}"));
            assert_eq!(new, form(after), "{file:?}");
            // Without its final newline a file stays without, or gets one if the edit is at the end.
            let (Some(open), Some(open_after)) = (before.strip_suffix('\n'), after.strip_suffix('\n')) else {
                continue;
            };
            match run(&form(open)) {
                Ok((new, _)) if open.contains('\n') => {
                    assert!([form(after), form(open_after)].contains(&new), "{new:?}")
                }
                Ok(_) | Err(EditError::OutsideText { .. } | EditError::OutsideLines { .. }) => {}
                Err(error) => panic!("{open:?}: {error}"),
            }
        }
    }
    let mut ends = ["\n", "\r\n", "\r\n"].into_iter().cycle();
    let mixed: String = before.split_inclusive('\n').map(|line| line.replace('\n', ends.next().unwrap())).collect();
    assert_eq!(run(&mixed).map(|(_, shown)| shown).as_deref(), Ok(after), "{mixed:?}");
}

/// Runs an edit on all forms of `before` and expects it to be refused in the same way.
pub(crate) fn refuse(before: &str, error: &EditError, edit: impl Fn(&Document) -> Result<EditResult, EditError>) {
    for eol in ["\n", "\r\n"] {
        let file = before.replace('\n', eol);
        assert_eq!(edit(&Document::open(file.clone()).unwrap()).as_ref(), Err(error), "{file:?}");
    }
}
