//! A document of a template, which is filled where files are decoded.

use lapidary_note::HeldMemory;
use lapidary_office::{FillingClock, OfficeFormat, TemplateFilling};
use lapidary_operation::{
    Context, DecodeError, DecodeFault, DecodeJob, DecodedAttachment, Reason, bug, clipped, quote::quoted,
};
use lapidary_toolkit::{
    naming::{self, NamedFile},
    note_template,
};
use lapidary_vault::{DocumentKind, VaultPath, View};

use super::{MadeDocument, gathering::GatheredDocument};

/// What a template is sent with: the note, its pictures and its rows.
const MOST_VALUES: usize = 128 << 20;
/// How many names without a value a notice has.
const NAMED: usize = 10;

pub(super) fn fill(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    template: &str,
    format: OfficeFormat,
    gathered: GatheredDocument,
    most: usize,
) -> Result<MadeDocument, Reason> {
    let NamedFile { path, file, .. } = naming::find(context, view, template)?;
    let kind = checked_kind(tool, &path, format)?;
    let (date_format, time_format) = note_template::date_formats(view)?;
    // The other process knows no time zones.
    let (seconds, offset_seconds) = (context.now.timestamp().as_second(), context.now.offset().seconds());
    // They are sent as another copy, beside the template.
    let _sent = HeldMemory::of(gathered.memory() + file.bytes().len() as u64);
    let GatheredDocument { facts, properties, body, rows, held: _held, .. } = gathered;
    let given_rows = rows.as_ref().map(|rows| rows.rows.len());
    let filling = TemplateFilling {
        title: facts.title,
        properties,
        body,
        rows: rows.unwrap_or_default(),
        clock: FillingClock { seconds, offset_seconds, date_format, time_format },
    };
    let mut bytes = filling.to_bytes();
    let refused = |fault| Reason::TemplateRefused { path: path.clone(), fault };
    let values_bytes = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MOST_VALUES);
    let values_bytes = values_bytes.ok_or_else(|| refused(DecodeFault::Output))?;
    bytes.extend_from_slice(file.bytes());
    let job = DecodeJob::Template { kind, values_bytes, most_bytes: u32::try_from(most).unwrap_or(u32::MAX) };
    let decoded = context.attachments.decoder.decode(job, &bytes, &|| context.check());
    let made = match decoded {
        Ok(DecodedAttachment::Document(made)) => made,
        Ok(_) => return Err(bug!("a decoder has answered another job than it was given")),
        Err(DecodeError::Stopped(reason)) => return Err(*reason),
        Err(DecodeError::Fault(fault)) => return Err(refused(fault)),
    };
    let facts = made.facts;
    let mut notices = Vec::new();
    if facts.filled == 0 {
        notices.push("The template has no placeholder that has a value.".to_owned());
    }
    if !facts.unknown.is_empty() {
        let named: Vec<String> =
            facts.unknown.iter().take(NAMED).map(|name| quoted(&clipped(name)).to_string()).collect();
        let more = if facts.unknown.len() > named.len() { " and more" } else { "" };
        notices.push(format!("Placeholders without a value were left as they are: {}{more}.", named.join(", ")));
    }
    // Their names say nothing of why.
    if facts.unknown.iter().any(|name| name == "content" || name == "slide.title") {
        notices.push(
            "`{{content}}` and `{{slide.title}}` must be a whole paragraph of the text or of a slide.".to_owned(),
        );
    }
    if facts.rows == 0 && given_rows.is_some_and(|rows| rows > 0) {
        notices.push(
            "The rows have no place in the template: no `{{rows.column}}` names one of their columns.".to_owned(),
        );
    }
    if facts.pictures_left_out > 0 {
        notices.push("The pictures of the note have no place in the template.".to_owned());
    }
    if facts.is_detached {
        notices.push("The template's link to another template outside of the vault was left out.".to_owned());
    }
    let slides = (format == OfficeFormat::Pptx).then_some(facts.slides as usize);
    let rows = given_rows.is_some().then_some(facts.rows);
    Ok(MadeDocument { bytes: made.bytes, slides, sheets: Vec::new(), filled: Some(facts.filled), rows, notices })
}

/// A template is of the kind that the document is to be.
fn checked_kind(tool: &str, path: &VaultPath, format: OfficeFormat) -> Result<DocumentKind, Reason> {
    let (kind, own, problem) = match format {
        OfficeFormat::Docx => (DocumentKind::Docx, ".docx", "must be a `.docx`, like the document that is made"),
        OfficeFormat::Pptx => (DocumentKind::Pptx, ".pptx", "must be a `.pptx`, like the document that is made"),
        OfficeFormat::Xlsx => (DocumentKind::Xlsx, ".xlsx", "must be an `.xlsx`, like the document that is made"),
    };
    let name = path.name().to_lowercase();
    // Said before the bytes are looked at: what has macros says so by its name.
    if [".docm", ".dotm", ".pptm", ".potm", ".xlsm", ".xltm"].iter().any(|ending| name.ends_with(ending)) {
        return Err(Reason::TemplateRefused { path: path.clone(), fault: DecodeFault::Macros });
    }
    if name.ends_with(own) { Ok(kind) } else { Err(Reason::bad_argument(tool, "template", problem)) }
}
