//! Every edit on notes of every kind: nothing panics, and nothing outside the addressed part changes. A short run as a
//! test; `BOLERO_RANDOM_ITERATIONS` makes it longer, `cargo bolero test` gives it to a fuzzer.

use std::ops::Range;

use bolero::check;
use lapidary_note::*;

/// What notes are made of.
const PIECES: [&str; 48] = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "\t",
    "a",
    "word ",
    "é石",
    "# ",
    "## ",
    " ##",
    "===\n",
    "---\n",
    "- ",
    "* ",
    "1. ",
    "- [ ] ",
    "> ",
    "> [!note] ",
    "```\n",
    "~~~\n",
    "$$\n",
    "%%",
    "<!--",
    "-->",
    "|",
    "| - |\n",
    "\\",
    " ^id",
    "^id\n",
    " ^b-1\n",
    "[[x]]",
    "[[x#h|y]]",
    "[t](a%20b.md)",
    "[t](<a b>)",
    "[r]: d.md\n",
    "![[i.png|100]]",
    "#t ",
    "#t/u",
    "tags: ",
    "[a, b]\n",
    "k: v\n",
    "x:\n  - 1\n",
    "\"q\": 'r' # c\n",
    "&a ",
    "*a",
];

fn note(bytes: &[u8]) -> Vec<u8> {
    // Bytes beyond the pieces are used literally, so that files which are not text occur too.
    let mut file = Vec::new();
    for byte in bytes {
        match PIECES.get(usize::from(*byte) % 60) {
            Some(piece) => file.extend_from_slice(piece.as_bytes()),
            None => file.push(*byte & 0x7f),
        }
    }
    file
}

/// Whether an edit, if it was made, left everything outside a part unchanged, and the new document's own parse matches
/// its bytes.
fn keeps(document: &Document, part: Range<usize>, outcome: Result<EditResult, EditError>) {
    let Ok(edited) = outcome else { return };
    let (file, new) = (document.bytes(), edited.document.bytes());
    let span = document.file_span(part);
    assert!(new.len() + span.len() >= file.len());
    assert!(new.starts_with(&file[..span.start]), "{:?}", edited.document);
    assert!(new.ends_with(&file[span.end..]), "{:?}", edited.document);
    assert!(edited.document.shown().get(edited.span).is_some());
    is_known(&edited.document);
}

fn is_known(document: &Document) {
    let opened = open(document.bytes()).expect("text");
    assert_eq!((opened.shown(), opened.eol()), (document.shown(), document.eol()));
    assert_eq!(opened.note(), document.note());
}

fn open(file: &[u8]) -> Result<Document, NotUtf8> {
    Document::open(file.to_vec())
}

/// Runs a law over made-up notes and new text for them.
fn law(law: impl Fn(&Document, &str, (usize, usize)) + std::panic::RefUnwindSafe) {
    check!().with_type::<(Vec<u8>, Vec<u8>, u8, u8)>().for_each(|(bytes, content, a, b)| {
        let (file, content) = (note(bytes), String::from_utf8(note(content)).expect("text"));
        if let Ok(document) = open(&file) {
            law(&document, &content, (usize::from(*a), usize::from(*b)));
        }
    });
}

#[test]
fn ranges() {
    law(|document, content, (a, b)| {
        keeps(document, a.min(b)..a.max(b), document.replace_range(a..b, content));
        keeps(document, a..a, document.insert_at(a, content));
        let outcome = document.replace_range(a..b, content);
        if let (Ok(edited), false) = (outcome, document.eol() == LineEnding::Mixed) {
            let new = &edited.document;
            // A text that lost its only line ending forgot its kind.
            if new.eol() == document.eol() {
                let back = new.replace_range(edited.span, &document.shown()[a..b]);
                assert_eq!(back.unwrap().document, *document);
            }
        }
    });
}

#[test]
fn lines() {
    law(|document, content, (from, to)| {
        let span = LineRange { from, to }.span(document.shown());
        if let Ok(span) = span.clone() {
            keeps(document, span.clone(), document.replace_lines(LineRange { from, to }, content));
            keeps(document, span.clone(), document.replace_range(span, ""));
        } else {
            assert!(document.replace_lines(LineRange { from, to }, content).is_err());
        }
        let Ok(edited) = document.insert_lines(from, content) else { return };
        let new = &edited.document;
        if let (Ok(at), false, true) =
            (LineRange::one(from).span(document.shown()), content.is_empty(), new.eol() == document.eol())
        {
            let added = new.line_count() - document.line_count();
            let lines = LineRange { from, to: from + added - 1 }.span(new.shown()).unwrap();
            let back = new.replace_range(lines, "").unwrap();
            assert_eq!(back.document, *document, "{at:?}");
        }
    });
}

#[test]
fn sections() {
    law(|document, content, (a, b)| {
        let note = document.note();
        let Some(heading) = note.headings.get(a % note.headings.len().max(1)) else { return };
        let part = if b % 2 == 0 { SectionPart::Own } else { SectionPart::Subtree };
        let end = if b % 2 == 0 { heading.own.end } else { heading.section.end };
        let blanks = [BlankLines::AsSent, BlankLines::Kept, BlankLines::Trimmed][b % 3];
        let body = heading.body..end;
        let section = SectionEdit { heading, part, blanks };
        for edit in [Document::replace_body, Document::append_to_section, Document::prepend_to_section] {
            let outcome = edit(document, &section, content);
            if let Ok(edited) = &outcome {
                // The heading is there, and everything before it and after its section.
                let new = &edited.document;
                let after = new.note();
                let index = note.headings.iter().position(|other| other == heading).unwrap();
                assert_eq!(after.headings[index].text, heading.text);
                assert_eq!(after.headings[index].section.start, heading.section.start);
                // Blocks named before and after the section still are.
                let outside =
                    |block: &&Block| block.span.end.max(block.marker.end) <= heading.body || block.span.start >= end;
                let ids: Vec<&str> = after.blocks.iter().map(|block| &*block.id).collect();
                assert!(note.blocks.iter().filter(outside).all(|block| ids.contains(&&*block.id)));
            }
            keeps(document, body.clone(), outcome);
        }
    });
}

#[test]
fn headings_and_blocks() {
    law(|document, content, (a, b)| {
        let note = document.note();
        if let Some(heading) = note.headings.get(a % note.headings.len().max(1)) {
            let outcome = document.rename_heading(heading, content);
            if let Ok(edited) = &outcome {
                let new = &edited.document;
                let back = new.rename_heading(&new.note().headings[a % note.headings.len()], &heading.text);
                // An empty heading gets a space with its first text, and keeps it; an id stays with the heading.
                if !heading.text.is_empty() && !content.trim().is_empty() && !content.contains('^') {
                    assert_eq!(back.map(|edited| edited.document).as_ref(), Ok(document));
                }
            }
            keeps(document, heading.words.clone(), outcome);
        }
        if let Some(block) = note.blocks.get(b % note.blocks.len().max(1)) {
            keeps(document, block.span.clone(), document.replace_block(block, content));
            keeps(document, block.marker.clone(), document.rename_block_id(block, content.trim()));
            keeps(
                document,
                block.marker.clone(),
                document.rename_block_id(block, if a % 2 == 0 { "new-id" } else { "n" }),
            );
            // The current content of a block can be set again.
            if let Ok(edited) = document.replace_block(block, &document.shown()[block.span.clone()]) {
                let new = &edited.document;
                assert!(new.note().find_block(&block.id).is_some());
            }
        }
    });
}

/// The blocks of a note, as far as an edit of something else must not change them.
fn named(shown: &str) -> Vec<(String, BlockKind)> {
    Note::parse(shown).blocks.iter().map(|block| (block.id.clone(), block.kind)).collect()
}

#[test]
fn extended_blocks() {
    law(|document, content, (a, b)| {
        let note = document.note();
        let Some(block) = note.blocks.get(a % note.blocks.len().max(1)) else { return };
        for edit in [Document::append_to_block, Document::prepend_to_block] {
            let outcome = edit(document, block, content);
            if let Ok(edited) = &outcome {
                let new = &edited.document;
                let after = new.note();
                assert!(after.blocks.iter().any(|found| found.id.eq_ignore_ascii_case(&block.id)));
                let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
                assert!(words(new.shown()) >= words(document.shown()));
            }
            keeps(document, block.span.clone(), outcome);
        }
        let rows = vec![vec![content.to_owned(); 1 + b % 3]; b % 4];
        for edit in [Document::append_rows, Document::prepend_rows, Document::replace_rows] {
            let outcome = edit(document, block, &rows);
            if let Ok(edited) = &outcome {
                let new = &edited.document;
                let lines = |text: &str| text.split('\n').count();
                assert!(lines(new.shown()) <= lines(document.shown()) + rows.len());
            }
            keeps(document, block.span.clone(), outcome);
        }
    });
}

#[test]
fn missing_headings_and_blocks() {
    law(|document, content, (a, b)| {
        let note = document.note();
        let parent =
            note.headings.get(a % note.headings.len().max(1)).map(|heading| note.heading_path(heading).join("::"));
        let path = [Some("New".to_owned()), parent.map(|parent| format!("{parent}::New::Deep"))][b % 2].clone();
        if let Some(path) = path
            && let Ok(edited) = document.append_heading(&path, content)
        {
            let new = &edited.document;
            let after = new.note();
            assert!(after.find_heading(&path) != HeadingMatch::None, "{path:?}");
            // All headings are still below the same others.
            let paths = |note: &Note<'_>| -> Vec<Vec<String>> {
                let owned = |heading| note.heading_path(heading).into_iter().map(str::to_owned).collect();
                note.headings.iter().map(owned).collect()
            };
            let (mut left, after) = (paths(&note).into_iter().peekable(), paths(&after));
            for path in after {
                left.next_if_eq(&path);
            }
            assert_eq!(left.next(), None);
            let start = edited.span.start;
            keeps(document, start..start, Ok(edited));
        }
        let end = document.shown().len();
        if let Ok(edited) = document.append_block("new-id", content) {
            let new = &edited.document;
            assert!(new.note().find_block("new-id").is_some());
            assert!(named(new.shown()).starts_with(&named(document.shown())));
            keeps(document, end..end, Ok(edited));
        }
    });
}

/// Text without what the engine may add or drop at its ends, and without its kind of line endings.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn patched_sections() {
    law(|document, content, (a, b)| {
        let shown = document.shown();
        let note = document.note();
        let operation =
            [PatchOperation::Replace, PatchOperation::Add(InsertSide::Behind), PatchOperation::Add(InsertSide::Before)]
                [b % 3];
        let rows = YamlValue::List(vec![YamlValue::Text(content.to_owned()); 1 + a % 3]);
        let given = if b % 7 == 0 { PatchContent::Value(&rows) } else { PatchContent::Text(content) };
        let patch =
            SectionPatch { operation, content: given, create: b % 2 == 0, repeat: b % 5 == 0, trim: b % 11 == 0 };
        let made = |target: PatchTarget<'_>| {
            let patched = document.patch_section(target, &patch).ok()?;
            is_known(&patched.document);
            Some(patched)
        };
        let outside = |patched: &PatchResult, part: Range<usize>| {
            let span = document.file_span(part);
            let (file, new) = (document.bytes(), patched.document.bytes());
            assert!(new.starts_with(&file[..span.start]), "{:?}", patched.document);
            assert!(new.ends_with(&file[span.end..]), "{:?}", patched.document);
        };
        if let Some(heading) = note.headings.get(a % note.headings.len().max(1)) {
            let path = note.heading_path(heading).join("::");
            if let (HeadingMatch::One(meant), Some(patched)) =
                (note.find_heading(&path), made(PatchTarget::Heading(&path)))
            {
                outside(&patched, meant.body..meant.section.end);
                let new = &patched.document;
                let after = new.note();
                let index = note.headings.iter().position(|other| other == meant).unwrap();
                let found = &after.headings[index];
                assert_eq!((&found.text, found.section.start), (&meant.text, meant.section.start));
                // Everything is still there, or was to be replaced; and the new text stayed inside.
                let body = words(&new.shown()[found.body..found.section.end]).concat();
                if operation != PatchOperation::Replace {
                    let old = words(&shown[meant.body..meant.section.end]).concat();
                    // The id of the heading itself may be below it, and stays there.
                    let mut left = body.chars();
                    assert!(old.chars().all(|c| left.any(|there| there == c)), "{body:?} has not {old:?}");
                    // Items take the marks of the list that they join.
                    let unmarked = |text: String| text.replace(|c: char| "-*+.)".contains(c) || c.is_ascii_digit(), "");
                    let new = unmarked(words(content).concat());
                    assert!(unmarked(body.clone()).contains(&new), "{body:?} has not {content:?}");
                }
            }
        }
        if let Some(block) = note.blocks.get(a % note.blocks.len().max(1))
            && let Some(patched) = made(PatchTarget::Block(&block.id))
            && let Some(meant) = note.find_block(&block.id)
        {
            outside(&patched, meant.span.clone());
            let new = &patched.document;
            let after = new.note();
            assert!(after.find_block(&patched.target).is_some());
            // Blocks named before and after it still are; those within may have been replaced.
            let apart = |other: &&Block| {
                let whole = other.span.start.min(other.marker.start)..other.span.end.max(other.marker.end);
                whole.end <= meant.span.start || whole.start >= meant.span.end.max(meant.marker.end)
            };
            assert!(note.blocks.iter().filter(apart).all(|other| after.find_block(&other.id).is_some()));
        }
        if let Some(patched) = made(PatchTarget::Property("k")) {
            let block = Frontmatter::find(shown).map_or(0..0, |block| block.span);
            outside(&patched, block);
            let new = &patched.document;
            let block = Frontmatter::find(new.shown()).expect("properties");
            let read = block.properties(new.shown()).expect("that can be read");
            let (_, value) = read.iter().find(|(name, _)| name == "k").expect("the property");
            if let (PatchOperation::Replace, PatchContent::Text(_)) = (operation, given) {
                assert_eq!(value, &YamlValue::Text(content.replace("\r\n", "\n").replace('\r', "\n")));
            }
        }
    });
}

#[test]
fn property_links() {
    check!().with_type::<(Vec<u8>, Vec<u8>, u8)>().for_each(|(yaml, target, a)| {
        const VALUES: [&str; 10] = [
            "\"[[x#h|y]]\"",
            "'[[x]]'",
            "[\"[[x]]\", '[t](a.md)']",
            "\n  - \"[[x]]\"\n  - see [[x]]",
            "&a \"[[x]]\"",
            "*a",
            "|-\n  [[x]]",
            "{k: \"[[\\u0041]]\"}",
            "\"![[x]]\"",
            "word",
        ];
        let mut yaml_text = String::new();
        for (key, byte) in yaml.iter().take(8).enumerate() {
            yaml_text += &format!("k{key}: {}\n", VALUES[usize::from(*byte) % VALUES.len()]);
        }
        let file = format!("---\n{yaml_text}---\nbody [[x]]\n").into_bytes();
        let document = open(&file).unwrap();
        let target = String::from_utf8(note(target)).unwrap();
        let before = document.note();
        let links = before.property_links();
        let Some(link) = links.get(usize::from(*a) % links.len().max(1)) else { return };
        let target = if target.trim().is_empty() { "New note" } else { target.trim() };
        let retarget = LinkRetarget::link(&link.link, target).unwrap();
        let path = PropertyPath::parse(&link.key).unwrap();
        let Ok(edited) = document.retarget_property_link(&path, &retarget) else { return };
        let new = &edited.document;
        let after = new.note();
        let found = after.property_links();
        assert_eq!(found.len(), links.len());
        for (old, new) in links.iter().zip(&found) {
            assert_eq!(old.key, new.key);
            let expected =
                if old == link { target.replace('\u{a0}', " ") } else { old.link.target(&old.value).into_owned() };
            assert_eq!(new.link.target(&new.value), expected);
        }
    });
}

#[test]
fn tags_and_links() {
    law(|document, content, _| {
        let note = document.note();
        let tags: Vec<Range<usize>> = note.tags.iter().map(|tag| tag.span.clone()).collect();
        let all = tags.first().map_or(0, |tag| tag.start)..tags.last().map_or(0, |tag| tag.end);
        keeps(document, all.clone(), document.rename_tags(&tags, "renamed/tag"));
        // A line of tags is removed as a whole, at the end with the blank line before it.
        let shown = document.shown();
        let line = shown[..all.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = shown[all.end..].find('\n').map_or(shown.len(), |at| all.end + at + 1);
        keeps(document, line.saturating_sub(1)..line_end, document.remove_tags(&tags));
        keeps(document, shown.trim_end().len()..shown.len(), document.append_tags(&["one", content.trim()]));
        let target = content.trim();
        for link in &note.links {
            let Some(retarget) = LinkRetarget::link(link, target) else { continue };
            let outcome = document.retarget_links(&[retarget]);
            if let Ok(edited) = &outcome {
                let new = &edited.document;
                let after = new.note();
                let found = after.links.iter().find(|found| found.span.start == link.span.start).unwrap();
                assert_eq!((found.kind, found.embed, found.internal), (link.kind, link.embed, true));
                assert_eq!(found.target(new.shown()), target);
            }
            keeps(document, link.span.clone(), outcome);
        }
    });
}

#[test]
fn properties() {
    check!().with_type::<(Vec<u8>, Vec<u8>, Vec<u8>, u8, u8)>().for_each(|(yaml, body, value, a, b)| {
        let mut file = if a % 4 == 0 { Vec::new() } else { b"---\n".to_vec() };
        file.extend(note(yaml));
        file.extend_from_slice(b"\n---\n");
        file.extend(note(body));
        let Ok(document) = open(&file) else { return };
        let value = YamlValue::Text(String::from_utf8(note(value)).unwrap());
        let path = |index: u8| {
            let paths = ["k", "x", "tags", "q", "x.0", "tags.1", "new.deep", "a"];
            PropertyPath::parse(paths[usize::from(index) % paths.len()]).unwrap()
        };
        let (from, to) = (path(*a), path(*b));
        let all = Frontmatter::find(document.shown()).map_or(0..0, |block| block.span);
        for edit in [
            PropertyEdit::Set { path: &from, value: &value },
            PropertyEdit::Delete { path: &from },
            PropertyEdit::Append { path: &from, value: &value },
            PropertyEdit::Move { from: &from, to: &to },
        ] {
            keeps(&document, all.clone(), document.edit_property(&edit));
        }
        for edit in [TagEdit::Add { tag: "new" }, TagEdit::Remove { tag: "a" }, TagEdit::Rename { from: "b", to: "c" }]
        {
            keeps(&document, all.clone(), document.edit_property_tag(&edit));
        }
    });
}

#[test]
fn tag_trees() {
    law(|document, content, _| {
        for (from, to) in [("t", "z"), ("t", "t/u"), ("t/u", "t"), ("a", content.trim())] {
            let Ok(renamed) = document.rename_tag_tree(from, to) else { continue };
            let new = &renamed.document;
            is_known(new);
            assert_eq!(named(new.shown()), named(document.shown()));
            let tags = |note: &Note<'_>| note.tags.len();
            assert_eq!(tags(&new.note()), tags(&document.note()));
            if renamed.count == 0 {
                assert_eq!(renamed.document, *document);
            }
        }
    });
}

#[test]
fn tags_in_both_places_change_as_one_after_the_other() {
    law(|document, content, (a, _)| {
        let file = [&b"---\n"[..], document.bytes()].concat();
        let with_properties = open(&file).unwrap();
        let document = if a % 2 == 0 { document } else { &with_properties };
        let content = content.trim();
        for edit in [
            TagEdit::Add { tag: "new" },
            TagEdit::Add { tag: content },
            TagEdit::Remove { tag: "t" },
            TagEdit::Remove { tag: "a" },
            TagEdit::Rename { from: "t", to: "z" },
            TagEdit::Rename { from: "a", to: content },
        ] {
            let in_text = document.edit_tag(&edit, TagPlaces::Text);
            let expected = in_text.and_then(|edited| edited.edit_tag(&edit, TagPlaces::Properties));
            let both = document.edit_tag(&edit, TagPlaces::Both);
            assert_eq!(both, expected);
            both.iter().for_each(is_known);
        }
    });
}

#[test]
fn places_of_links() {
    law(|document, content, _| {
        let note = document.note();
        let place = content.trim();
        for link in &note.links {
            let Some(relocate) = LinkRelocation::link(link, place.to_owned()) else { continue };
            let outcome = document.relocate_links(&[relocate]);
            if let Ok(edited) = &outcome {
                let new = &edited.document;
                let after = new.note();
                let found = after.links.iter().find(|found| found.span.start == link.span.start).unwrap();
                assert_eq!((found.kind, found.embed), (link.kind, link.embed));
                assert_eq!(found.target(new.shown()), link.target(document.shown()));
                assert_eq!(found.decoded_subpath(new.shown()).unwrap(), format!("#{place}"));
            }
            keeps(document, link.span.clone(), outcome);
        }
    });
}

/// What patches are made of.
const PATCH_PIECES: [&str; 16] = [
    "@@ -1 +1 @@\n",
    "@@ -1,2 +1,2 @@\n",
    "@@ -0,0 +1 @@\n",
    "@@ -2,0 +3,2 @@ a\n",
    "@@ -3,1 +2,0 @@\r\n",
    " a\n",
    "-a\n",
    "+a\n",
    "-# \n",
    "+word \r\n",
    "\\ No newline at end of file\n",
    "\n",
    "--- a\n+++ b\n",
    "@@ -99999999999999999999 +1 @@\n",
    "-",
    "+é石",
];

#[test]
fn patches() {
    check!().with_type::<(Vec<u8>, Vec<u8>)>().for_each(|(bytes, pieces)| {
        let file = note(bytes);
        let Ok(document) = open(&file) else { return };
        let patch: String = pieces.iter().map(|byte| PATCH_PIECES[usize::from(*byte) % 16]).collect();
        let Ok(patch) = Patch::parse(&patch) else { return };
        let Ok(edited) = document.apply_patch(&patch) else { return };
        let new = &edited.document;
        assert!(new.shown().get(edited.span).is_some());
    });
}

#[test]
fn a_patch_of_whole_texts_leads_from_one_to_the_other() {
    law(|document, content, _| {
        let wanted = open(content.as_bytes()).unwrap();
        let marked = |mark: char, shown: &str| -> String {
            let lines = shown.split_inclusive('\n').map(|line| format!("{mark}{}\n", line.trim_end_matches('\n')));
            let unended = !shown.is_empty() && !shown.ends_with('\n');
            lines.chain(unended.then(|| "\\ No newline at end of file\n".to_owned())).collect()
        };
        let start = |lines: usize| usize::from(lines > 0);
        let (old, new) = (document.line_count(), wanted.line_count());
        let header = format!("@@ -{},{old} +{},{new} @@\n", start(old), start(new));
        let patch = format!("{header}{}{}", marked('-', document.shown()), marked('+', wanted.shown()));
        if old + new == 0 {
            return;
        }
        match document.apply_patch(&Patch::parse(&patch).unwrap()) {
            Ok(edited) => assert_eq!(edited.document.shown(), wanted.shown()),
            // A file with mixed line endings may not allow it; then nothing happens.
            Err(failure) => assert_eq!(failure, PatchFailure::Edit(EditError::MergedLineEnds)),
        }
    });
}
