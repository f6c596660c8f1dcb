//! What a person and a model are shown of a document that a change makes: its bytes say nothing to them.

use lapidary_note::counted;
use lapidary_tools::{Cancel, DecodeJob, DecodedAttachment, clipped, quote::visible};
use lapidary_vault::{Change, DocumentKind, DocumentPart, DocumentText};

use crate::ExecutorSetup;

/// How much text of a document is looked at.
const LOOKED_AT: u32 = 1 << 20;
/// Headings, slides or sheets that are named.
const MOST_NAMED: usize = 40;
/// Lines of a text without headings.
const FIRST_LINES: usize = 5;

/// The headings, slides or sheets of an office document that a change writes. Nothing for any other change.
pub(crate) fn outline(setup: &ExecutorSetup, cancel: &Cancel, change: &Change) -> Vec<String> {
    let kind = change.to().or(Some(change.path())).and_then(DocumentKind::of);
    let kind = kind.filter(|kind| matches!(kind, DocumentKind::Docx | DocumentKind::Pptx | DocumentKind::Xlsx));
    let Some(kind) = kind.filter(|_| !change.takes_away() && !change.bytes().is_empty()) else { return Vec::new() };
    let job = DecodeJob::Text { kind, most_bytes: LOOKED_AT };
    // By the process that reads documents of others: a template may have been one.
    match setup.attachments().decoder.decode(job, change.bytes(), &|| cancel.check()) {
        Ok(DecodedAttachment::Text(document)) => lines(&document),
        // It is shown by its kind and size alone.
        Ok(_) | Err(_) => vec!["its content cannot be shown".to_owned()],
    }
}

fn lines(document: &DocumentText) -> Vec<String> {
    let mut lines: Vec<String> = match document.kind {
        DocumentKind::Xlsx => document.parts.iter().map(|part| sheet(part, document.is_cut)).collect(),
        DocumentKind::Pptx => {
            let title = |part: &DocumentPart| part.label.clone().or(part.text.lines().next().map(str::to_owned));
            let slide =
                |part: &DocumentPart| format!("slide {}: {}", part.number, one_line(&title(part).unwrap_or_default()));
            document.parts.iter().map(slide).collect()
        }
        _ => {
            let text = || document.parts.iter().flat_map(|part| part.text.lines());
            let headings: Vec<String> = text().filter(|line| line.starts_with('#')).map(one_line).collect();
            // A letter has none.
            let begins = || text().filter(|line| !line.trim().is_empty()).take(FIRST_LINES).map(one_line).collect();
            if headings.is_empty() { begins() } else { headings }
        }
    };
    let more = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    } else if document.is_cut {
        lines.push("and more than is looked at".to_owned());
    }
    lines
}

fn sheet(part: &DocumentPart, is_cut: bool) -> String {
    let rows = part.text.lines().count();
    let columns = part.text.lines().map(|line| line.split('\t').count()).max().unwrap_or(0);
    let least = if is_cut { "at least " } else { "" };
    let name = one_line(part.label.as_deref().unwrap_or_default());
    format!("sheet {name}: {least}{} × {}", counted(rows, "row"), counted(columns, "column"))
}

fn one_line(text: &str) -> String {
    clipped(&visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")))
}
