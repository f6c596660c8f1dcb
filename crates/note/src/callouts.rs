//! Finds callouts in quotes.

use std::ops::Range;

use crate::{
    Callout, CalloutFold,
    span::{line_end, trim},
};

/// The callout that a quote is, if its first line says so. The quote starts at its first `>`.
pub(crate) fn callout(text: &str, quote: Range<usize>) -> Option<Callout> {
    let inside = text[quote.clone()].strip_prefix('>')?.trim_start_matches([' ', '\t']);
    let open = quote.end - inside.len();
    // Checked before anything longer: nested quotes share one line.
    inside.starts_with("[!").then_some(())?;
    let end = line_end(text, open).min(quote.end);
    let inner = &text[open + 2..end];
    let close = open + 2 + inner.find(']')?;
    let (kind, metadata) = match text[open + 2..close].find('|') {
        Some(pipe) => (open + 2..open + 2 + pipe, Some(trim(text, open + 3 + pipe..close))),
        None => (open + 2..close, None),
    };
    let kind = trim(text, kind);
    if kind.is_empty() {
        return None;
    }
    let fold = match text.as_bytes().get(close + 1) {
        Some(b'+') => Some(CalloutFold::Open),
        Some(b'-') => Some(CalloutFold::Closed),
        _ => None,
    };
    let title = trim(text, close + 1 + usize::from(fold.is_some())..end);
    let title = (!title.is_empty()).then_some(title);
    Some(Callout { span: quote, kind, metadata, fold, title, parent: None })
}
