//! Notes written with bad intent.

use super::chance::Chance;

/// A vault of them. `size` is how many of each construct a note has: equal headings, links, levels.
const PROMPT: &str = "---\ntags: [mcp-tools-prompt]\n---\n";

pub(super) fn vault(size: usize) -> Vec<(String, Vec<u8>)> {
    let deep = size.min(20_000);
    let repeated = |part: &str| part.repeat(size);
    let list = |level: usize| format!("{}- item {level} #t{level} [[plain]]\n", "  ".repeat(level));
    let mut nested_yaml = String::from("---\n");
    for level in 0..deep.min(2000) {
        nested_yaml += &format!("{}k{level}:\n", " ".repeat(level));
    }
    let mut bomb = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        bomb += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 9].join(", "));
    }
    let canvas = format!(
        r#"{{"nodes":[{}],"edges":[]}}"#,
        vec![r#"{"id":"1","type":"text","text":"[[plain]] #t","x":0,"y":0,"width":1,"height":1}"#; size / 20 + 1]
            .join(",")
    );
    let texts = [
        (
            "plain.md",
            "---\ntags: [a, b]\nstatus: open\n---\n# H\nhello needle\n\n## H\n- [ ] task\n\ntext ^id\n".to_owned(),
        ),
        ("equal headings.md", repeated("# a\n")),
        ("Prompts/slots.md", format!("{PROMPT}{}", repeated("<% tp.mcpTools.prompt('a', 'b') %>"))),
        (
            "Prompts/many slots.md",
            (0..size).fold(PROMPT.to_owned(), |text, n| text + &format!("<% tp.mcpTools.prompt('{n}') %>")),
        ),
        ("Prompts/open.md", format!("{PROMPT}{}", repeated("<% tp.mcpTools.prompt('a"))),
        ("Prompts/quotes.md", format!("{PROMPT}<% tp.mcpTools.prompt({}) %>", repeated("'\\'"))),
        ("headings below a long one.md", format!("# {}\n{}", "long ".repeat(size / 4), repeated("## b\n"))),
        ("headings.md", (0..size).map(|n| format!("{} h {n}\n\n", "#".repeat(n % 6 + 1))).collect()),
        ("long tag.md", format!("#{}\n", vec!["a"; size].join("/"))),
        ("tags.md", (0..size).map(|n| format!("#t{n}/x ")).collect()),
        (
            "property tags.md",
            format!("---\ntags: [{}]\n---\n", (0..size / 20).map(|n| format!("p/{n}")).collect::<Vec<_>>().join(", ")),
        ),
        ("quotes.md", format!("{} deep\n", "> ".repeat(deep))),
        ("lists.md", (0..deep.min(500)).map(list).collect()),
        ("brackets.md", format!("{}x{}\n", "[".repeat(deep), "]".repeat(deep))),
        ("emphasis.md", format!("{}\n", "*a_ ".repeat(size))),
        ("links.md", repeated("[[plain]] ")),
        (
            "long links.md",
            (0..size / 20).map(|n| format!("[[{}#{}|{n}]]\n", "x/".repeat(200), "y".repeat(200))).collect(),
        ),
        ("references.md", (0..size / 4).map(|n| format!("[a{n}][r{n}]\n\n[r{n}]: plain.md\n\n")).collect()),
        ("place links.md", repeated("[[plain#H]] [[#x]] ")),
        ("blocks.md", (0..size / 4).map(|n| format!("line ^b{n}\n\n")).collect()),
        ("equal blocks.md", repeated("x ^same\n\n")),
        (
            "tasks.md",
            (0..size / 2)
                .map(|n| format!("- [{}] t {n} 📅 2026-01-01 #x\n", if n % 2 == 0 { ' ' } else { 'x' }))
                .collect(),
        ),
        ("long line.md", "a".repeat(size * 10)),
        ("unclosed.md", format!("```\n{}", repeated("code\n"))),
        ("unclosed comment.md", format!("%%\n<!--\n{}", repeated("x %% <!-- "))),
        ("mixed ends.md", repeated("a\r\nb\rc\n")),
        ("deep yaml.md", format!("{nested_yaml}---\nx\n")),
        ("flow yaml.md", format!("---\na: {}x{}\n---\n", "[".repeat(deep), "]".repeat(deep))),
        ("yaml bomb.md", format!("{bomb}---\nx\n")),
        ("wide yaml.md", format!("---\n{}---\n", (0..size / 4).map(|n| format!("k{n}: {n}\n")).collect::<String>())),
        ("open yaml.md", format!("---\n{}", repeated("a: b\n"))),
        ("inline fields.md", repeated("[k:: v] (k:: ")),
        (
            "table.md",
            format!(
                "|{0}\n|{1}\n{2}",
                " h |".repeat(200),
                " - |".repeat(200),
                format!("|{}\n", " c |".repeat(200)).repeat(size / 100)
            ),
        ),
        ("marks.md", format!("{}\n", "\u{301}".repeat(size))),
        ("bidi.md", "\u{202e}\u{2066}\u{feff}\u{0}\u{7f}\u{85}\u{2028}".repeat(size / 10)),
        ("html.md", repeated("<div><!-- ")),
        ("math.md", repeated("$a$ $$ ")),
        ("callouts.md", format!("> [!a] x\n{}", repeated("> > [!b]- y\n"))),
        ("footnotes.md", (0..size / 4).map(|n| format!("[^f{n}]\n\n[^f{n}]: [^f{n}]\n\n")).collect()),
        ("board.canvas", canvas),
        ("deep.canvas", format!(r#"{{"nodes":{}1{}}}"#, "[".repeat(deep), "]".repeat(deep))),
    ];
    let mut files: Vec<(String, Vec<u8>)> =
        texts.into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())).collect();
    files.push(("not text.md".to_owned(), [0xff, 0xfe, b'#', b' ', b'x', b'\n'].repeat(size / 10)));
    files.push((format!("{}/deep.md", vec!["d"; 100].join("/")), b"[[plain]]\n".to_vec()));
    let mut chance = Chance::new(7);
    let pieces = [
        "# ", "> ", "- ", "```", "---\n", "[[", "]]", "|", "%%", "$$", "<!--", "^a", "#t", "\n", "\r\n", "\t", "    ",
        ": ", "*", "x", "石",
    ];
    let soup = (0..size).map(|_| pieces[chance.below(pieces.len())]).collect::<String>();
    files.push(("soup.md".to_owned(), soup.into_bytes()));
    files
}
