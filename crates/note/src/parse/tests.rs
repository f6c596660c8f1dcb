//! Tests of the structure of notes, as Obsidian sees it.

use crate::{
    BlockKind, CalloutFold, CodeKind, FieldForm, FootnoteKind, HeadingMatch, LinkKind, MarkForm, Note, NoteStructure,
    note::parse_count,
};

fn paths(text: &str) -> Vec<String> {
    let note = Note::parse(text);
    note.headings.iter().map(|heading| note.heading_path(heading).join("::")).collect()
}

fn tags(text: &str) -> Vec<&str> {
    NoteStructure::parse(text).tags.into_iter().map(|tag| &text[tag.name()]).collect()
}

#[test]
fn only_real_headings_count() {
    for (text, expected) in [
        ("# A\n## B ##\n# C\n", vec!["A", "A::B", "C"]),
        ("A\n===\nB\n---\n", vec!["A", "A::B"]),
        ("```\n# no\n```\n# yes\n", vec!["yes"]),
        ("~~~\n# no\n~~~\n<!--\n# no\n-->\n    # no\n# yes\n", vec!["yes"]),
        ("> # no\n\n- # no\n\n[^1]: # no\n\n# yes\n", vec!["yes"]),
        ("> [!note]\n> # no\n\n# yes\n", vec!["yes"]),
        ("---\nx: '# no'\n---\n# yes\n", vec!["yes"]),
        ("#no\n####### no\n#\n", vec![""]),
        ("# **Bold** `c` [[x|y]] ^id\n", vec!["**Bold** `c` [[x|y]] ^id"]),
        ("### Deep\n# Top\n## Two\n#### Four\n", vec!["Deep", "Top", "Top::Two", "Top::Two::Four"]),
        ("%%\n# no\n%%\n# yes\n", vec!["yes"]),
        ("%%\n# no\n\n```\n%%\n# yes\n", vec!["yes"]),
        ("%% # no %%\n# yes %%# x%%\n", vec!["yes %%# x%%"]),
        ("$$\n# no\n\n# no\n$$\n# yes\n", vec!["yes"]),
        ("<div>\n# no\n\n# yes\n</div>\n", vec!["yes"]),
        ("a\nb\n---\n# yes\n", vec!["yes"]),
        ("a\nb\n===\n# yes\n", vec!["yes"]),
        ("H\n  --\n# yes\n", vec!["yes"]),
        ("  H\n---\n# yes\n", vec!["H", "yes"]),
        ("H\n--- \n", vec![]),
        ("H\n-\n", vec!["H"]),
        ("text\n# A\nmore\n", vec!["A"]),
        ("H\n ===\nG\n===\t\n# yes\n", vec!["yes"]),
        ("<!-- c -->\n---\n\n<!-- c --> x\n===\n\n<div>\n===\n\n<b>x</b>\n===\n", vec!["<b>x</b>"]),
        ("<div>\n \t \n# yes\n\n<!-- c -->\n  \n# too\n", vec!["yes", "too"]),
        ("# A\rB\n\r# no\n", vec!["A\rB"]),
        ("<!-- c -->\n --- \n\n<div>\n<b>\n---\n\na\n<b>\n---\n", vec![]),
        ("   # A\n\n\t# no\n#\ttab\n#\u{a0}no\n", vec!["A", "tab"]),
        ("# a#\n# b \\#\n# c # \n## ##\n", vec!["a#", "b \\#", "c", "c::"]),
        ("# last", vec!["last"]),
    ] {
        assert_eq!(paths(text), expected, "{text:?}");
    }
}

#[test]
fn a_section_runs_to_the_next_heading_of_its_level() {
    let text = "---\na: 1\n---\nintro\n# A\none\n## B\ntwo\n  # C #\nthree";
    let note = Note::parse(text);
    let parts = |pick: fn(&crate::Heading) -> std::ops::Range<usize>| -> Vec<&str> {
        note.headings.iter().map(|heading| &text[pick(heading)]).collect()
    };
    assert_eq!(parts(|heading| heading.section.clone()), ["# A\none\n## B\ntwo\n", "## B\ntwo\n", "  # C #\nthree"]);
    assert_eq!(parts(|heading| heading.own.clone()), ["# A\none\n", "## B\ntwo\n", "  # C #\nthree"]);
    assert_eq!(parts(|heading| heading.span.clone()), ["# A", "## B", "# C #"]);
    assert_eq!(parts(|heading| heading.words.clone()), ["A", "B", "C"]);
    assert_eq!(parts(|heading| heading.body..heading.own.end), ["one\n", "two\n", "three"]);
    assert_eq!(note.headings.iter().map(|heading| heading.line).collect::<Vec<_>>(), [5, 7, 9]);
}

#[test]
fn an_underlined_heading_holds_its_underline() {
    let text = "a\n\nTop\n===\nbody\n";
    let note = Note::parse(text);
    let heading = &note.headings[0];
    assert_eq!((&text[heading.span.clone()], &text[heading.body..]), ("Top\n===", "body\n"));
    assert_eq!((note.heading_at_line(3), note.heading_at_line(4)), (Some(heading), Some(heading)));
    assert_eq!((note.heading_at_line(2), note.heading_at_line(5), note.heading_at_line(0)), (None, None, None));
}

#[test]
fn a_name_finds_the_whole_path_first_then_an_ending() {
    let note = Note::parse("# A\n## Log\n# B\n## Log\n# Log\n# A::B\n");
    for (given, found) in [
        ("Log", "Log"),
        ("A::Log", "A::Log"),
        ("A", "A"),
        ("A::B", "A::B"),
        ("log", "none"),
        ("og", "none"),
        ("", "none"),
    ] {
        let name = match note.find_heading(given) {
            HeadingMatch::None => "none".to_owned(),
            HeadingMatch::One(heading) => note.heading_path(heading).join("::"),
            HeadingMatch::Several(several) => several.len().to_string(),
        };
        assert_eq!(name, found, "{given}");
    }
    let twice = Note::parse("# A\n## Log\n## Log\n");
    assert!(matches!(twice.find_heading("A::Log"), HeadingMatch::Several(several) if several.len() == 2));
}

#[test]
fn the_heading_of_a_link_is_found_loosely_and_below_its_parents() {
    let note = Note::parse("# A\n## Log: x\n# B\n### Log, X\n## **Deep**\n");
    for (parts, line) in [
        (vec!["log x"], Some(2)),
        (vec!["A", "log x"], Some(2)),
        (vec!["b", "Log X"], Some(4)),
        (vec!["A", "Deep"], None),
        (vec!["deep"], Some(5)),
        (vec!["no"], None),
        (vec![], None),
    ] {
        assert_eq!(
            note.headings_of_link(&parts).map(|over| note.headings[over[over.len() - 1]].line),
            line,
            "{parts:?}"
        );
    }
}

#[test]
fn an_id_names_the_same_block_as_in_obsidian() {
    use BlockKind::{
        Callout, Code, Comment, Footnote, Heading, Html, Item, List, Math, Paragraph, Quote, Row, Rule, Table,
    };
    for (text, expected) in [
        ("text ^a\n", vec![("a", Paragraph, "text ^a")]),
        ("text ^a", vec![("a", Paragraph, "text ^a")]),
        ("text ^a \n", vec![]),
        ("l1 ^a\nl2\n", vec![]),
        ("l1\nl2 ^a\n", vec![("a", Paragraph, "l1\nl2 ^a")]),
        ("l1\n^a\n", vec![("a", Paragraph, "l1\n^a")]),
        ("p\n\n^a\n\nq\n", vec![("a", Paragraph, "p")]),
        ("p\n\n^a\nmore\n", vec![]),
        ("p\n\n^a\n# H\n", vec![]),
        ("- x ^a\n- y ^b\n", vec![("a", Item, "- x ^a"), ("b", Item, "- y ^b")]),
        ("- x ^a\n  - n ^b\n- y\n", vec![("a", Item, "- x ^a"), ("b", Item, "- n ^b")]),
        ("- x\n  ^a\n", vec![("a", Item, "- x\n  ^a")]),
        ("- x\n- y\n^a\n", vec![("a", Item, "- y\n^a")]),
        ("- x\n- y\n\n^a\n", vec![("a", List, "- x\n- y")]),
        ("- x ^a\n\n- y ^b\n\ntext\n", vec![("a", Item, "- x ^a"), ("b", Item, "- y ^b")]),
        ("- x\n\n  more ^a\n  - n\n", vec![("a", Item, "- x\n\n  more ^a")]),
        ("1. x ^a\n   1) y ^b\n", vec![("a", Item, "1. x ^a"), ("b", Item, "1) y ^b")]),
        ("- [ ] t ^a\n", vec![("a", Item, "- [ ] t ^a")]),
        ("- # H ^a\n", vec![("a", Item, "- # H ^a")]),
        ("> q ^a\n", vec![("a", Quote, "> q ^a")]),
        ("> q\n^a\n", vec![("a", Quote, "> q\n^a")]),
        ("> q\n>^a\n", vec![("a", Quote, "> q\n>^a")]),
        ("> q\n\n^a\n", vec![("a", Quote, "> q")]),
        ("> [!note] T\n> q\n\n^a\n", vec![("a", Callout, "> [!note] T\n> q")]),
        ("> [!note] T\n> q ^a\n", vec![("a", Callout, "> [!note] T\n> q ^a")]),
        ("> q ^a\n>\n> r\n", vec![("a", Quote, "> q ^a\n>\n> r")]),
        ("> - x ^a\n> - y\n", vec![("a", Item, "- x ^a")]),
        ("| a |\n| - |\n| 1 |\n\n^t\n", vec![("t", Table, "| a |\n| - |\n| 1 |")]),
        ("| a |\n| - |\n| 1 |\n^t\n", vec![("t", Table, "| a |\n| - |\n| 1 |")]),
        (
            "| a | b |\n| - | - |\n| 1 | 2 ^r |\n| 3 | 4 | ^s\n",
            vec![("r", Row, "| 1 | 2 ^r |"), ("s", Row, "| 3 | 4 | ^s")],
        ),
        ("> | a |\n> | - |\n> ^t\n", vec![("t", Quote, "> | a |\n> | - |\n> ^t")]),
        ("```\ncode ^no\n```\n\n^c\n", vec![("c", Code, "```\ncode ^no\n```")]),
        ("```\ncode\n```\n^c\n", vec![("c", Code, "```\ncode\n```")]),
        ("$$\nx ^no\n\ny\n$$\n^m\n", vec![("m", Math, "$$\nx ^no\n\ny\n$$")]),
        ("%%\nx ^no\n%%\n\n^m\n", vec![("m", Comment, "%%\nx ^no\n%%")]),
        ("<div>\nx ^no\n</div>\n\n^h\n", vec![("h", Html, "<div>\nx ^no\n</div>")]),
        ("x\n\n***\n\n^h\n", vec![("h", Rule, "***")]),
        ("# H ^a\n", vec![("a", Heading, "# H ^a")]),
        ("# H ^a ##\n", vec![("a", Heading, "# H ^a ##")]),
        ("# H\n^a\n\n", vec![("a", Heading, "# H")]),
        ("T ^a\n===\n", vec![("a", Heading, "T ^a\n===")]),
        ("x\ny ^a\n---\n", vec![("a", Paragraph, "x\ny ^a")]),
        ("[^1]: foot ^a\n", vec![("a", Footnote, "[^1]: foot ^a")]),
        ("t ^a ^b\n", vec![("b", Paragraph, "t ^a ^b")]),
        ("^a\n\ntext\n", vec![]),
        ("a^b c_^d x ^e_f\n", vec![]),
        ("x ^é\n", vec![]),
        ("x \\^a\n", vec![]),
        ("`x ^a`\n", vec![]),
        ("x %%c%% ^a\n", vec![("a", Paragraph, "x %%c%% ^a")]),
        ("x ^A-1\n", vec![("A-1", Paragraph, "x ^A-1")]),
        ("1. x\n\n\t   y ^a\n2. z\n", vec![("a", Item, "1. x\n\n\t   y ^a")]),
        ("H\n ===\nx ^a\n", vec![("a", Paragraph, "H\n ===\nx ^a")]),
        // After a link no blank is needed.
        ("![[a.png]]^a\n", vec![("a", Paragraph, "![[a.png]]^a")]),
        ("x [t](y.md)^a\n", vec![("a", Paragraph, "x [t](y.md)^a")]),
        ("x\n<https://x.y>^a\n", vec![("a", Paragraph, "x\n<https://x.y>^a")]),
        ("[![i](p.png)](N.md)^a\n", vec![("a", Paragraph, "[![i](p.png)](N.md)^a")]),
        ("[t][r]^a\n\n[r]: x\n", vec![("a", Paragraph, "[t][r]^a")]),
        ("- [[x]]^a\n", vec![("a", Item, "- [[x]]^a")]),
        ("> [[x]]^a\n", vec![("a", Quote, "> [[x]]^a")]),
        ("# [[x]]^a\n", vec![("a", Heading, "# [[x]]^a")]),
        ("| a |\n| - |\n| ![[x]]^r |\n", vec![("r", Row, "| ![[x]]^r |")]),
        ("x]^a\n\nf(x)^b\n\na>^c\n\n`c`^d\n\n[[x]]y^e\n\n$x$^f\n\n<b>^g\n", vec![]),
        // Whitespace that is text to a Markdown parser.
        ("\u{2028}\n\n^a\n", vec![("a", Paragraph, "\u{2028}")]),
        ("\t\u{85}\n^a\n", vec![("a", Code, "\u{85}")]),
    ] {
        let found: Vec<(String, BlockKind, &str)> = NoteStructure::parse(text)
            .blocks
            .into_iter()
            .map(|block| (block.id, block.kind, &text[block.span]))
            .collect();
        let expected: Vec<(String, BlockKind, &str)> =
            expected.into_iter().map(|(id, kind, part)| (id.to_owned(), kind, part)).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn of_several_blocks_with_one_id_the_item_wins_then_the_last() {
    let note = Note::parse("one ^a\n\n- two ^A\n\nthree ^a\n\nfour ^b\n\nfive ^B\n");
    let found = |id| note.find_block(id).map(|block| &note.text[block.span.clone()]);
    assert_eq!([found("a"), found("b"), found("c")], [Some("- two ^A"), Some("five ^B"), None]);
}

#[test]
fn tags_are_found_where_obsidian_finds_them() {
    for (text, expected) in [
        ("#a and #b/c\n", vec!["a", "b/c"]),
        ("text#a (#a) \"#a\" x,#a http://x/#a\n", vec![]),
        ("**#a** _#b_ [#c](x) `#no` <b>#d</b> ~~#e~~ ==#f==\n", vec!["a", "b", "c", "d", "e", "f"]),
        ("[x](y)#a `c`#b $m$#c [[w]]#d ![[e]]#e <i>#f **s**#g \\*#h\n", vec!["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("#a#b #c. #d,\n", vec!["a", "b", "c", "d"]),
        ("#12 #1a #größe #石 #🎉\n", vec!["1a", "größe", "石", "🎉"]),
        ("##a \\#a # a\n", vec![]),
        ("## Title #a\n- #b\n> #c\n\n| #d |\n| - |\n|#e|\n\n[^1]: #f\n", vec!["a", "b", "c", "d", "e", "f"]),
        ("> x\n>#a\n> #b\n", vec!["a", "b"]),
        ("> [!note] #a\n> - [ ] #b\n", vec!["a", "b"]),
        ("```\n#no\n```\n\n    #no\n\n[[x #no]] $#no$ <!-- #no --> <a href=\"#no\">\n", vec![]),
        ("<!--\n#no\n-->\n\n<div>\n#no\n</div>\n", vec![]),
        ("$$\n#no\n\n#no\n$$\n", vec![]),
        ("%%#a%% %% #b %%#c\n", vec!["a", "b", "c"]),
        ("%%\n#a\n\n# x #b\n%%\n#c\n", vec!["a", "b", "c"]),
        ("a_b#no 2*#no ==#no\n", vec![]),
        ("==#a#b\n", vec![]),
        ("- \\#no\n- #a\n", vec!["a"]),
        ("![#no](x) <http://x/#no>\n", vec![]),
        ("[[a]] #a\u{a0}#b\u{3000}#c\n", vec!["a", "b", "c"]),
        ("x ^[#a #b] [k:: #c]\n", vec!["a", "b", "c"]),
        ("#_id_ #__init__ #status/_todo_ #a_\n", vec!["_id_", "__init__", "status/_todo_", "a_"]),
        ("_#a_ __#b__ _x #c_d_ _#1_ _y #_e_ z_\n", vec!["a", "b", "c_d", "_e_"]),
        ("| a |\n| - |\n| x | #a | `#no` |\n", vec!["a"]),
    ] {
        assert_eq!(tags(text), expected, "{text:?}");
    }
}

#[test]
fn tasks_have_any_status_and_their_place() {
    let text = "- [ ] a\n  * [x] b 📅 2026-04-14\n    1. plain\n       1) [/] c ^id\n+ [é] d\n> - [-] e\n- [] no\n- [ab] no\n-[ ] no\n- [ ]\n- [x]no\n- [ ] \n";
    let note = Note::parse(text);
    let found: Vec<(char, &str, &str, usize)> = note
        .tasks
        .iter()
        .map(|task| {
            let item = &note.items[task.item];
            (task.status, &text[item.marker.clone()], &text[task.text.clone()], item.depth)
        })
        .collect();
    assert_eq!(
        found,
        [
            (' ', "-", "a", 0),
            ('x', "*", "b 📅 2026-04-14", 1),
            ('/', "1)", "c ^id", 3),
            ('é', "+", "d", 0),
            ('-', "-", "e", 0),
            (' ', "-", "", 0),
            (' ', "-", "", 0),
        ]
    );
    for task in &note.tasks {
        assert_eq!(&text[task.checkbox.start + 1..task.checkbox.end - 1], task.status.to_string());
        assert_eq!(note.items[task.item].task.map(|index| &note.tasks[index]), Some(task));
    }
    let parents: Vec<Option<&str>> =
        note.items[..4].iter().map(|item| item.parent.map(|at| &text[note.items[at].marker.clone()])).collect();
    assert_eq!(parents, [None, Some("-"), Some("*"), Some("1.")]);
    assert_eq!(note.tasks[1].fields.len(), 1);
}

#[test]
fn an_item_ends_before_the_lists_in_it() {
    let text = "- a\n  more\n  - b\n\n    c\n- d\n\ntext\n";
    let note = Note::parse(text);
    let own: Vec<&str> = note.items.iter().map(|item| &text[item.span.clone()]).collect();
    let whole: Vec<&str> = note.items.iter().map(|item| &text[item.whole.clone()]).collect();
    assert_eq!(own, ["- a\n  more", "- b\n\n    c", "- d"]);
    assert_eq!(whole, ["- a\n  more\n  - b\n\n    c", "- b\n\n    c", "- d"]);
}

#[test]
fn callouts_say_their_type_fold_title_and_nesting() {
    let text = "> [!NOTE]\n> x\n\n> [!tip|wide]- A *title* #t\n> > [!bug]+\n> > y\n\n> [!] no\n\n> no [!x]\n\n>[!a]b\n";
    let note = Note::parse(text);
    let part = |span: &Option<std::ops::Range<usize>>| span.clone().map(|span| &text[span]);
    let found = note.callouts.iter().map(|callout| {
        (&text[callout.kind.clone()], callout.fold, part(&callout.title), part(&callout.metadata), callout.parent)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("NOTE", None, None, None, None),
            ("tip", Some(CalloutFold::Closed), Some("A *title* #t"), Some("wide"), None),
            ("bug", Some(CalloutFold::Open), None, None, Some(1)),
            ("a", None, Some("b"), None, None),
        ]
    );
    assert_eq!(&text[note.callouts[2].span.clone()], "> [!bug]+\n> > y");
}

#[test]
fn comments_hide_structure_but_not_links() {
    for (text, comments, links) in [
        ("a %%b [[c]]%% d\n", vec![("b [[c]]", MarkForm::Inline)], vec!["c"]),
        (
            "%%\n# x\n[[a]] `[[no]]`\n\n- [b](c.md)\n%%\n[[d]]\n",
            vec![("\n# x\n[[a]] `[[no]]`\n\n- [b](c.md)\n", MarkForm::Block)],
            vec!["a", "c.md", "d"],
        ),
        ("%% open\n[[a]]", vec![(" open\n[[a]]", MarkForm::Block)], vec!["a"]),
        ("a %% b\n", vec![], vec![]),
        ("`%%` a %%b%%\n", vec![("b", MarkForm::Inline)], vec![]),
        ("```\n%%\n```\n[[a]]\n", vec![], vec!["a"]),
        ("%%%% a %%%%\n", vec![], vec![]),
        ("a\n%%\nb\n%%\n[[c]] d\n", vec![("\nb\n", MarkForm::Block)], vec!["c"]),
        ("%%\nb\n%% [[c]] %%d%%\n", vec![("\nb\n", MarkForm::Block), ("d", MarkForm::Inline)], vec!["c"]),
        ("> %%\n> [[a]]\n> %%\n> [[b]]\n", vec![("\n> [[a]]\n> ", MarkForm::Block)], vec!["a", "b"]),
        ("100%% a [[b]]\n", vec![], vec!["b"]),
        (
            "%%\n    [[a]]\n\n\t[[b]]\n<div>[[c]]</div>\n\n# [[d]]\n%%\n",
            vec![("\n    [[a]]\n\n\t[[b]]\n<div>[[c]]</div>\n\n# [[d]]\n", MarkForm::Block)],
            vec!["a", "b", "c", "d"],
        ),
        (
            "%%\n```\n[[no]]\n```\n<!-- [[no]]\n-->[a](b)\n%%\n",
            vec![("\n```\n[[no]]\n```\n<!-- [[no]]\n-->[a](b)\n", MarkForm::Block)],
            vec!["b"],
        ),
    ] {
        let note = Note::parse(text);
        let found: Vec<(&str, MarkForm)> =
            note.comments.iter().map(|comment| (&text[comment.content.clone()], comment.form)).collect();
        assert_eq!(found, comments, "{text:?}");
        assert_eq!(note.links.iter().map(|link| &text[link.path.clone()]).collect::<Vec<_>>(), links, "{text:?}");
    }
}

#[test]
fn formulas_are_told_from_money() {
    for (text, expected) in [
        ("$x$ and $$y$$\n", vec![("x", false, MarkForm::Inline), ("y", true, MarkForm::Inline)]),
        ("costs $5 and $6\n", vec![]),
        ("$ x$ $x $ a$b\n", vec![("x $ a", false, MarkForm::Inline)]),
        ("\\$x$ y\n", vec![]),
        ("`$x$` [[$a$]]\n", vec![]),
        ("$a [[b]] `c`$\n", vec![("a [[b]] `c`", false, MarkForm::Inline)]),
        ("$$\na\n\n# b\n$$\n", vec![("\na\n\n# b\n", true, MarkForm::Block)]),
        ("so $$\na\n$$\n", vec![("\na\n", true, MarkForm::Inline)]),
        (
            "- $x$\n> $y$\n\n| $z$ |\n| - |\n",
            vec![("x", false, MarkForm::Inline), ("y", false, MarkForm::Inline), ("z", false, MarkForm::Inline)],
        ),
        ("$$$$\n", vec![]),
        ("$x_1$ $y\\$z$\n", vec![("x_1", false, MarkForm::Inline), ("y\\$z", false, MarkForm::Inline)]),
    ] {
        let found: Vec<(&str, bool, MarkForm)> = NoteStructure::parse(text)
            .math
            .into_iter()
            .map(|math| (&text[math.content], math.display, math.form))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn fields_come_in_three_forms() {
    use FieldForm::{Line, Round, Square};
    for (text, expected) in [
        ("key:: value\n", vec![(Line, "key", "value", "key:: value")]),
        ("- due date::  x [[y]]  \n", vec![(Line, "due date", "x [[y]]", "due date::  x [[y]]")]),
        ("- [x] k:: v\n", vec![(Line, "k", "v", "k:: v")]),
        ("**k**:: v\nb::w\n", vec![(Line, "k", "v", "k**:: v"), (Line, "b", "w", "b::w")]),
        ("a [k:: v] b (l:: w) [[x:: no]]\n", vec![(Square, "k", "v", "[k:: v]"), (Round, "l", "w", "(l:: w)")]),
        ("[k:: [[v]]] (a [b:: c])\n", vec![(Square, "k", "[[v]]", "[k:: [[v]]]"), (Square, "b", "c", "[b:: c]")]),
        ("`k:: v` x `[a:: b]`\n", vec![]),
        ("a ::: b\n", vec![]),
        ("[k::\nv]\n", vec![]),
        (":: v\n", vec![]),
        ("> k:: v\n> l:: w\n", vec![(Line, "k", "v", "k:: v"), (Line, "l", "w", "l:: w")]),
        ("k::\n", vec![(Line, "k", "", "k::")]),
        ("[k:: v](x)\n", vec![]),
        ("a.b:: c\n", vec![]),
        // A line may end within something that is not text.
        ("`a\n`:: v\n", vec![]),
        ("[k `a\n`:: v] <b\n>:: v $a\n$:: v [a](b\n)[k:: v]\n", vec![(Square, "k", "v", "[k:: v]")]),
    ] {
        let found: Vec<(FieldForm, &str, &str, &str)> = NoteStructure::parse(text)
            .fields
            .into_iter()
            .map(|field| (field.form, &text[field.key], &text[field.value], &text[field.span]))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn code_is_found_with_its_language() {
    for (text, expected) in [
        ("`a` ``b`c``\n", vec![("a", None, "`a`"), ("b`c", None, "``b`c``")]),
        ("```rust x\nfn\n```\n", vec![("fn\n", Some("rust"), "```rust x\nfn\n```")]),
        ("~~~\na\n", vec![("a", None, "~~~\na")]),
        ("```\n```\n", vec![("", None, "```\n```")]),
        ("    a\n\n    b\n", vec![("a\n\n    b", None, "a\n\n    b")]),
        ("- ```js\n  x\n  ```\n", vec![("  x\n", Some("js"), "```js\n  x\n  ```")]),
        ("> ```\n> x\n> ```\n", vec![("> x\n", None, "```\n> x\n> ```")]),
        ("```\nopen", vec![("open", None, "```\nopen")]),
        // A comment at the margin ends the text above it, and contains no block.
        ("1) ```\n%%\n    a%%\n\tb\n", vec![("", None, "```"), ("b", None, "b")]),
        ("    a\n%%\n    b\n%%\n    c\n", vec![("a", None, "a"), ("c", None, "c")]),
        ("> %%\n> ~~~a%%b\n", vec![]),
        (">> %%\n>     >a\n", vec![]),
        ("`\n    >%%`a`\n`\n", vec![("a", None, "`a`")]),
        ("# `a`\t\n# `b` #\n", vec![("a", None, "`a`"), ("b", None, "`b`")]),
    ] {
        let found: Vec<(&str, Option<&str>, &str)> = NoteStructure::parse(text)
            .code
            .into_iter()
            .map(|code| {
                let language = match code.kind {
                    CodeKind::Fenced { language } => language.map(|span| &text[span]),
                    CodeKind::Span | CodeKind::Indented => None,
                };
                (&text[code.content], language, &text[code.span])
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn footnotes_are_references_definitions_and_inline() {
    use FootnoteKind::{Definition, Inline, Reference};
    for (text, expected) in [
        (
            "a[^1] b[^no def]\n\n[^1]: The *text*\n    more\n\nx\n",
            vec![
                (Reference, "[^1]", Some("1"), None),
                (Definition, "[^1]: The *text*\n    more", Some("1"), Some("The *text*\n    more")),
            ],
        ),
        ("a^[in [[b]] c] d^[e\n", vec![(Inline, "^[in [[b]] c]", None, Some("in [[b]] c"))]),
        ("a[^x]\n", vec![(Reference, "[^x]", Some("x"), None)]),
        ("`[^a]` [^] \\[^b]\n", vec![]),
        ("^[a ^[b] c]\n", vec![(Inline, "^[a ^[b] c]", None, Some("a ^[b] c")), (Inline, "^[b]", None, Some("b"))]),
    ] {
        let found: Vec<(FootnoteKind, &str, Option<&str>, Option<&str>)> = NoteStructure::parse(text)
            .footnotes
            .into_iter()
            .map(|note| {
                (note.kind, &text[note.span], note.label.map(|span| &text[span]), note.content.map(|span| &text[span]))
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

/// A link and a tag count in every block that can contain inline text, however nested.
#[test]
fn inline_syntax_counts_in_every_block_and_every_pair_of_them() {
    type Block = fn(&str) -> String;
    let blocks: [(&str, Block); 7] = [
        ("paragraph", |inner| inner.to_owned()),
        ("quote", |inner| prefixed(inner, "> ", "> ")),
        ("callout", |inner| format!("> [!note] t\n{}", prefixed(inner, "> ", "> "))),
        ("item", |inner| prefixed(inner, "- ", "  ")),
        ("numbered", |inner| prefixed(inner, "1. ", "   ")),
        ("task", |inner| prefixed(inner, "- [ ] t\n\n  ", "  ")),
        ("footnote", |inner| prefixed(inner, "[^1]: ", "    ")),
    ];
    let inlines = [
        "[[a]] #t",
        "**[[a]]** #t",
        "==[[a]]== #t",
        "%%[[a]]%% #t",
        "x [y:: [[a]]] #t",
        "^[[[a]] #t] x",
        "# [[a]] #t",
        "| [[a]] | #t |\n| - | - |",
    ];
    for (outer_name, outer) in blocks {
        for (inner_name, inner) in blocks {
            for inline in inlines {
                let text = format!("{}\n", outer(&inner(inline)));
                let note = Note::parse(&text);
                let links: Vec<&str> = note.links.iter().map(|link| &text[link.span.clone()]).collect();
                let tags: Vec<&str> = note.tags.iter().map(|tag| &text[tag.span.clone()]).collect();
                assert_eq!((links, tags), (vec!["[[a]]"], vec!["#t"]), "{outer_name} {inner_name} {text:?}");
                let top = outer_name == "paragraph" && inner_name == "paragraph" && inline.starts_with('#');
                assert_eq!(note.headings.len(), usize::from(top), "{text:?}");
            }
        }
    }
}

fn prefixed(inner: &str, first: &str, others: &str) -> String {
    let lines: Vec<String> =
        inner.lines().enumerate().map(|(at, line)| format!("{}{line}", if at == 0 { first } else { others })).collect();
    lines.join("\n")
}

/// Constructs that exclude inline syntax do so in every block.
#[test]
fn nothing_counts_in_code_formulas_and_html() {
    for inner in [
        "`[[a]] #t`",
        "$[[a]] #t$",
        "$$[[a]] #t$$",
        "<!-- [[a]] #t -->",
        "<b x=\"[[a]] #t\">",
        "```\n[[a]] #t ^id\n# h\n```",
        "<div>\n\t[[a]] #t\n</div>",
    ] {
        for (first, others) in [("", ""), ("> ", "> "), ("- ", "  "), ("> - ", ">   "), ("[^1]: ", "    ")] {
            let text = format!("{}\n", prefixed(inner, first, others));
            let note = Note::parse(&text);
            assert!(note.links.is_empty() && note.tags.is_empty() && note.headings.is_empty(), "{text:?}");
            assert!(note.blocks.is_empty(), "{text:?}");
        }
    }
}

/// Four columns past the text of the item are code, as in CommonMark: a tab reaches to the fourth, wherever it begins.
#[test]
fn a_tab_and_blanks_below_an_item_are_code_only_if_they_reach_that_far() {
    for (item, is_code) in [
        ("- item\n   \n\t   ", true),
        ("- [ ] item\n\n\t   ", true),
        ("- item\n \n\t", false),
        ("- item\n\n\t ", false),
        ("-   item\n   \n\t   ", false),
        ("-\titem\n   \n\t   ", false),
        ("1. item\n   \n\t  ", false),
        ("  - item\n   \n\t   ", false),
    ] {
        let text = format!("{item}![[a.png]] #t\n");
        let note = Note::parse(&text);
        assert_eq!((note.links.is_empty(), note.tags.is_empty()), (is_code, is_code), "{text:?}");
    }
}

#[test]
fn tags_and_properties_are_known_without_parsing_a_text_that_has_no_tag() {
    for text in ["---\ntags: [a]\nx: 1\n---\n# H\n[[N]] `c`\n", "# H\n\nIssue #12, [[a]].\n"] {
        let (tagged, parses) = parse_count::during(|| Note::tagged(text));
        assert_eq!(parses, 0, "{text:?}");
        let whole = Note::parse(text);
        assert_eq!((&tagged.tags, &tagged.properties), (&whole.tags, &whole.properties), "{text:?}");
    }
    let text = "---\ntags: [a]\n---\n# H #b\n`#c` #d\n";
    let (tagged, parses) = parse_count::during(|| Note::tagged(text));
    assert_eq!((parses, tagged.tags.len()), (1, 2));
    assert_eq!(tagged, Note::parse(text));
}

#[test]
fn a_reference_link_leads_to_its_definition() {
    let text = "[a][r] [R][] [r] ![i|40][r]\n\n[r]: <N o.md#H> \"T\"\n[x]: https://x.y\n";
    let note = Note::parse(text);
    let found: Vec<(LinkKind, &str, &str)> =
        note.links.iter().map(|link| (link.kind, &text[link.span.clone()], &text[link.destination.clone()])).collect();
    let reference = LinkKind::Reference;
    assert_eq!(
        found,
        [
            (reference, "[a][r]", "r"),
            (reference, "[R][]", "R"),
            (reference, "[r]", "r"),
            (reference, "![i|40][r]", "r")
        ]
    );
    for link in &note.links {
        assert_eq!(note.definition_of(link), Some(&note.definitions[0]));
    }
    let definition = &note.definitions[0];
    assert_eq!(&text[definition.path.clone()], "N o.md");
    assert_eq!(definition.subpath.clone().map(|span| &text[span]), Some("#H"));
    assert_eq!(definition.title.clone().map(|span| &text[span]), Some("T"));
    assert_eq!(note.definitions.iter().map(|definition| definition.internal).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn of_several_definitions_with_one_label_the_first_counts() {
    let text = "%%\n[ B  c ]: 1.md\n%%\n[b C] [a] [z]\n\n[a]: 2.md\n[b c]: 3.md\n[A]: 4.md\n";
    let note = Note::parse(text);
    let found = note.links.iter().map(|link| note.definition_of(link).map(|found| &text[found.path.clone()]));
    assert_eq!(found.collect::<Vec<_>>(), [Some("3.md"), Some("2.md")]);
}

#[test]
fn a_mark_that_only_looks_open_does_not_swallow_the_rest() {
    for before in
        ["`%%` marks a comment:", "\\%% x", "<!-- %% -->", "[a](x%%y)", "```\na %%\n```", "- a %%\n- b", "# 50 %% off"]
    {
        let text = format!("{before}\n%%\n# hidden\n%%\n\n# Real\n");
        let note = Note::parse(&text);
        let last = note.headings.last().map(|heading| heading.text.clone());
        assert_eq!(last.as_deref(), Some("Real"), "{text:?}");
        assert!(!note.headings.iter().any(|heading| heading.text == "hidden"), "{text:?}");
    }
}

/// A shown text has no `\r`, and one from elsewhere ends no line.
#[test]
fn a_return_ends_no_line() {
    let note = Note::parse("# a\rb $x$\n\r- c\n%%\r\n#d\re\n%%\n");
    assert_eq!(note.headings.iter().map(|heading| &*heading.text).collect::<Vec<_>>(), ["a\rb $x$"]);
    assert_eq!((note.math.len(), note.items.len(), note.tags.len()), (1, 0, 1));
}

#[test]
fn a_line_of_separators_is_read_in_one_go() {
    let text = "]]::".repeat(100_000);
    assert!(Note::parse(&text).fields.is_empty());
}

#[test]
fn the_label_of_a_footnote_is_cut_out_as_it_is_written() {
    for label in ["a", "note-1", "\u{c}m\u{fffd}(S\u{fffd}F\u{c}L@\u{7f}I", "\u{c}\u{c}\u{c}石"] {
        let text = format!("[^{label}]:\"x\n");
        let note = Note::parse(&text);
        let found = note.footnotes.iter().find(|found| found.kind == FootnoteKind::Definition);
        let written = found.and_then(|found| found.label.clone()).map(|span| &text[span]);
        assert_eq!(written, Some(label), "{text:?}");
    }
}
