//! XML that is changed in places: every byte that is not meant stays as it is.

use std::ops::Range;

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::TemplateFault;

/// Deeper nesting is not read.
const DEEPEST: usize = 256;
/// More tokens than any document has.
const MOST_TOKENS: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Start,
    End,
    /// An element that ends where it starts.
    Empty,
    /// Characters, also those that are escaped.
    Text,
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct XmlToken<'x> {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
    /// The name of an element without its prefix, which documents choose on their own.
    pub(super) name: &'x str,
    local: Range<usize>,
}

impl XmlToken<'_> {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// An element that begins here, with or without content.
    pub(crate) fn is_start(&self, name: &str) -> bool {
        matches!(self.kind, TokenKind::Start | TokenKind::Empty) && self.is(name)
    }

    pub(super) fn is_opening(&self, name: &str) -> bool {
        self.kind == TokenKind::Start && self.is(name)
    }

    pub(super) fn is_end(&self, name: &str) -> bool {
        self.kind == TokenKind::End && self.is(name)
    }

    /// The prefix of its name in the part, with its `:`; often empty.
    pub(super) fn prefix<'p>(&self, xml: &'p str) -> &'p str {
        xml[self.span.start..self.local.start].trim_start_matches(['<', '/'])
    }

    pub(super) fn is_empty_element(&self) -> bool {
        self.kind == TokenKind::Empty
    }
}

/// Everything in a part, in order; one that is not well-formed is refused.
pub(super) fn tokens(xml: &str) -> Result<Vec<XmlToken<'_>>, TemplateFault> {
    let mut reader = Reader::from_str(xml);
    let (mut found, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    loop {
        let event = reader.read_event().map_err(|_| TemplateFault::Broken)?;
        let end = usize::try_from(reader.buffer_position()).map_err(|_| TemplateFault::Broken)?;
        let kind = match &event {
            Event::Start(_) => {
                depth += 1;
                TokenKind::Start
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                TokenKind::End
            }
            Event::Empty(_) => TokenKind::Empty,
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => TokenKind::Text,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => TokenKind::Other,
            // With one, an entity could mean anything and grow without end.
            Event::DocType(_) => return Err(TemplateFault::Broken),
            Event::Eof if depth == 0 => return Ok(found),
            Event::Eof => return Err(TemplateFault::Broken),
        };
        // Each token takes more memory than the bytes it is made of.
        if depth > DEEPEST || found.len() > MOST_TOKENS {
            return Err(TemplateFault::Unpacked);
        }
        let span = at..end;
        let local = match kind {
            TokenKind::Start | TokenKind::End | TokenKind::Empty => local_name(xml, &span),
            TokenKind::Text | TokenKind::Other => span.start..span.start,
        };
        found.push(XmlToken { kind, span, name: &xml[local.clone()], local });
        at = end;
    }
}

/// Where the name of an element is, without its prefix.
fn local_name(xml: &str, span: &Range<usize>) -> Range<usize> {
    let tag = &xml[span.clone()];
    let from = tag.find(|letter: char| !matches!(letter, '<' | '/')).unwrap_or(tag.len());
    let length = tag[from..].find(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '/')).unwrap_or(0);
    let name = &tag[from..from + length];
    let prefix = name.find(':').map_or(0, |at| at + 1);
    span.start + from + prefix..span.start + from + length
}

/// The characters of a token of text.
pub(super) fn characters(xml: &str, token: &XmlToken<'_>) -> Result<String, TemplateFault> {
    let mut reader = Reader::from_str(&xml[token.span.clone()]);
    let mut text = String::new();
    loop {
        match reader.read_event().map_err(|_| TemplateFault::Broken)? {
            Event::Text(part) => text.push_str(&part.xml10_content()),
            Event::CData(part) => text.push_str(&part.xml10_content()),
            Event::GeneralRef(entity) => match entity.resolve_char_ref() {
                // Only characters by number and the five of XML: a document has no other entities.
                Ok(Some(letter)) => text.push(letter),
                _ => text.push_str(quick_xml::escape::resolve_predefined_entity(&entity).ok_or(TemplateFault::Broken)?),
            },
            Event::Eof => return Ok(text),
            _ => return Err(TemplateFault::Broken),
        }
    }
}

/// An attribute of an element by its whole name.
pub(crate) fn attribute(xml: &str, token: &XmlToken<'_>, name: &str) -> Option<String> {
    let tag = xml[token.span.clone()].trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    let name_length = tag.find(char::is_whitespace).unwrap_or(tag.len());
    let start = BytesStart::from_content(tag, name_length);
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| attribute.key.into_inner() == name)?;
    Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
}

/// The tag of an element with another value of an attribute, which is added if it is missing.
pub(super) fn with_attribute(tag: &str, name: &str, value: &str) -> String {
    let value = crate::xml::escaped(value);
    // Searched with the blank in front, so that `r` is not found in another name.
    for blank in [' ', '\n', '\t', '\r'] {
        let Some(at) = tag.find(&format!("{blank}{name}=")) else { continue };
        let from = at + 1 + name.len() + 1;
        let Some(quote) = tag[from..].chars().next().filter(|letter| matches!(letter, '"' | '\'')) else { continue };
        let Some(length) = tag[from + 1..].find(quote) else { continue };
        return format!("{}\"{value}\"{}", &tag[..from], &tag[from + 2 + length..]);
    }
    let end = tag.len() - if tag.ends_with("/>") { 2 } else { 1 };
    format!("{} {name}=\"{value}\"{}", tag[..end].trim_end(), &tag[end..])
}

pub(super) fn first_start<'a, 'x>(all: &'a [XmlToken<'x>]) -> Option<&'a XmlToken<'x>> {
    all.iter().find(|token| matches!(token.kind, TokenKind::Start | TokenKind::Empty))
}

/// Where an element that starts at one token ends, as an index of tokens.
pub(super) fn end_of(all: &[XmlToken<'_>], start: usize) -> Option<usize> {
    if all.get(start)?.kind == TokenKind::Empty {
        return Some(start);
    }
    // Every element counts, whatever its name, because the part is known to be well-formed.
    let mut depth = 0_usize;
    for (number, token) in all.iter().enumerate().skip(start) {
        match token.kind {
            TokenKind::Start => depth += 1,
            TokenKind::End => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(number);
                }
            }
            _ => {}
        }
    }
    None
}

/// Entries without a prefix, in front of the end of the root and with its prefix.
pub(super) fn insert_before_end(xml: &str, entries: &str) -> Result<String, TemplateFault> {
    let all = tokens(xml)?;
    let root = first_start(&all).ok_or(TemplateFault::Broken)?;
    let tag = &xml[root.span.clone()];
    let entries = match root.prefix(xml) {
        "" => entries.to_owned(),
        // Some programs give every element one.
        prefix => entries.replace('<', &format!("<{prefix}")),
    };
    if root.kind == TokenKind::Empty {
        let name = &xml[root.span.start + 1..root.local.end];
        let open = tag.trim_end_matches('>').trim_end_matches('/').trim_end();
        return Ok(format!("{}{open}>{entries}</{name}>{}", &xml[..root.span.start], &xml[root.span.end..]));
    }
    let end = all.iter().rev().find(|token| token.kind == TokenKind::End).ok_or(TemplateFault::Broken)?;
    Ok(format!("{}{entries}{}", &xml[..end.span.start], &xml[end.span.start..]))
}

/// Changes of a text, by places in it.
#[derive(Default)]
pub(super) struct TextEdits(Vec<(Range<usize>, String)>);

impl TextEdits {
    pub(super) fn replace(&mut self, span: Range<usize>, text: String) {
        self.0.push((span, text));
    }

    /// Of changes that overlap, the outer one counts.
    pub(super) fn apply(mut self, text: &str, most: usize) -> Result<String, TemplateFault> {
        self.0.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let (mut changed, mut at) = (String::with_capacity(text.len()), 0);
        for (span, new) in self.0 {
            if span.start < at {
                continue;
            }
            changed.push_str(&text[at..span.start]);
            changed.push_str(&new);
            at = span.end;
            if changed.len() > most {
                return Err(TemplateFault::TooLarge);
            }
        }
        changed.push_str(&text[at..]);
        Ok(changed)
    }
}

/// The tokens of a part that the tests know to be well-formed.
#[cfg(test)]
pub(crate) fn tokens_for_tests(xml: &str) -> Vec<XmlToken<'_>> {
    tokens(xml).unwrap_or_else(|fault| panic!("{fault:?} in {xml}"))
}
