//! How often a note is parsed for an edit: once before, once after, and not at all if nothing depends on it.

use super::{
    BlankLines, InsertSide, LinkRelocation, Occurrence, PatchContent, PatchOperation, PatchTarget, PropertyEdit,
    PropertyPath, SectionEdit, SectionPart, SectionPatch, TagEdit, TagPlaces,
};
use crate::{Document, Heading, YamlValue, note::parse_count::during};

const NOTE: &str = "---\ntags: [a, b]\nk: v\n---\n# A\n- #a x ^id\n\n## B\ntext #a [[N#H]]\n\n# C\nend\n";

fn open() -> Document {
    Document::open(NOTE.to_owned()).unwrap()
}

/// Makes an edit, then reads the structure of the result, as callers do for hashes and tags.
fn parses(edit: impl FnOnce(&Document) -> Document) -> usize {
    let document = open();
    let (edited, parses) = during(|| {
        let edited = edit(&document);
        assert!(!edited.note().headings.is_empty());
        edited
    });
    assert_ne!(edited, document);
    parses
}

#[test]
fn a_tag_edit_parses_once_before_and_once_after() {
    for edit in [TagEdit::Add { tag: "new" }, TagEdit::Remove { tag: "a" }, TagEdit::Rename { from: "a", to: "z" }] {
        for places in [TagPlaces::Text, TagPlaces::Both] {
            assert_eq!(parses(|document| document.edit_tag(&edit, places).unwrap()), 2, "{edit:?} {places:?}");
        }
        let in_properties = |document: &Document| document.edit_tag(&edit, TagPlaces::Properties).unwrap();
        assert_eq!(parses(in_properties), 1, "only the result is parsed");
    }
    assert_eq!(parses(|document| document.rename_tag_tree("b", "z").unwrap().document), 2);
}

#[test]
fn an_edit_of_properties_parses_no_note() {
    let (path, value) = (PropertyPath::parse("k").unwrap(), YamlValue::Text("w".to_owned()));
    let (_, parses) = during(|| open().edit_property(&PropertyEdit::Set { path: &path, value: &value }).unwrap());
    assert_eq!(parses, 0);
}

#[test]
fn replaced_text_parses_no_note() {
    let (_, parses) = during(|| open().replace_text("text", "new", Occurrence::Unique, 1000).unwrap());
    assert_eq!(parses, 0);
}

#[test]
fn a_section_is_parsed_once_before_and_once_after() {
    fn section(heading: &Heading) -> SectionEdit<'_> {
        SectionEdit { heading, part: SectionPart::Own, blanks: BlankLines::Kept }
    }
    let replaced =
        |document: &Document| document.replace_body(&section(&document.note().headings[1]), "new\n").unwrap().document;
    assert_eq!(parses(replaced), 2);
    let renamed = |document: &Document| document.rename_heading(&document.note().headings[1], "D").unwrap().document;
    assert_eq!(parses(renamed), 2);
    // One more for the block that the new text goes below, parsed only from the last heading on.
    let appended = |document: &Document| {
        document.append_to_section(&section(&document.note().headings[1]), "- new\n").unwrap().document
    };
    assert_eq!(parses(appended), 3);
}

#[test]
fn a_block_or_a_link_is_parsed_once_before_and_once_after() {
    let replaced = |document: &Document| document.replace_block(&document.note().blocks[0], "new").unwrap().document;
    assert_eq!(parses(replaced), 2);
    let renamed = |document: &Document| document.rename_block_id(&document.note().blocks[0], "n").unwrap().document;
    assert_eq!(parses(renamed), 2);
    let relocated = |document: &Document| {
        let link = LinkRelocation::link(&document.note().links[0], "I".to_owned()).unwrap();
        document.relocate_links(&[link]).unwrap().document
    };
    assert_eq!(parses(relocated), 2);
}

#[test]
fn a_patch_shares_what_its_edit_parses() {
    let patch = |operation, content| SectionPatch { operation, content, create: true, repeat: false, trim: false };
    for (target, operation, expected) in [
        (PatchTarget::Heading("B"), PatchOperation::Replace, 2),
        (PatchTarget::Heading("New"), PatchOperation::Add(InsertSide::Behind), 2),
        (PatchTarget::Block("id"), PatchOperation::Replace, 2),
        (PatchTarget::Block("id"), PatchOperation::Add(InsertSide::Behind), 2),
        (PatchTarget::Block("new"), PatchOperation::Replace, 2),
        (PatchTarget::Property("k"), PatchOperation::Replace, 1),
    ] {
        let patch = patch(operation, PatchContent::Text("more"));
        let patched = |document: &Document| document.patch_section(target, &patch).unwrap().document;
        assert_eq!(parses(patched), expected, "{target:?}");
    }
}
