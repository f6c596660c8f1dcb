//! XML as a sequence of elements and texts.

use lapidary_vault::DecodeFault;
use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
    name::QName,
};

/// Deeper nesting is not read.
const DEEPEST: usize = 256;

/// What comes next. An element without content is one that starts and ends.
pub(super) enum Markup<'e> {
    Start(OpenedElement<'e>),
    End(&'e str),
    Text(&'e str),
}

pub(super) struct OpenedElement<'e> {
    start: &'e BytesStart<'e>,
}

impl OpenedElement<'_> {
    /// Its name without the prefix: documents choose their own.
    pub(super) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// An attribute by its name without prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key.local_name().into_inner() == name)
    }

    /// An attribute by its whole name.
    pub(super) fn attribute_named(&self, name: &str) -> Option<String> {
        self.find(|key| key.into_inner() == name)
    }

    fn find(&self, is_wanted: impl Fn(QName<'_>) -> bool) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| is_wanted(attribute.key))?;
        Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
    }
}

/// Shows everything in a text, in order, until `take` returns `false`. Entities of a document's own are not expanded, so
/// none can grow.
pub(super) fn walk(xml: &str, mut take: impl FnMut(Markup<'_>) -> bool) -> Result<(), DecodeFault> {
    let mut reader = Reader::from_str(xml);
    // Text of a document that is not well-formed is still worth reading.
    reader.config_mut().check_end_names = false;
    let mut depth = 0_usize;
    loop {
        let goes_on = match reader.read_event().map_err(|_| DecodeFault::Broken)? {
            Event::Start(start) => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(DecodeFault::Unpacked);
                }
                take(Markup::Start(OpenedElement { start: &start }))
            }
            Event::Empty(start) => {
                take(Markup::Start(OpenedElement { start: &start }))
                    && take(Markup::End(start.local_name().into_inner()))
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                take(Markup::End(end.local_name().into_inner()))
            }
            Event::Text(text) => take(Markup::Text(&text.xml10_content())),
            Event::CData(text) => take(Markup::Text(&text.xml10_content())),
            Event::GeneralRef(entity) => match entity.resolve_char_ref() {
                Ok(Some(letter)) => take(Markup::Text(letter.encode_utf8(&mut [0; 4]))),
                _ => match quick_xml::escape::resolve_predefined_entity(&entity) {
                    Some(text) => take(Markup::Text(text)),
                    // Left out: what a document declares for itself is not expanded.
                    None => true,
                },
            },
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => true,
        };
        if !goes_on {
            return Ok(());
        }
    }
}
