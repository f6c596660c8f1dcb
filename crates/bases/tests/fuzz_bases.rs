//! No base crashes the reader or the evaluator, or keeps them busy, whatever it is made of.

use bolero::check;
use jiff::{Timestamp, tz::TimeZone};
use lapidary_bases::BaseFile;
use lapidary_query::{QueryContext, QueryLimits, testing::PlainVault};

const PIECES: [&str; 64] = [
    "filters:",
    "formulas:",
    "views:",
    "\n  - ",
    "\n  ",
    "and:",
    "or:",
    "not:",
    "type: table",
    "name: A",
    "order: [formula.a]",
    "a: ",
    "b: ",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    ": ",
    "\n",
    "price",
    "tags",
    "file",
    "note",
    "this",
    "formula.a",
    "formula.b",
    "value",
    "index",
    "acc",
    ".map(",
    ".filter(",
    ".reduce(",
    ".contains(",
    ".sort()",
    ".unique()",
    ".join(\",\")",
    ".split(\"\")",
    ".replace(/(a|aa)+$/g, \"$1\")",
    ".repeat(999)",
    ".length",
    ".days",
    ".links",
    ".name",
    ".asFile()",
    "date(\"2026-01-31\")",
    "duration(\"1M\")",
    "if(",
    "list(",
    "link(",
    "number(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "==",
    "<",
    "&&",
    "!",
    "1",
    "[1,2,3,4,5,6,7,8]",
    "石💎",
];

/// A note that links to itself.
fn vault() -> PlainVault {
    PlainVault::of(&[("a.md", "---\nprice: 2.5\ntags: [x, y/z]\ndue: 2026-02-30\n---\n[[a#h]]\n")])
}

#[test]
fn every_base_comes_to_an_end() {
    let vault = vault();
    check!().for_each(|bytes: &[u8]| {
        let expression: String = bytes.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect();
        // As the whole file, and as an expression that certainly is read as one.
        let escaped = expression.replace('\'', "''").replace('\n', " ");
        let formula = format!(
            "filters: '{escaped}'\nformulas:\n  a: '{escaped}'\n  b: 'formula.a'\nviews:\n  - type: table\n    name: A\n    order: \
             [formula.a, formula.b]\n    groupBy: {{property: formula.a}}\n"
        );
        for yaml in [expression, formula] {
            let Ok(base) = BaseFile::parse(&yaml) else { continue };
            let limits = QueryLimits { steps: 100_000, bytes: 16 << 20, depth: 64 };
            let go_on = || true;
            let context = QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &go_on)
                .with_origin(Some("a.md"))
                .with_limits(limits);
            if let Ok(answer) = base.run(None, &vault, &context) {
                answer.to_markdown();
                answer.to_cli_json();
            }
        }
    });
}
