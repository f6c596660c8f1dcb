//! Tests of replacing, appending and prepending in sections.

use super::*;
use crate::edit::{
    heading::tests::find,
    variants::{check, refuse},
};

use BlankLines::{AsSent, Kept, Trimmed};
use SectionPart::{Own, Subtree};

#[test]
fn the_body_of_a_section_is_replaced() {
    for (before, part, content, blanks, after) in [
        ("# A\none\n# B\n", Own, "x", AsSent, "# A\nx\n# B\n"),
        ("# A\none\n\n# B\n", Own, "x", AsSent, "# A\nx\n# B\n"),
        ("# A\none\n\n# B\n", Own, "x", Kept, "# A\nx\n\n# B\n"),
        ("# A\none\n\n# B\n", Own, "x\n", Kept, "# A\nx\n\n# B\n"),
        ("# A\none\n\n# B\n", Own, "x\n\n", Kept, "# A\nx\n\n# B\n"),
        ("# A\none\n\n# B\n", Own, "", Kept, "# A\n\n# B\n"),
        ("# A\n\none\n\n# B\n", Own, "x", Kept, "# A\n\nx\n\n# B\n"),
        ("# A\n\none\n\n\n# B\n", Own, "\nx\n", Kept, "# A\n\nx\n\n\n# B\n"),
        ("# A\n\none\n# B\n", Own, "x\n\n", Kept, "# A\n\nx\n\n# B\n"),
        ("# A\none\n\n# B\n", Own, "\nx", Kept, "# A\n\nx\n\n# B\n"),
        ("# A\n\n# B\n", Own, "x", Kept, "# A\n\nx\n\n# B\n"),
        ("# A\n\none\n", Own, "# A\n\nx\n", Kept, "# A\n\nx\n"),
        ("# A\n\none\n## S\n\ntwo\n\n# B\n", Subtree, "x\n", Kept, "# A\n\nx\n\n# B\n"),
        ("# A\none\n\n# B\n", Own, "", AsSent, "# A\n# B\n"),
        ("# A\n\n\none\n# B\n", Own, "\nx\n", AsSent, "# A\n\nx\n# B\n"),
        ("# A\n## S\ns\n# B\n", Own, "x\n", AsSent, "# A\nx\n## S\ns\n# B\n"),
        ("# A\na\n## S\ns\n# B\n", Subtree, "x\n", AsSent, "# A\nx\n# B\n"),
        ("# A\none\n", Own, "x", AsSent, "# A\nx\n"),
        ("# A\none", Own, "x", AsSent, "# A\nx"),
        ("# A\none", Own, "x\n", AsSent, "# A\nx\n"),
        ("# A", Own, "x", AsSent, "# A\nx"),
        ("# A", Own, "", AsSent, "# A"),
        ("# A\n", Own, "x", AsSent, "# A\nx\n"),
        ("A\n===\none\n", Own, "x", AsSent, "A\n===\nx\n"),
        ("A\n===", Own, "x", AsSent, "A\n===\nx"),
        ("A\n---\none\n\nB\n===\n", Own, "x", AsSent, "A\n---\nx\n\nB\n===\n"),
        ("# A\none\n\nB\n===\n", Own, "> q", AsSent, "# A\n> q\n\nB\n===\n"),
    ] {
        check(before, after, |document| {
            document.replace_body(&SectionEdit { heading: &find(document.shown(), "A"), part, blanks }, content)
        });
    }
}

#[test]
fn text_is_added_at_the_end_of_a_section() {
    for (before, part, content, blanks, after) in [
        ("# A\n- one\n\n# B\n", Own, "- two", AsSent, "# A\n- one\n- two\n\n# B\n"),
        ("# A\n- one\n\n# B\n", Own, "- two\n", Kept, "# A\n- one\n- two\n\n# B\n"),
        ("# A\n- one\n\n# B\n", Own, "\n- two\n", Trimmed, "# A\n- one\n- two\n\n# B\n"),
        ("# A\n- one\n\n\n# B\n", Own, "- two", Trimmed, "# A\n- one\n- two\n\n# B\n"),
        ("# A\none  \n\n# B\n", Own, "two", Trimmed, "# A\none  \ntwo\n\n# B\n"),
        ("# A\none\n# B\n", Own, " two", Trimmed, "# A\none\n two\n# B\n"),
        ("# A\none\n\n\n", Own, "two", Trimmed, "# A\none\ntwo\n"),
        ("# A\n- one\n# B\n", Own, "- two", Kept, "# A\n- one\n- two\n# B\n"),
        ("# A\none\n## S\ns\n# B\n", Subtree, "x", Kept, "# A\none\n## S\ns\nx\n# B\n"),
        ("# A\none\n## S\ns\n# B\n", Own, "x", Kept, "# A\none\nx\n## S\ns\n# B\n"),
        ("# A\none\n\n\n", Own, "x\n", Kept, "# A\none\nx\n"),
        ("# A\none\n\n\n", Own, "x\n", AsSent, "# A\none\nx\n\n\n"),
        ("# A\none", Own, "x", AsSent, "# A\none\nx"),
        ("# A\none", Own, "x\n", Kept, "# A\none\nx\n"),
        ("# A\none\n", Own, "x", Kept, "# A\none\nx\n"),
        ("# A", Own, "x", Kept, "# A\nx"),
        ("# A", Own, "x", AsSent, "# A\nx"),
        ("# A", Own, "x", Trimmed, "# A\nx"),
        ("# A\n\n\n# B\n", Own, "x", AsSent, "# A\nx\n\n\n# B\n"),
        ("# A\n\n\n# B\n", Own, "x", Trimmed, "# A\nx\n\n# B\n"),
        ("A\n===\n# B\n", Own, "x", AsSent, "A\n===\nx\n# B\n"),
        ("# A\none\n", Own, "===\nx", AsSent, "# A\none\n\n===\nx\n"),
        ("# A\none\n", Own, "---\nx", AsSent, "# A\none\n\n---\nx\n"),
        ("# A\none\n\nB\n===\n", Own, "x", AsSent, "# A\none\nx\n\nB\n===\n"),
    ] {
        check(before, after, |document| {
            document.append_to_section(&SectionEdit { heading: &find(document.shown(), "A"), part, blanks }, content)
        });
    }
}

#[test]
fn text_is_added_right_below_a_heading() {
    for (before, content, blanks, after) in [
        ("# A\none\n", "x", Kept, "# A\nx\none\n"),
        ("# A\n\none\n", "x", Kept, "# A\n\nx\n\none\n"),
        ("# A\n\none\n", "x\n\n", Kept, "# A\n\nx\n\none\n"),
        ("# A\n\n\n## S\n", "x", Kept, "# A\n\n\nx\n\n## S\n"),
        ("# A\n\n# B\n", "x", Kept, "# A\n\nx\n\n# B\n"),
        ("# A\n\none\n", "x\n", Trimmed, "# A\nx\none\n"),
        ("# A\n\none\n", "x ", Trimmed, "# A\nx \none\n"),
        ("# A\n\n    one\n", "x\n\n", Trimmed, "# A\nx\n\n    one\n"),
        ("# A\n\n# B\n", "x", Trimmed, "# A\nx\n\n# B\n"),
        ("# A\n# B\n", "x", AsSent, "# A\nx\n# B\n"),
        ("# A", "x", AsSent, "# A\nx"),
        ("A\n===\none", "x", AsSent, "A\n===\nx\none"),
        ("# A\none\n", "", Kept, "# A\none\n"),
    ] {
        check(before, after, |document| {
            document
                .prepend_to_section(&SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks }, content)
        });
    }
}

#[test]
fn content_that_swallows_other_sections_is_refused() {
    for content in ["```\n", "<!--\n"] {
        refuse("# A\none\n# B\n", &EditError::HeadingsLost, |document| {
            document.replace_body(
                &SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: AsSent },
                content,
            )
        });
    }
}

fn appends(cases: &[(&str, BlankLines, &str, &str)]) {
    for (before, blanks, content, after) in cases {
        check(before, after, |document| {
            let section = SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: *blanks };
            document.append_to_section(&section, content)
        });
    }
}

#[test]
fn appended_text_leaves_the_id_at_the_end_alone() {
    appends(&[
        ("# A\np ^id\n\n# B\n", AsSent, "x", "# A\np ^id\n\nx\n\n# B\n"),
        ("# A\np ^id\n\n# B\n", Trimmed, "x", "# A\np ^id\n\nx\n\n# B\n"),
        ("# A\np\n\n^id\n\n# B\n", AsSent, "x", "# A\np\n\n^id\n\nx\n\n# B\n"),
        ("# A\np\n\n^id\n\n# B\n", Kept, "x", "# A\np\n\n^id\n\nx\n\n# B\n"),
        ("# A\np\n\n^id\n\n# B\n", Trimmed, "x", "# A\np\n\n^id\n\nx\n\n# B\n"),
        ("# A\n- p ^id\n", Trimmed, "x", "# A\n- p ^id\n\nx\n"),
        ("# A\n\n^id\n", Kept, "x", "# A\n\n^id\n\nx\n"),
        ("# A\n\n^id\n\n# B\n", Trimmed, "x", "# A\n\n^id\n\nx\n\n# B\n"),
    ]);
}

#[test]
fn the_last_block_does_not_absorb_appended_text() {
    appends(&[
        ("# A\n- one\n", AsSent, "x", "# A\n- one\n\nx\n"),
        ("# A\n- one\n", AsSent, "  x", "# A\n- one\n  x\n"),
        ("# A\n- one\n", AsSent, "> x", "# A\n- one\n> x\n"),
        ("# A\n> q\n# B\n", Kept, "x", "# A\n> q\n\nx\n# B\n"),
        ("# A\n> q\n", AsSent, "> x", "# A\n> q\n> x\n"),
        ("# A\n| h |\n| - |\n", AsSent, "x", "# A\n| h |\n| - |\n\nx\n"),
        ("# A\n| h |\n| - |\n", AsSent, "| x |", "# A\n| h |\n| - |\n| x |\n"),
        ("# A\n<div>\n", AsSent, "- x", "# A\n<div>\n\n- x\n"),
        ("# A\n```\nc\n```\n", Trimmed, "x", "# A\n```\nc\n```\nx\n"),
        ("# A\np\n", AsSent, "---\n", "# A\np\n\n---\n"),
        ("# A\np\n", AsSent, "| h |\n| - |", "# A\np\n\n| h |\n| - |\n"),
        ("# A\np\n", AsSent, "7. x", "# A\np\n\n7. x\n"),
        ("# A\np\n", AsSent, "- x", "# A\np\n- x\n"),
        ("# A\np\n", AsSent, "S\n===", "# A\np\n\nS\n===\n"),
    ]);
    for before in ["# A\n```\ncode\n", "# A\n%%\ncomment\n", "# A\n<!--\n"] {
        refuse(before, &EditError::Unclosed, |document| {
            let section = SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: AsSent };
            document.append_to_section(&section, "x")
        });
    }
}

#[test]
fn prepended_text_leaves_heading_and_text_apart() {
    for (before, blanks, content, after) in [
        ("# A\n\n^id\n\none\n", AsSent, "x", "# A\n\n^id\n\nx\n\none\n"),
        ("# A\n\n^id\n\none\n", Trimmed, "x\n", "# A\n\n^id\n\nx\none\n"),
        ("# A\n^id\n\none\n", Kept, "x", "# A\n^id\n\nx\n\none\n"),
        ("# A\n\n^id\n", AsSent, "x", "# A\n\n^id\n\nx\n"),
        ("# A\n- one\n", Trimmed, "x", "# A\nx\n- one\n"),
        ("# A\n| h |\n| - |\n", AsSent, "x", "# A\nx\n\n| h |\n| - |\n"),
        ("# A\none\n", AsSent, "- x", "# A\n- x\n\none\n"),
        ("# A\none\n", AsSent, "> x", "# A\n> x\n\none\n"),
        ("# A\n***\n", AsSent, "x", "# A\nx\n\n***\n"),
    ] {
        check(before, after, |document| {
            document
                .prepend_to_section(&SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks }, content)
        });
    }
    refuse("# A\none\n", &EditError::Unclosed, |document| {
        let section = SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: AsSent };
        document.prepend_to_section(&section, "```\n")
    });
}

#[test]
fn replaced_text_leaves_the_id_of_the_heading() {
    fn section(heading: &Heading) -> SectionEdit<'_> {
        SectionEdit { heading, part: Own, blanks: AsSent }
    }
    check("# A\n\n^id\n\none\n", "# A\n\n^id\n\nx\n", |document| {
        document.replace_body(&section(&find(document.shown(), "A")), "x")
    });
}

#[test]
fn appended_items_join_the_list_above() {
    let tight = "# A\n\n- one\n- two\n\n# B\n";
    for (before, content, after) in [
        (tight, "- three", "# A\n\n- one\n- two\n- three\n\n# B\n"),
        (tight, "\n- three\n\n", "# A\n\n- one\n- two\n- three\n\n# B\n"),
        (tight, "- [ ] three\n- [x] four\n", "# A\n\n- one\n- two\n- [ ] three\n- [x] four\n\n# B\n"),
        (tight, "* three\n* four", "# A\n\n- one\n- two\n- three\n- four\n\n# B\n"),
        (tight, "- three\n  - deep\n\nwords", "# A\n\n- one\n- two\n- three\n  - deep\n\nwords\n\n# B\n"),
        (tight, "  - deep", "# A\n\n- one\n- two\n  - deep\n\n# B\n"),
        (tight, "\t1. deep", "# A\n\n- one\n- two\n\t1. deep\n\n# B\n"),
        ("# A\n- one\n\n- two\n\n# B\n", "- three", "# A\n- one\n\n- two\n\n- three\n\n# B\n"),
        ("# A\n- one\n  - deep\n\n# B\n", "- two", "# A\n- one\n  - deep\n- two\n\n# B\n"),
        ("# A\n- one\n\n  more\n\n# B\n", "- two", "# A\n- one\n\n  more\n- two\n\n# B\n"),
        ("# A\n  - one\n\n# B\n", "- two\n  x", "# A\n  - one\n  - two\n    x\n\n# B\n"),
        ("# A\n- one ^id\n\n# B\n", "- two", "# A\n- one ^id\n- two\n\n# B\n"),
        ("# A\n- one\n\n^id\n\n# B\n", "- two", "# A\n- one\n\n^id\n\n- two\n\n# B\n"),
        ("# A\n1. one\n2. two\n\n# B\n", "1. three\n2. four", "# A\n1. one\n2. two\n3. three\n4. four\n\n# B\n"),
        ("# A\n1. one\n2. two\n\n# B\n", "3. three", "# A\n1. one\n2. two\n3. three\n\n# B\n"),
        ("# A\n1. one\n1. two\n\n# B\n", "1. three", "# A\n1. one\n1. two\n1. three\n\n# B\n"),
        ("# A\n8) one\n9) two\n", "1. x\n   - y\n2. z\n", "# A\n8) one\n9) two\n10) x\n    - y\n11) z\n"),
        ("# A\n- one\n\n# B\n", "1. x", "# A\n- one\n\n1. x\n\n# B\n"),
        ("# A\n- one\n\n# B\n", "---", "# A\n- one\n\n---\n\n# B\n"),
        ("# A\n- one\n\n# B\n", "words", "# A\n- one\n\nwords\n\n# B\n"),
        ("# A\nwords\n\n# B\n", "- one", "# A\nwords\n\n- one\n\n# B\n"),
        ("# A\n> - one\n\n# B\n", "- two", "# A\n> - one\n\n- two\n\n# B\n"),
        ("# A\n- one\n\n\n", "- two", "# A\n- one\n- two\n"),
        ("# A\n| h |\n| - |\n| 1 |\n\n# B\n", "| 2 |", "# A\n| h |\n| - |\n| 1 |\n| 2 |\n\n# B\n"),
        ("# A\n| h |\n| - |\n\n# B\n", "| i |\n| - |", "# A\n| h |\n| - |\n\n| i |\n| - |\n\n# B\n"),
    ] {
        check(before, after, |document| {
            let section = SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: Kept };
            document.append_to_section(&section, content)
        });
    }
}

#[test]
fn prepended_items_join_the_list_below() {
    for (before, content, after) in [
        ("# A\n- one\n", "- x", "# A\n- x\n- one\n"),
        ("# A\n\n- one\n\n# B\n", "- x\n", "# A\n\n- x\n- one\n\n# B\n"),
        ("# A\n\n- [ ] one\n- [ ] two\n", "* [ ] x", "# A\n\n- [ ] x\n- [ ] one\n- [ ] two\n"),
        ("# A\n\n- one\n\n- two\n", "- x", "# A\n\n- x\n\n- one\n\n- two\n"),
        ("# A\n\n1. one\n2. two\n", "1. x", "# A\n\n1. x\n1. one\n2. two\n"),
        ("# A\n\n- one\n", "words", "# A\n\nwords\n\n- one\n"),
        ("# A\n\n- one\n", "- x\n\nwords", "# A\n\n- x\n\nwords\n\n- one\n"),
        ("# A\n\nwords\n\n- one\n", "- x", "# A\n\n- x\n\nwords\n\n- one\n"),
    ] {
        check(before, after, |document| {
            let section = SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: Kept };
            document.prepend_to_section(&section, content)
        });
    }
}

#[test]
fn adding_nothing_changes_nothing() {
    for edit in [Document::append_to_section, Document::prepend_to_section] {
        check("# A\none\n\n# B\n", "# A\none\n\n# B\n", |document| {
            edit(document, &SectionEdit { heading: &find(document.shown(), "A"), part: Own, blanks: Kept }, "")
        });
    }
}
