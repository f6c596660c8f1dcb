use super::*;

fn vault() -> PlainVault {
    PlainVault::of(&[
        (
            "Probe/row.md",
            "---\nprice: 12.5\nquantity: 4\nstatus: Todo\ntags: [urgent, work]\nvalues: [1, 2, 3]\nspace key: space value\n\
             frontWiki: \"[[Other|Front Alias]]\"\nfrontMd: \"[Front MD](Other.md)\"\nsite: https://example.org/a\n\
             due: 2026-06-12\nstart: 2026-06-10 12:34:56\ndone: false\nnested: {Key: 1, deep: {x: [a, b]}}\n---\n\
             [[Other]] #project/a [[Missing Note]] ![[Picture.png]]\n",
        ),
        ("Probe/Other.md", "---\nstatus: Done\n---\n[[row]]\n"),
        ("Probe/Picture.png", ""),
        ("top.md", ""),
    ])
}

fn check(cases: &[(&str, &str)]) {
    let vault = vault();
    let mut wrong = String::new();
    for (expression, expected) in cases {
        let found = evaluated(&vault, "Probe/row.md", expression);
        if found != *expected {
            wrong += &format!("{expression}\n  gives  {found}\n  not    {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn literals_and_operators_have_the_precedence_of_javascript() {
    check(&[
        ("null", "null"),
        ("  true ", "true"),
        ("'it\\'s \"so\"'", "\"it's \\\"so\\\"\""),
        ("\"a\\u0041\\n\"", "\"aA\\n\""),
        ("\"\\ud83d\\ude00\"", "\"😀\""),
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 % 4", "2"),
        ("-7 % 4", "-3"),
        ("7 / 2", "3.5"),
        ("1 / 0", "∞"),
        ("10 - 2 - 3", "5"),
        ("2 * 3 == 6 && !false", "true"),
        ("1 < 2 == true", "true"),
        ("-price", "-12.5"),
        ("- - price", "12.5"),
        ("!!status", "true"),
        ("[1, [2], \"x\"]", "[1, [2], \"x\"]"),
        ("[]", "[]"),
        ("[10,20,30][1]", "20"),
        ("[10][5]", "null"),
        ("[10][0.5]", "null"),
        ("0 || \"\"", "false"),
        ("status || 1", "true"),
        ("status && 0", "false"),
    ]);
}
