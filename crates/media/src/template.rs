//! Templates of office documents, filled with values that the parent sent along.

use lapidary_office::{FilledDocument, OfficeFormat, TemplateFault, TemplateFilling, fill_template};
use lapidary_operation::{FilledFacts, FilledTemplate};
use lapidary_toolkit::template;
use lapidary_vault::{DecodeFault, DocumentKind};

/// The template behind the values, with them in it.
pub(crate) fn filled(
    kind: DocumentKind,
    bytes: &[u8],
    values_bytes: usize,
    most_bytes: usize,
) -> Result<FilledTemplate, DecodeFault> {
    let format = match kind {
        DocumentKind::Docx => OfficeFormat::Docx,
        DocumentKind::Pptx => OfficeFormat::Pptx,
        DocumentKind::Xlsx => OfficeFormat::Xlsx,
        // The parent asks for these three only.
        _ => return Err(DecodeFault::Broken),
    };
    // One stream carries both, so the job says where the values end.
    let (values, document) = bytes.split_at_checked(values_bytes).ok_or(DecodeFault::Broken)?;
    let filling = TemplateFilling::from_bytes(values).ok_or(DecodeFault::Broken)?;
    let clock = &filling.clock;
    let others = |name: &str| {
        // The time of the call, sent along: dates do not depend on when this process runs.
        let moment = (clock.seconds, clock.offset_seconds);
        template::clock_value(moment, &clock.date_format, &clock.time_format, name)
    };
    let made = fill_template(format, document, &filling, &others, most_bytes).map_err(fault)?;
    let FilledDocument { bytes, filled, unknown, pictures_left_out, slides, rows, is_detached } = made;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let facts = FilledFacts {
        filled: count(filled),
        unknown,
        pictures_left_out: count(pictures_left_out),
        slides: count(slides),
        rows: count(rows),
        is_detached,
    };
    Ok(FilledTemplate { facts, bytes })
}

fn fault(fault: TemplateFault) -> DecodeFault {
    match fault {
        TemplateFault::Broken => DecodeFault::Broken,
        TemplateFault::Locked => DecodeFault::Locked,
        TemplateFault::Macros => DecodeFault::Macros,
        TemplateFault::Linked => DecodeFault::Linked,
        TemplateFault::Unpacked => DecodeFault::Unpacked,
        TemplateFault::TooLarge => DecodeFault::Output,
    }
}
