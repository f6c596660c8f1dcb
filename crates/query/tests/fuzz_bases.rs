//! No base crashes the reader or the evaluator, or keeps them busy, whatever it is made of.

use std::{borrow::Cow, ops::ControlFlow};

use bolero::check;
use jiff::{Timestamp, tz::TimeZone};
use lapidary_query::{
    BaseFile, FrontmatterState, PropertyVisitor, QueryContext, QueryLimits, QueryVault, Row, RowBlock, RowField,
    RowHeading, RowItem, RowLink, RowNumber, RowSelection, RowSet, RowTag, Value, VaultRow,
};
use serde_json::json;

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

struct OnlyVault;

struct OnlyRow;

impl QueryVault for OnlyVault {
    fn select(&self, _selection: &RowSelection<'_>) -> RowSet {
        RowSet::from_iter([RowNumber(0)])
    }

    fn row(&self, number: RowNumber) -> Option<VaultRow<'_>> {
        (number.0 == 0).then(|| Box::new(OnlyRow) as VaultRow<'_>)
    }

    fn find(&self, path: &str) -> Option<RowNumber> {
        (path == "a.md").then_some(RowNumber(0))
    }

    fn resolve(&self, target: &str, _from: Option<&str>) -> Option<RowNumber> {
        (target == "a").then_some(RowNumber(0))
    }

    fn has_folder(&self, _path: &str) -> bool {
        false
    }

    fn text(&self, _path: &str) -> Option<String> {
        None
    }

    fn served_by(&self, _selection: &RowSelection<'_>) -> Option<&'static str> {
        None
    }
}

impl Row for OnlyRow {
    fn path(&self) -> &str {
        "a.md"
    }

    fn bytes(&self) -> u64 {
        7
    }

    fn created(&self) -> Option<Timestamp> {
        None
    }

    fn modified(&self) -> Option<Timestamp> {
        Some(Timestamp::UNIX_EPOCH)
    }

    fn content(&self) -> Option<Cow<'_, str>> {
        None
    }

    fn frontmatter(&self) -> FrontmatterState {
        FrontmatterState::Read
    }

    fn visit_properties(&self, visit: &mut PropertyVisitor<'_>) {
        for (name, value) in [("price", json!(2.5)), ("tags", json!(["x", "y/z"])), ("due", json!("2026-02-30"))] {
            if visit(name, &|| Value::from(&value)).is_break() {
                return;
            }
        }
    }

    fn visit_tags<'r>(&'r self, visit: &mut dyn FnMut(RowTag<'r>) -> ControlFlow<()>) {
        for name in ["x", "y/z"] {
            if visit(RowTag { name, in_properties: true, repeated: false }).is_break() {
                return;
            }
        }
    }

    fn aliases(&self) -> Vec<&str> {
        Vec::new()
    }

    fn headings(&self) -> Vec<RowHeading<'_>> {
        Vec::new()
    }

    fn blocks(&self) -> Vec<RowBlock<'_>> {
        Vec::new()
    }

    fn links(&self) -> Vec<RowLink<'_>> {
        let (target, subpath) = ("a", Some("#h"));
        vec![RowLink { target, subpath, display: None, embed: false, markdown: false, line: 1, property: None }]
    }

    fn resolve(&self, _target: &str) -> Option<&str> {
        Some("a.md")
    }

    fn backlinks(&self) -> Vec<&str> {
        vec!["a.md"]
    }

    fn items(&self) -> Vec<RowItem<'_>> {
        Vec::new()
    }

    fn fields(&self) -> Vec<RowField<'_>> {
        Vec::new()
    }

    fn is_bookmarked(&self) -> bool {
        false
    }

    fn is_excluded(&self) -> bool {
        false
    }
}

#[test]
fn every_base_comes_to_an_end() {
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
            if let Ok(answer) = base.run(None, &OnlyVault, &context) {
                answer.to_markdown();
                answer.to_cli_json();
            }
        }
    });
}
