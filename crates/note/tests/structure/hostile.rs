//! Hostile texts are parsed in linear time.

use std::time::Duration;

use cpu_time::ThreadTime;
use lapidary_note::Note;

use super::laws;

/// Of the processor, so that a busy machine changes nothing. Far above what any of these takes, far below what a non-linear
/// parser would take.
const LIMIT: Duration = Duration::from_secs(10);

const MANY: usize = 20_000;

fn within_limit(name: &str, text: &str) {
    let start = ThreadTime::now();
    let note = Note::parse(text);
    let taken = start.elapsed();
    assert!(taken < LIMIT, "{name}: {} bytes took {taken:?}", text.len());
    drop(note);
}

#[test]
fn endless_repetition_and_nesting_is_parsed_in_time() {
    let pieces = [
        "[",
        "[[",
        "![[",
        "]",
        "]]",
        "[a",
        "[[a",
        "[[a]",
        "[[a|",
        "](",
        "[a](",
        "[a](b",
        "![",
        "(",
        "(a:: ",
        "[k:: ",
        "^[",
        "^[a ",
        "[^",
        "[^a",
        "> ",
        ">",
        "> [!a]\n",
        "- ",
        "* ",
        "1. ",
        "- [ ] ",
        "  - a\n",
        "#",
        "# ",
        "#a",
        "# a\n",
        "a\n===\n",
        "a\n---\n",
        "%%",
        "%%a",
        "%%\n",
        "- %% a\n",
        "> %%\n",
        "%%\n```\n",
        "a %%\n",
        "$",
        "$a",
        "$a ",
        "$$",
        "$$\n",
        "$$a",
        "$$\n<\n",
        "==",
        "==a",
        "== ",
        "`",
        "`` ` ",
        "```\n",
        "~~~\n",
        "<",
        "<a",
        "<!--",
        "<div>\n",
        "*",
        "*a ",
        "**",
        "*a _b",
        "~~",
        "\\",
        "\\[",
        "^a\n\n",
        "a ^a\n\n",
        "- a ^a\n",
        "|",
        "| a | b |\n",
        "a|b\n-|-\n",
        "http://",
        "http://a.",
        "http://a)",
        "http://a.).",
        "::",
        "a::",
        "a:: b\n",
        "[^1]: ",
        "[^1]: a\n\n",
        "[^1]\n",
        "[a]: b\n",
        "[a]",
        "\n",
        " ",
        "\t",
        "    a\n\n",
        "é",
        "&amp;",
        "[!",
        ">[!a|",
        "📅",
        "- [ ] 📅 2026-01-01 ",
        "#a#",
        "a_#",
    ];
    for piece in pieces {
        within_limit(piece, &piece.repeat(MANY));
        within_limit(piece, &format!("{}\n", piece.repeat(MANY)));
        within_limit(piece, &format!("{}x{}", piece.repeat(MANY), "]".repeat(MANY)));
    }
    let quotes = format!("{}a ^id{}", "> ".repeat(MANY), "\n".repeat(MANY));
    within_limit("quotes and blanks", &quotes);
    let lists: String = (0..1500).map(|depth| format!("{}- a ^a{depth}\n", "  ".repeat(depth))).collect();
    within_limit("lists", &lists);
    within_limit("lists and blanks", &format!("{lists}{}", "\n".repeat(1_000_000)));
    within_limit("one line of items", &format!("{}a{}", "- ".repeat(MANY), "\n".repeat(MANY)));
}

#[test]
fn bombs_of_footnotes_and_yaml_are_read_in_time() {
    let footnotes: String = (0..MANY).map(|n| format!("[^{n}]: [^{}] [^{}]\n\n", n + 1, n + 2)).collect();
    within_limit("footnotes", &footnotes);
    let references: String =
        (0..MANY).map(|n| format!("[r{n}]: x{n}\n")).chain((0..MANY).map(|n| format!("[r{n}] "))).collect();
    within_limit("references", &references);
    let start = ThreadTime::now();
    let note = Note::parse(&references);
    assert!(note.links.iter().all(|link| note.definition_of(link).is_some()));
    assert!(note.links.len() == MANY && start.elapsed() < LIMIT, "definitions took {:?}", start.elapsed());
    let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(","));
    }
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(MANY));
    let keys: String = (0..MANY).map(|n| format!("k{n}: {n}\n")).collect();
    let anchors: String = (0..MANY).map(|n| format!("k{n}: &a{n} x\nl{n}: *a{n}\n")).collect();
    let nested = |open: &str| format!("a: {}", open.repeat(MANY));
    let deep: String = (0..2000).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
    for (name, yaml) in [
        ("laughs", laughs),
        ("long", long),
        ("keys", keys),
        ("anchors", anchors),
        ("brackets", nested("[")),
        ("braces", nested("{a: ")),
        ("dashes", nested("- ")),
        ("deep", deep),
        ("question marks", nested("? ")),
        ("quotes", nested("\"")),
        ("anchor signs", nested("&a ")),
    ] {
        within_limit(name, &format!("---\n{yaml}\n---\nbody\n"));
    }
}

#[test]
fn hostile_texts_keep_the_laws() {
    for piece in ["[", "[[", "> ", "- ", "^[", "%%", "$$\n", "==", "*a _b", "| a ", "[k:: ", "- [ ] ", "> [!a] "] {
        laws::check(&piece.repeat(300));
        laws::check(&format!("{}x{}", piece.repeat(300), "]".repeat(300)));
    }
}
