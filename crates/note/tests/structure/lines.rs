//! Line endings and byte order marks do not change the structure.

use lapidary_note::Document;
use proptest::prelude::*;

use super::nasty;

/// The parts of a note, each as the text of the file behind its span.
fn behind(file: &str) -> Vec<String> {
    let text = Document::open(file.to_owned()).expect("pieces are text");
    let note = text.note();
    let spans = [
        note.headings.iter().map(|heading| heading.section.clone()).collect::<Vec<_>>(),
        note.blocks.iter().map(|block| block.span.clone()).collect(),
        note.links.iter().map(|link| link.span.clone()).collect(),
        note.tags.iter().map(|tag| tag.span.clone()).collect(),
        note.tasks.iter().map(|task| task.text.clone()).collect(),
        note.comments.iter().map(|comment| comment.span.clone()).collect(),
        note.readable_properties().iter().map(|property| property.value.span.clone()).collect(),
    ];
    spans.concat().into_iter().map(|span| file[text.file_span(span)].to_owned()).collect()
}

/// `PROPTEST_CASES` increases it.
fn config(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig { cases: given.cases.max(cases), failure_persistence: None, ..given }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn line_ends_and_a_byte_order_mark_change_nothing(choices in prop::collection::vec(any::<u8>(), 0..40)) {
        // A mark within the text would be at its start once another precedes it.
        let plain = nasty::text(&choices).replace('\u{feff}', "");
        let expected: Vec<String> = behind(&plain);
        let windows = plain.replace('\n', "\r\n");
        for (file, line_end) in [(windows.clone(), "\r\n"), (plain.replace('\n', "\r"), "\r"), (format!("\u{feff}{windows}"), "\r\n")] {
            let found: Vec<String> = behind(&file).into_iter().map(|part| part.replace(line_end, "\n")).collect();
            prop_assert_eq!(&found, &expected, "{:?}", file);
        }
    }
}
