//! The contents of a canvas (JSON Canvas, `.canvas`): the files it shows, the text of its cards, and the labels of
//! groups and lines. Nothing else is interpreted, and only files and texts are changed; `board` changes cards and lines.

mod board;

use std::{collections::HashMap, ops::Range};

use crate::count_steps;

pub use board::{CanvasBoard, CanvasItem, CanvasList, CanvasScalar};

/// A string in a canvas that names a file or is Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanvasValue {
    pub kind: CanvasKind,
    /// The JSON string in the canvas, including quotes.
    pub span: Range<usize>,
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanvasKind {
    /// A path in the vault: the file of a card, or the background of a group.
    Path,
    /// The part of its file that a file card shows, with its `#`.
    Subpath { file: String },
    /// The Markdown of a text card.
    Text,
    /// The label of a group or a line, or the address that a card shows.
    Label,
}

/// Deeper than any canvas, and shallow enough for any stack.
const DEEPEST: usize = 64;

/// The values of a canvas in file order; `None` if it is not JSON.
pub fn canvas_values(text: &str) -> Option<Vec<CanvasValue>> {
    let mut reader = CanvasReader { text, at: 0, depth: 0, found: Vec::new() };
    reader.space();
    // An empty file is an empty canvas.
    if reader.at == text.len() {
        return Some(Vec::new());
    }
    reader.value(CanvasPlace::Top)?;
    reader.space();
    // Anything after the first value means that it is not JSON, and then nothing may be changed.
    (reader.at == text.len()).then_some(())?;
    reader.found.sort_by_key(|value| value.span.start);
    Some(reader.found)
}

/// The canvas with other values at these spans, which are in order; every other byte is kept.
pub fn with_canvas_values(text: &str, values: &[(Range<usize>, String)]) -> Option<String> {
    let mut edited = String::with_capacity(text.len());
    let mut end = 0;
    for (span, value) in values {
        count_steps(value.len() + 1);
        edited += text.get(end..span.start)?;
        edited += &requoted(text.get(span.clone())?, value)?;
        end = span.end;
    }
    edited += text.get(end..)?;
    Some(edited)
}

/// What a value of a canvas counts.
const CANVAS_STEPS: usize = 16;

/// How far to search for where two texts match again, and how much has to match.
const REACH: usize = 256;
const ALIKE: usize = 12;

/// A JSON string for another value that keeps the bytes that both have in common. Writers differ in what they escape,
/// and unchanged parts stay as they were written; new text is written like the rest.
fn requoted(written: &str, value: &str) -> Option<String> {
    let old = letters(written)?;
    let new: Vec<char> = value.chars().collect();
    // A new letter is escaped like an equal letter of the old string, if there is one.
    // In reverse, so that of several forms of a letter the first one is kept.
    let own: HashMap<char, &str> = old.iter().rev().copied().collect();
    let mut quoted = String::with_capacity(written.len() + value.len());
    let add = |quoted: &mut String, letters: &[char]| {
        for letter in letters {
            match own.get(letter) {
                Some(form) => *quoted += form,
                None => push_escaped(quoted, *letter),
            }
        }
    };
    quoted.push('"');
    let (mut read, mut done) = (0, 0);
    while done < new.len() {
        if let Some((letter, form)) = old.get(read)
            && *letter == new[done]
        {
            quoted += form;
            (read, done) = (read + 1, done + 1);
            continue;
        }
        // The texts differ here: insert up to the point where they match again.
        let (left, added) = alike_again(&old[read..], &new[done..]);
        add(&mut quoted, &new[done..done + added]);
        (read, done) = (read + left, done + added);
    }
    quoted.push('"');
    Some(quoted)
}

/// After how many letters of each the two texts match again, or end.
fn alike_again(old: &[(char, &str)], new: &[char]) -> (usize, usize) {
    let goes_on = |left: usize, added: usize| {
        let (old, new) = (&old[left..], &new[added..]);
        let alike = old.iter().zip(new).take(ALIKE).take_while(|((one, _), other)| one == *other).count();
        alike == ALIKE || (alike == old.len() && alike == new.len())
    };
    // By distance from the difference, the nearest point first.
    let near = (1..=REACH).flat_map(|both| (0..=both).map(move |left| (left, both - left)));
    let mut near = near.filter(|(left, added)| *left <= old.len() && *added <= new.len());
    let end = || {
        let alike = old.iter().rev().zip(new.iter().rev()).take_while(|((one, _), other)| one == *other).count();
        (old.len() - alike, new.len() - alike)
    };
    // Nothing near: keep at least the common end.
    near.find(|(left, added)| goes_on(*left, *added)).unwrap_or_else(end)
}

/// The letters of a JSON string, and how each is written.
fn letters(written: &str) -> Option<Vec<(char, &str)>> {
    let mut reader = CanvasReader { text: written, at: 0, depth: 0, found: Vec::new() };
    reader.take(b'"')?;
    let mut letters = Vec::new();
    loop {
        let start = reader.at;
        let Some(letter) = reader.letter()? else { return Some(letters) };
        letters.push((letter, &written[start..reader.at]));
    }
}

fn push_escaped(quoted: &mut String, letter: char) {
    match letter {
        '"' => *quoted += "\\\"",
        '\\' => *quoted += "\\\\",
        '\n' => *quoted += "\\n",
        '\r' => *quoted += "\\r",
        '\t' => *quoted += "\\t",
        letter if letter < ' ' => *quoted += &format!("\\u{:04x}", u32::from(letter)),
        letter => quoted.push(letter),
    }
}

/// Where in a canvas a value is, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CanvasPlace {
    Top,
    Nodes,
    Node,
    Edges,
    Edge,
    Elsewhere,
}

struct CanvasReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    found: Vec<CanvasValue>,
}

/// The strings of a node.
#[derive(Default)]
struct CanvasNode {
    kind: String,
    strings: Vec<(String, Range<usize>, String)>,
}

impl CanvasReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        self.space();
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn value(&mut self, place: CanvasPlace) -> Option<()> {
        count_steps(CANVAS_STEPS);
        self.space();
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let read = match self.peek()? {
            b'{' => self.object(place),
            b'[' => self.list(match place {
                CanvasPlace::Nodes => CanvasPlace::Node,
                CanvasPlace::Edges => CanvasPlace::Edge,
                CanvasPlace::Top | CanvasPlace::Node | CanvasPlace::Edge | CanvasPlace::Elsewhere => {
                    CanvasPlace::Elsewhere
                }
            }),
            b'"' => self.string().map(|_| ()),
            _ => self.word(),
        };
        self.depth -= 1;
        read
    }

    fn list(&mut self, place: CanvasPlace) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.value(place)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    fn object(&mut self, place: CanvasPlace) -> Option<()> {
        self.take(b'{')?;
        // The kind of a node may come after its strings, so they are collected first.
        let mut node = CanvasNode::default();
        if self.take(b'}').is_none() {
            loop {
                self.space();
                let (_, key) = self.string()?;
                self.take(b':')?;
                self.space();
                // Only strings of nodes and edges matter; everything else is skipped.
                if matches!(place, CanvasPlace::Node | CanvasPlace::Edge) && self.peek()? == b'"' {
                    let (span, value) = self.string()?;
                    if key == "type" {
                        node.kind.clone_from(&value);
                    }
                    node.strings.push((key, span, value));
                } else {
                    self.value(match (place, &*key) {
                        (CanvasPlace::Top, "nodes") => CanvasPlace::Nodes,
                        (CanvasPlace::Top, "edges") => CanvasPlace::Edges,
                        _ => CanvasPlace::Elsewhere,
                    })?;
                }
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b'}')?;
        }
        // Of duplicate keys the last counts, as in most JSON parsers.
        let file = node.strings.iter().rev().find(|(key, ..)| key == "file").map(|(_, _, file)| file.clone());
        for (key, span, value) in node.strings {
            let kind = match (&*node.kind, &*key, &file) {
                (_, "label", _) if place == CanvasPlace::Edge => CanvasKind::Label,
                _ if place == CanvasPlace::Edge => continue,
                ("group", "label", _) | ("link", "url", _) => CanvasKind::Label,
                ("file", "file", _) | ("group", "background", _) => CanvasKind::Path,
                ("file", "subpath", Some(file)) => CanvasKind::Subpath { file: file.clone() },
                ("text", "text", _) => CanvasKind::Text,
                _ => continue,
            };
            self.found.push(CanvasValue { kind, span, value });
        }
        Some(())
    }

    /// A number, `true`, `false` or `null`; which one does not matter.
    fn word(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn string(&mut self) -> Option<(Range<usize>, String)> {
        let start = self.at;
        self.take(b'"')?;
        let mut value = String::new();
        while let Some(letter) = self.letter()? {
            value.push(letter);
        }
        Some((start..self.at, value))
    }

    /// The next letter of a string; `None` at its end.
    fn letter(&mut self) -> Option<Option<char>> {
        let letter = self.text.get(self.at..)?.chars().next()?;
        self.at += letter.len_utf8();
        match letter {
            '"' => Some(None),
            '\\' => self.escape().map(Some),
            // JSON allows no control character in a string.
            letter if letter < ' ' => None,
            letter => Some(Some(letter)),
        }
    }

    fn escape(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                // A letter beyond the first plane has two halves.
                if self.text.get(self.at..self.at + 2)? != "\\u" {
                    return None;
                }
                self.at += 2;
                let second = self.hex()?.checked_sub(0xdc00).filter(|second| *second < 0x400)?;
                char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)?
            }
            _ => return None,
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANVAS: &str = "{\n\t\"nodes\":[\n\t\t{\"id\":\"a\",\"type\":\"file\",\"subpath\":\"#A\",\"file\":\"d/Old \\u00e4.md\",\"x\":-1},\n\
                          \t\t{\"type\":\"text\",\"text\":\"see [[Old]]\\n\\ud83e\\udd80\",\"extra\":{\"file\":\"no\"}},\n\
                          \t\t{\"type\":\"group\",\"label\":\"G\",\"background\":\"i.png\",\"file\":\"no\"}\n\t],\n\t\"edges\":[{\"type\":\"text\",\"text\":\"no\",\"label\":\"E\"}]\n}";

    #[test]
    fn files_and_texts_are_found_where_they_mean_something() {
        let found = canvas_values(CANVAS).unwrap();
        let shown: Vec<_> = found.iter().map(|value| (value.kind.clone(), value.value.as_str())).collect();
        let expected = [
            (CanvasKind::Subpath { file: "d/Old ä.md".to_owned() }, "#A"),
            (CanvasKind::Path, "d/Old ä.md"),
            (CanvasKind::Text, "see [[Old]]\n🦀"),
            (CanvasKind::Label, "G"),
            (CanvasKind::Path, "i.png"),
            (CanvasKind::Label, "E"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(&CANVAS[found[1].span.clone()], "\"d/Old \\u00e4.md\"");
    }

    #[test]
    fn only_the_values_change() {
        let found = canvas_values(CANVAS).unwrap();
        let edited = with_canvas_values(CANVAS, &[(found[1].span.clone(), "New \"1\".md".to_owned())]).unwrap();
        assert_eq!(edited, CANVAS.replace("d/Old \\u00e4.md", "New \\\"1\\\".md"));
        assert_eq!(canvas_values(&edited).unwrap()[1].value, "New \"1\".md");
    }

    #[test]
    fn unchanged_letters_keep_their_spelling() {
        let written = r#""Gr\u00fc\u00DF\/e [[Old]] und ü \u00fc, \/ / [[d\/Old|x]]\ud83e\udd80 \u0041 \n""#;
        for (value, expected) in [
            (
                "Grüß/e [[New]] und ü ü, / / [[e/New|x]]🦀 A \n",
                written.replace("[[Old]]", "[[New]]").replace(r"d\/Old", r"e\/New"),
            ),
            ("Grüß/e [[Old]] und ü ü, / / [[d/Old|x]]🦀 A \n", written.to_owned()),
            ("", "\"\"".to_owned()),
            ("ü\"", r#""\u00fc\"""#.to_owned()),
        ] {
            let edited = requoted(written, value).unwrap();
            assert_eq!(edited, expected);
            assert_eq!(letters(&edited).unwrap().iter().map(|(letter, _)| letter).collect::<String>(), value);
        }
        let long = |middle: &str| format!("ü{middle}{}", "/".repeat(2_000));
        let written = format!(r#""\u00fc{}""#, r"\/".repeat(2_000));
        let edited = requoted(&written, &long(&"new".repeat(500))).unwrap();
        assert_eq!(edited, written.replacen("fc", &format!("fc{}", "new".repeat(500)), 1));
    }

    #[test]
    fn a_file_that_is_not_json_is_not_a_canvas() {
        for text in
            ["{", "[1,]", "{\"a\" 1}", "{} x", "{\"nodes\":[{\"type\":\"file\",\"file\":\"\\x\"}]}", "\"\u{1}\""]
        {
            assert_eq!(canvas_values(text), None, "{text}");
        }
        assert_eq!(canvas_values(&"[".repeat(100_000)), None);
        for text in ["", " \n", "{}", "[]", "null"] {
            assert_eq!(canvas_values(text), Some(Vec::new()), "{text}");
        }
    }
}
