//! Tests of selections of rows.

use jiff::{Timestamp, tz::TimeZone};
use lapidary_bases::BaseFile;
use lapidary_dataview::DqlQuery;
use lapidary_query::{QueryContext, ScannedVault};
use lapidary_store::{PathPrefix, Policy};
use proptest::prelude::*;

use super::*;
use crate::{
    VaultIndex,
    test_vault::{live, notes, put_or_remove, text_of, vault},
};

fn paths(vault: &dyn QueryVault, selection: &RowSelection<'_>) -> Vec<String> {
    vault.select(selection).iter().filter_map(|number| Some(vault.row(number)?.path().to_owned())).collect()
}

/// Every kind of selection, with everything that may be requested.
fn selections(count: u32) -> Vec<RowSelection<'static>> {
    let links = (0..count).map(RowNumber).flat_map(|row| [RowSelection::LinksTo(row), RowSelection::LinkedFrom(row)]);
    let wanted = ["a", "#A", "a/b", "b", "ü", "t", ""];
    let tags = wanted.map(RowSelection::Tag).into_iter().chain(wanted.map(RowSelection::PageTag));
    let folders = ["", "sub", "Sub", "su", "sub/deep", "sub/"].map(RowSelection::Folder);
    let extensions = ["md", "MD", "png", "", "base"].map(RowSelection::Extension);
    let missing = ["gone", "Gone", "a", "sub/gone"].map(RowSelection::LinksToMissing);
    let all = [RowSelection::Pages, RowSelection::Files];
    links.chain(tags).chain(folders).chain(extensions).chain(missing).chain(all).collect()
}

const QUERIES: [&str; 5] = [
    "TABLE file.inlinks, file.outlinks, file.etags FROM #a or \"sub\"",
    "LIST FROM [[b]] or outgoing([[a]]) or -#a",
    "LIST FROM [[gone]]",
    "TABLE length(rows), rows.file.name GROUP BY file.folder",
    "LIST WHERE contains(file.tags, \"#A\") SORT file.name DESC",
];
const BASE: &str = "filters:\n  or:\n    - file.hasTag(\"a\")\n    - file.inFolder(\"sub\")\n    - file.ext == \"png\"\nformulas:\n  linked: file.backlinks.length\nviews:\n  - type: table\n    name: All\n    order: [file.path, file.tags, formula.linked, file.links]\n";

/// What both languages make of a vault.
fn answers(vault: &dyn QueryVault) -> Vec<String> {
    let context = || QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &|| true).with_origin(Some("a.md"));
    let dql = |text: &&str| {
        let answer = DqlQuery::parse(text).unwrap().run(vault, &context());
        format!("{:?}", answer.map(|answer| answer.result))
    };
    let base = BaseFile::parse(BASE).unwrap().run(None, vault, &context()).unwrap().to_csv();
    QUERIES.iter().map(dql).chain([base]).collect()
}

fn described(live: &Arc<VaultIndex>, policy: Policy) -> Vec<(String, Vec<String>)> {
    let notes = notes(live, policy);
    let marks = OwnerMarks::read(b"", br#"{"userIgnoreFilters": ["sub/c"]}"#);
    let rows = VaultRows::new(&notes, marks, &|| true);
    let count = u32::try_from(rows.count()).unwrap();
    let scanned = ScannedVault::new(&rows, count);
    assert_eq!(answers(&rows), answers(&scanned), "with and without an index");
    let answer = |selection: RowSelection<'static>| {
        let indexed = paths(&rows, &selection);
        assert_eq!(indexed, paths(&scanned, &selection), "{selection:?}");
        (format!("{selection:?}"), indexed)
    };
    let answered = answers(&rows).into_iter().map(|answer| (answer, Vec::new()));
    selections(count).into_iter().map(answer).chain(answered).collect()
}

const PATHS: [&str; 8] = ["a.md", "b.md", "sub/a.md", "sub/c.md", "sub-b.md", "x.png", "Ünï.base", "old.markdown"];
const PARTS: [&str; 13] = [
    "---\ntag: t, b\nTags: a/b x\n---\n",
    "---\ntags: [a, B/c]\nup: \"[[b]]\"\n---\n",
    "[[a]] ",
    "[[sub/c|x]] ",
    "[[gone]] ",
    "![[x.png]] ",
    "[m](sub/gone.md) ",
    "#a/b ",
    "#A ",
    "#Ü ",
    "text\n",
    "[[#Here]] ",
    "[[Sub/A]]",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 400 }))]

    #[test]
    fn an_index_selects_what_a_look_at_every_row_selects_after_any_changes(
        steps in prop::collection::vec((0..PATHS.len(), prop::option::weighted(0.85, text_of(&PARTS, 8)), any::<bool>()), 1..12)
    ) {
        let folder = vault(&[("a.md", "#a [[b]]")]);
        let kept = live(folder.path());
        for (path, text, asks) in &steps {
            put_or_remove(folder.path(), PATHS[*path], text.as_deref());
            if *asks {
                described(&kept, Policy::default());
            }
        }
        let fresh = live(folder.path());
        prop_assert_eq!(described(&kept, Policy::default()), described(&fresh, Policy::default()));
    }
}

#[test]
fn selections_reveal_nothing_about_hidden_files() {
    let open = [("a.md", "#a [[secret/b]] [[c]] [[gone]]"), ("c.md", "[[a]] #b"), ("sub/d.md", "[[b]]")];
    let hidden = [("secret/b.md", "[[a]] [[c]] #a #ü [[gone]]"), ("secret/x.png", ""), ("sub/hid/b.md", "#a")];
    let (with, without) = (vault(&[&open[..], &hidden].concat()), vault(&open));
    let closed = |path: &str| PathPrefix::parse(path).unwrap();
    let policy = || Policy { deny: vec![closed("secret"), closed("sub/hid")], ..Policy::default() };
    assert_eq!(described(&live(with.path()), policy()), described(&live(without.path()), policy()));
}

#[test]
fn links_lead_from_a_note_or_from_the_top() {
    let folder = vault(&[("sub/a.md", "[[b]]"), ("sub/b.md", ""), ("b.md", ""), ("t.csv", "a,b\n1,2\n")]);
    let live = live(folder.path());
    let notes = notes(&live, Policy::default());
    let rows = VaultRows::new(&notes, OwnerMarks::default(), &|| true);
    let path = |number: Option<RowNumber>| number.map(|number| rows.row(number).unwrap().path().to_owned());
    assert_eq!(path(rows.resolve("./b", Some("sub/a.md"))).as_deref(), Some("sub/b.md"));
    assert_eq!(path(rows.resolve("B", None)).as_deref(), Some("b.md"));
    assert_eq!(path(rows.resolve("", Some("sub/a.md"))).as_deref(), Some("sub/a.md"));
    assert_eq!(path(rows.resolve("nowhere", None)), None);
    assert_eq!(rows.text("t.csv").as_deref(), Some("a,b\n1,2\n"));
    assert_eq!((rows.text("u.csv"), rows.has_folder("sub"), rows.has_folder("su")), (None, true, false));
}
