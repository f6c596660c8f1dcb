//! Tests of creating missing headings and blocks.

use super::*;
use crate::edit::variants::{check, refuse};

#[test]
fn a_missing_heading_is_made_where_its_path_says() {
    for (before, path, content, after) in [
        ("", "A", "x", "# A\nx\n"),
        ("text\n", "A", "x\n", "text\n\n# A\nx\n"),
        ("# A\na\n", "B", "x", "# A\na\n\n# B\nx\n"),
        ("# A\na\n", "B", "", "# A\na\n\n# B\n"),
        ("# A\na\n\n", "B", "x", "# A\na\n\n# B\nx\n"),
        ("## A\na\n", "B", "x", "## A\na\n\n## B\nx\n"),
        ("# A\na\n# C\nc\n", "A::B", "x", "# A\na\n\n## B\nx\n\n# C\nc\n"),
        ("# A\n## S\ns\n\n# C\n", "A::B", "x", "# A\n## S\ns\n\n## B\nx\n\n# C\n"),
        ("## A\n### S\n## C\n", "A::B::D", "x", "## A\n### S\n\n### B\n#### D\nx\n\n## C\n"),
        ("# T\n## A\na\n## C\n", "A::B", "x", "# T\n## A\na\n\n### B\nx\n\n## C\n"),
        ("# A\n", "X::Y", "x", "# A\n\n# X\n## Y\nx\n"),
        ("---\nk: 1\n---\n", "A", "x", "---\nk: 1\n---\n# A\nx\n"),
        ("# A\n", "A:: B ", "x", "# A\n\n## B\nx\n"),
        ("# A\na\n", "### B", "x", "# A\na\n\n### B\nx\n"),
        ("# A\n\nB\n===\n", "A::C", "x", "# A\n\n## C\nx\n\nB\n===\n"),
        ("# A\np ^id\n", "B", "## C\nx", "# A\np ^id\n\n# B\n## C\nx\n"),
    ] {
        check(before, after, |document| document.append_heading(path, content));
    }
}

#[test]
fn a_heading_that_cannot_be_made_is_refused() {
    let lost = |text: &str| EditError::HeadingLost { text: text.to_owned() };
    for (before, path, content, error) in [
        ("# A\n## B\n", "A::B", "x", EditError::HeadingTaken { path: "A::B".into() }),
        ("# A\n## B\n", "B", "x", EditError::HeadingTaken { path: "B".into() }),
        ("# A\n# A\n", "A::B", "x", EditError::AmbiguousHeading { path: "A".into() }),
        ("###### A\n", "A::B", "x", EditError::TooDeep { path: "A::B".into() }),
        ("# A\n", "A::", "x", lost("")),
        ("# A\n", "B\nC", "x", lost("B\nC")),
        ("# A\n", "B #", "x", lost("B #")),
        ("# A :\n", "A :::B", "x", lost(":B")),
        ("```\ncode\n", "B", "x", EditError::Unclosed),
        ("# A\n%%\nopen\n", "B", "x", EditError::Unclosed),
        ("# T\n## A\n## C\n", "A::B", "# D", lost("B")),
        ("# T\n## A\n## C\n", "A::B", "```\n", EditError::HeadingsLost),
    ] {
        refuse(before, &error, |document| document.append_heading(path, content));
    }
}

#[test]
fn a_missing_block_is_made_at_the_end() {
    for (before, content, after) in [
        ("", "x", "x ^new\n"),
        ("text\n", "x\ny\n", "text\n\nx\ny ^new\n"),
        ("text\n\n", "x", "text\n\nx ^new\n"),
        ("p ^id\n", "- x", "p ^id\n\n- x ^new\n"),
        ("- a\n", "x", "- a\n\nx ^new\n"),
        ("a\n", "- x\n- y", "a\n\n- x\n- y\n\n^new\n"),
        ("a\n", "| h |\n| - |\n| 1 |", "a\n\n| h |\n| - |\n| 1 |\n\n^new\n"),
        ("a\n", "```\ncode\n```", "a\n\n```\ncode\n```\n\n^new\n"),
        ("---\nk: 1\n---\n", "x", "---\nk: 1\n---\nx ^new\n"),
    ] {
        check(before, after, |document| document.append_block("new", content));
    }
    let lost = EditError::BlockLost { id: "new".to_owned() };
    // Two lists would become one, regardless of the text between them.
    for (before, content) in
        [("- a\n", "- x\n- y"), ("a\n", ""), ("a\n", "x\n\ny"), ("```\ncode\n", "x"), ("a\n", "```\nx")]
    {
        refuse(before, &lost, |document| document.append_block("new", content));
    }
    refuse("a ^NEW\n", &EditError::BlockIdTaken { id: "new".to_owned() }, |document| document.append_block("new", "x"));
    refuse("a\n", &EditError::BadBlockId { id: "a b".to_owned() }, |document| document.append_block("a b", "x"));
}
