use super::*;
use crate::edit::{
    heading::tests::find,
    variants::{check, refuse},
};

use Blanks::{AsSent, Kept, Trimmed};
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
        check(before, after, |file, text| replace_body(file, text, &find(text.shown(), "A"), part, content, blanks));
    }
}

#[test]
fn a_whole_section_is_replaced_or_deleted() {
    for (before, part, content, blanks, after) in [
        ("x\n# A\none\n# B\n", Subtree, "# C\nc", AsSent, "x\n# C\nc\n# B\n"),
        ("x\n# A\none\n\n# B\n", Subtree, "# C\nc", Kept, "x\n# C\nc\n\n# B\n"),
        ("x\n# A\none\n## S\n# B\n", Own, "# C", AsSent, "x\n# C\n## S\n# B\n"),
        ("x\n# A\none\n## S\n# B\n", Subtree, "", AsSent, "x\n# B\n"),
        ("x\n# A\none\n\n# B\n", Subtree, "", Kept, "x\n# B\n"),
        ("# A\none", Subtree, "text", AsSent, "text"),
        ("A\n===\none\n", Subtree, "", AsSent, ""),
    ] {
        check(before, after, |file, text| replace_section(file, text, &find(text.shown(), "A"), part, content, blanks));
    }
}

#[test]
fn text_is_added_at_the_end_of_a_section() {
    for (before, part, content, blanks, after) in [
        ("# A\n- one\n\n# B\n", Own, "- two", AsSent, "# A\n- one\n- two\n\n# B\n"),
        ("# A\n- one\n\n# B\n", Own, "- two\n", Kept, "# A\n- one\n\n- two\n\n# B\n"),
        ("# A\n- one\n\n# B\n", Own, "\n- two\n", Trimmed, "# A\n- one\n- two\n# B\n"),
        ("# A\n- one\n\n# B\n", Own, ", too", Trimmed, "# A\n- one, too\n# B\n"),
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
        ("# A\n\n\n# B\n", Own, "x", Trimmed, "# A\nx\n# B\n"),
        ("A\n===\n# B\n", Own, "x", AsSent, "A\n===\nx\n# B\n"),
        ("# A\none\n\nB\n===\n", Own, "x", AsSent, "# A\none\nx\n\nB\n===\n"),
    ] {
        check(before, after, |file, text| {
            append_to_section(file, text, &find(text.shown(), "A"), part, content, blanks)
        });
    }
}

#[test]
fn text_is_added_right_below_a_heading() {
    for (before, content, blanks, after) in [
        ("# A\none\n", "x", Kept, "# A\nx\none\n"),
        ("# A\n\none\n", "x", Kept, "# A\nx\n\none\n"),
        ("# A\n\none\n", "x\n", Trimmed, "# A\nx\none\n"),
        ("# A\n\none\n", "x ", Trimmed, "# A\nx one\n"),
        ("# A\n\n# B\n", "x", Trimmed, "# A\nx\n\n# B\n"),
        ("# A\n# B\n", "x", AsSent, "# A\nx\n# B\n"),
        ("# A", "x", AsSent, "# A\nx"),
        ("A\n===\none", "x", AsSent, "A\n===\nx\none"),
    ] {
        check(before, after, |file, text| {
            prepend_to_section(file, text, &find(text.shown(), "A"), Own, content, blanks)
        });
    }
}

#[test]
fn content_that_swallows_other_sections_is_refused() {
    for content in ["```\n", "<!--\n"] {
        refuse("# A\none\n# B\n", &EditError::HeadingsLost, |file, text| {
            replace_body(file, text, &find(text.shown(), "A"), Own, content, AsSent)
        });
    }
}
