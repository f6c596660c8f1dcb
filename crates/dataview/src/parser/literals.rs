//! Texts, numbers, dates, durations, links and tags.

use crate::{
    letters::{is_space, linkable_heading},
    syntax::{DateShorthand, FieldLiteral},
};
use lapidary_query::{DateValue, DateZone, DurationValue, LinkValue, LuxonZone, literal};

use super::DqlParser;

impl DqlParser<'_> {
    pub(super) fn boolean(&mut self) -> Option<bool> {
        let words = [("true", true), ("false", false), ("True", true), ("False", false)];
        // Any prefix counts, as in Dataview's grammar.
        let (word, value) = words.into_iter().find(|(word, _)| self.rest().starts_with(word))?;
        self.at += word.len();
        Some(value)
    }

    pub(super) fn number(&mut self) -> Option<f64> {
        match literal::number(self.rest()) {
            Some((number, rest)) => {
                self.at = self.text.len() - rest.len();
                Some(number)
            }
            None => self.miss("a number"),
        }
    }

    /// `"…"`, where only quotes and backslashes are escaped: `"\d"` stays two characters.
    pub(super) fn string(&mut self) -> Option<String> {
        let Some(inside) = self.rest().strip_prefix('"') else { return self.miss("a text in quotes") };
        let mut text = String::new();
        let mut characters = inside.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    // The opening quote and this one.
                    self.at += at + 2;
                    return Some(text);
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                    Some((_, other)) => {
                        // Not an escape: regular expressions are written with single backslashes.
                        text.push('\\');
                        text.push(other);
                    }
                    // The text ends with a backslash.
                    None => break,
                },
                c => text.push(c),
            }
        }
        self.attempt(|parser| {
            // The fault is at the end, where the quote is missing, and not at the start of the text.
            parser.at = parser.text.len();
            parser.miss("a quote at the end of the text")
        })
    }

    /// `#` and what follows, which may be nothing.
    pub(super) fn tag(&mut self) -> Option<String> {
        let Some(name) = self.rest().strip_prefix('#') else { return self.miss("a tag") };
        // JavaScript's white space has one character more than Rust's.
        let end = name.find(|c| is_space(c) || !literal::is_in_tag(c)).unwrap_or(name.len());
        let tag = &self.rest()[..=end];
        self.at += tag.len();
        Some(tag.to_owned())
    }

    pub(super) fn link(&mut self) -> Option<LinkValue> {
        let inner = self.rest().strip_prefix("[[").and_then(|inside| {
            // A bracket inside ends the attempt, so that a list of lists is not taken for a link.
            let end = inside.find(['[', ']'])?;
            inside[end..].starts_with("]]").then(|| &inside[..end])
        });
        let Some(inner) = inner else { return self.miss("a link") };
        // With both pairs of brackets.
        self.at += inner.len() + 4;
        Some(inferred_link(inner, false))
    }

    pub(super) fn date_literal(&mut self) -> Option<FieldLiteral> {
        self.eat("date(")?;
        self.spaces();
        let shorthand = DateShorthand::WORDS.into_iter().find(|(word, _)| self.rest().starts_with(word));
        let date = match shorthand {
            Some((word, shorthand)) => {
                self.at += word.len();
                FieldLiteral::Shorthand(shorthand)
            }
            None => match existing_date(self.rest()) {
                Some((date, rest)) => {
                    self.at = self.text.len() - rest.len();
                    FieldLiteral::Date(date)
                }
                None => return self.miss("a date such as 2026-05-13 or today"),
            },
        };
        self.spaces();
        self.eat(")")?;
        Some(date)
    }

    pub(super) fn duration_literal(&mut self) -> Option<DurationValue> {
        self.eat("dur(")?;
        self.spaces();
        let Some((duration, rest)) = literal::dataview_duration(self.rest()) else {
            return self.miss("a duration such as 4 hours");
        };
        self.at = self.text.len() - rest.len();
        self.spaces();
        self.eat(")")?;
        Some(duration)
    }
}

/// A date whose zone exists.
fn existing_date(text: &str) -> Option<(DateValue, &str)> {
    literal::dataview_date(text).filter(|(date, _)| match &date.zone {
        DateZone::Named(name) => LuxonZone::named(name, &LuxonZone::UTC).is_some(),
        DateZone::Local | DateZone::Offset(_) => true,
    })
}

/// A text that is a date or, where they are allowed, a shorthand as a whole.
pub(crate) fn parsed_date(text: &str, shorthands: bool) -> Option<FieldLiteral> {
    if shorthands {
        // Only whole texts: a word followed by more is neither a shorthand nor a date.
        let word = DateShorthand::WORDS.into_iter().find(|(word, _)| text.starts_with(word));
        if let Some((word, shorthand)) = word {
            return (word == text).then_some(FieldLiteral::Shorthand(shorthand));
        }
    }
    existing_date(text).filter(|(_, rest)| rest.is_empty()).map(|(date, _)| FieldLiteral::Date(date))
}

/// A text that is a duration as a whole.
pub(crate) fn parsed_duration(text: &str) -> Option<DurationValue> {
    literal::dataview_duration(text).filter(|(_, rest)| rest.is_empty()).map(|(duration, _)| duration)
}

/// What the inside of a wikilink means: the first bar without a backslash begins the display, `#^` a block, `#` a
/// heading, of which only the first counts.
pub(crate) fn inferred_link(inner: &str, embed: bool) -> LinkValue {
    let bytes = inner.as_bytes();
    // In a table the bar of a link is escaped.
    let bar = (0..bytes.len()).find(|&at| bytes[at] == b'|' && (at == 0 || bytes[at - 1] != b'\\'));
    let (target, display) = match bar {
        Some(at) => (&inner[..at], Some(inner[at + 1..].to_owned())),
        None => (inner, None),
    };
    // After the bar was found, so that an escaped one is never taken for it.
    let target = target.replace("\\|", "|");
    let (path, subpath) = inferred_target(&target);
    LinkValue { path, subpath, display, embed }
}

/// The path and the place in the file that a target without display names.
pub(crate) fn inferred_target(target: &str) -> (String, Option<String>) {
    if let Some((path, block)) = target.split_once("#^") {
        // Only the first of several counts.
        let block = block.split("#^").next().unwrap_or_default();
        return (path.to_owned(), Some(format!("^{block}")));
    }
    match target.split_once('#') {
        Some((path, heading)) => {
            let heading = heading.split('#').next().unwrap_or_default();
            (path.to_owned(), Some(linkable_heading(heading)))
        }
        None => (target.to_owned(), None),
    }
}
