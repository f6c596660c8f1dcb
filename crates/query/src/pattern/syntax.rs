//! Regular expressions as people write them, in a syntax that both engines parse alike.

use super::PatternError;

/// A regular expression in the syntax of the engines.
pub(super) struct TranslatedPattern {
    pub(super) text: String,
    /// It has lookaround, backreferences or atomic groups.
    pub(super) backtracks: bool,
    /// The same without these, so that it matches wherever the pattern does and in more places.
    pub(super) loose: String,
    refers_back: bool,
    /// Where each piece starts, here and in the original.
    places: Vec<(usize, usize)>,
}

impl TranslatedPattern {
    /// The byte of the original pattern for one of the translated pattern.
    pub(super) fn given_place(&self, at: usize) -> usize {
        let piece = self.places.partition_point(|(here, _)| *here <= at).checked_sub(1);
        piece.map_or(0, |piece| self.places[piece].1)
    }

    /// The same with these flags, which both engines support, for all of it.
    pub(super) fn with_flags(mut self, letters: &str) -> Self {
        if !letters.is_empty() {
            let front = format!("(?{letters})");
            self.text.insert_str(0, &front);
            self.loose.insert_str(0, &front);
            // Places of errors must still point into the given pattern.
            self.places.iter_mut().for_each(|(here, _)| *here += front.len());
        }
        self
    }
}

/// Translates a pattern. Errors that the engines find themselves are left to them; constructs that they would parse
/// differently, or in an unintended way, are translated or refused.
pub(super) fn translate(given: &str) -> Result<TranslatedPattern, PatternError> {
    let translated = translate_with(given, true)?;
    if translated.refers_back || !translated.backtracks {
        return Ok(translated);
    }
    // Unreferenced groups only cost time: to locate them, the engine searches much slower.
    translate_with(given, false)
}

/// The same, for callers that need the groups.
pub(super) fn translate_with_groups(given: &str) -> Result<TranslatedPattern, PatternError> {
    translate_with(given, true)
}

/// A literal text. With `loose_space`, every run of white space in it matches any other.
pub(super) fn literal(text: &str, loose_space: bool) -> Result<TranslatedPattern, PatternError> {
    let mut written = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| loose_space && c.is_whitespace()) {
        written += &regex_syntax::escape(&rest[..at]);
        written += r"\s+";
        // A run of white space is one place, whatever it consists of.
        rest = rest[at..].trim_start();
    }
    translate_with(&(written + &regex_syntax::escape(rest)), true)
}

/// The same for an expression in which the words that `\b` bounds are of ASCII letters, digits and underscores.
pub(super) fn translate_ascii_words(given: &str) -> Result<TranslatedPattern, PatternError> {
    const AUTOMATON_BOUND: &str = r"(?-u:\b)";
    const BACKTRACKER_BOUND: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
    let mut translated = translate_reading(given, true, true)?;
    // The backtracker knows no other words than those of all scripts.
    if translated.backtracks {
        // `loose` keeps the other spelling, as an automaton reads it.
        translated.text = translated.text.replace(AUTOMATON_BOUND, BACKTRACKER_BOUND);
    }
    Ok(translated)
}

fn translate_with(given: &str, keeps_groups: bool) -> Result<TranslatedPattern, PatternError> {
    translate_reading(given, keeps_groups, false)
}

fn translate_reading(given: &str, keeps_groups: bool, ascii_words: bool) -> Result<TranslatedPattern, PatternError> {
    let out = TranslatedPattern {
        text: String::new(),
        backtracks: false,
        loose: String::new(),
        refers_back: false,
        places: Vec::new(),
    };
    let mut translator = PatternTranslator {
        given,
        at: 0,
        keeps_groups,
        ascii_words,
        out,
        groups: Vec::new(),
        captures: Vec::new(),
        ahead: Vec::new(),
    };
    while let Some(c) = translator.begin_piece() {
        match c {
            '\\' => translator.escape(false)?,
            '[' => translator.class()?,
            '(' => translator.group()?,
            ')' => translator.end_group(),
            '{' => translator.brace(),
            _ => translator.write_char(c),
        }
    }
    // An error at the very end has a position too.
    translator.begin_piece();
    translator.check_ahead()?;
    Ok(translator.out)
}

struct PatternTranslator<'g> {
    given: &'g str,
    at: usize,
    keeps_groups: bool,
    ascii_words: bool,
    out: TranslatedPattern,
    /// The groups that are open.
    groups: Vec<OpenGroup>,
    /// The groups that can be referenced.
    captures: Vec<CaptureGroup<'g>>,
    /// References to groups that had not ended, and their positions.
    ahead: Vec<(Reference<'g>, usize)>,
}

struct OpenGroup {
    looks_around: bool,
    /// Its index, if it can be referenced.
    capture: Option<usize>,
}

struct CaptureGroup<'g> {
    name: Option<&'g str>,
    ended: bool,
}

#[derive(Clone, Copy)]
enum Reference<'g> {
    Number(&'g str),
    Name(&'g str),
}

impl<'g> PatternTranslator<'g> {
    fn rest(&self) -> &'g str {
        &self.given[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn begin_piece(&mut self) -> Option<char> {
        self.out.places.push((self.out.text.len(), self.at));
        self.next()
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    /// Takes everything up to and with the end, or nothing.
    fn eat_up_to(&mut self, end: char) -> Option<&'g str> {
        let length = self.rest().find(end)?;
        let taken = &self.rest()[..length];
        self.at += length + end.len_utf8();
        Some(taken)
    }

    fn looks_around(&self) -> bool {
        self.groups.iter().any(|group| group.looks_around)
    }

    fn write(&mut self, text: &str) {
        self.write_both(text, text);
    }

    fn write_both(&mut self, text: &str, loose: &str) {
        self.out.text.push_str(text);
        // What is in a lookaround does not consume text, so the loose pattern must not require it.
        if !self.looks_around() {
            self.out.loose.push_str(loose);
        }
    }

    fn write_char(&mut self, c: char) {
        self.write(c.encode_utf8(&mut [0; 4]));
    }

    fn write_escape(&mut self, c: char) {
        self.write(r"\");
        self.write_char(c);
    }

    /// A refusal of the current piece.
    fn refuse(&self, reason: impl Into<String>) -> PatternError {
        PatternError::Refused { reason: reason.into(), at: self.out.places.last().map(|(_, given)| *given) }
    }

    /// A brace that starts no repetition is literal, as in `{{title}}`.
    fn brace(&mut self) {
        if !begins_repetition(self.rest()) {
            self.write(r"\");
        }
        self.write("{");
    }

    fn class(&mut self) -> Result<(), PatternError> {
        let negated = self.eat("^");
        if self.rest().strip_prefix(']').is_some_and(is_behind_class) {
            self.at += 1;
            self.write(if negated { r"[\s\S]" } else { r"[^\s\S]" });
            return Ok(());
        }
        self.write(if negated { "[^" } else { "[" });
        if self.eat("]") {
            self.write(r"\]");
        }
        while let Some(c) = self.begin_piece() {
            match c {
                ']' => {
                    self.write("]");
                    return Ok(());
                }
                '\\' => self.escape(true)?,
                '[' => match posix_class(self.rest()) {
                    Some(name) => {
                        self.at += name.len();
                        self.write("[");
                        self.write(name);
                    }
                    None => self.write(r"\["),
                },
                // Two of them are set operations to the engines.
                '&' | '~' => self.write_escape(c),
                _ => self.write_char(c),
            }
        }
        Ok(())
    }

    fn group(&mut self) -> Result<(), PatternError> {
        if self.rest().starts_with('*') {
            return Err(self.refuse("verbs such as (*FAIL) are not supported"));
        }
        if !self.eat("?") {
            self.begin_capture(None, if self.keeps_groups { "(" } else { "(?:" });
        } else if self.eat("P=") {
            let name = self.eat_up_to(')').ok_or_else(|| self.refuse("the name of the group has no end"))?;
            self.refer_back(Reference::Name(name));
        } else if self.eat(">") {
            self.out.backtracks = true;
            // An atomic group matches less than a plain one, so the loose pattern still covers it.
            self.write_both("(?>", "(?:");
            self.groups.push(OpenGroup { looks_around: false, capture: None });
        } else if let Some(head) = ["<=", "<!", "=", "!"].into_iter().find(|head| self.eat(head)) {
            self.out.backtracks = true;
            // Something must be left that can be repeated.
            self.write_both(&format!("(?{head}"), "(?:)");
            self.groups.push(OpenGroup { looks_around: true, capture: None });
        } else if self.eat("P<") || self.eat("<") {
            let name = self.eat_up_to('>').ok_or_else(|| self.refuse("the name of the group has no end"))?;
            let head = if self.keeps_groups { format!("(?<{name}>") } else { "(?:".to_owned() };
            self.begin_capture(Some(name), &head);
        } else {
            self.flags()?;
        }
        Ok(())
    }

    fn begin_group(&mut self, head: &str) {
        self.write(head);
        self.groups.push(OpenGroup { looks_around: false, capture: None });
    }

    fn begin_capture(&mut self, name: Option<&'g str>, head: &str) {
        self.write(head);
        self.groups.push(OpenGroup { looks_around: false, capture: Some(self.captures.len()) });
        self.captures.push(CaptureGroup { name, ended: false });
    }

    fn end_group(&mut self) {
        let group = self.groups.pop();
        if let Some(capture) = group.as_ref().and_then(|group| self.captures.get_mut(group.capture?)) {
            capture.ended = true;
        }
        if group.is_some_and(|group| group.looks_around) {
            // The loose pattern has nothing of this group, and no bracket to close.
            self.out.text.push(')');
        } else {
            self.write(")");
        }
    }

    fn flags(&mut self) -> Result<(), PatternError> {
        let length = self.rest().find(|c| !"ims-".contains(c)).unwrap_or_default();
        // Other flags, such as `x`, would change how the rest is read.
        let (flags, behind) = self.rest().split_at(length);
        if !behind.starts_with([':', ')']) {
            return Err(self.refuse("this kind of group or flag is not supported"));
        }
        self.at += length;
        self.begin_group(&format!("(?{flags}"));
        Ok(())
    }

    /// The text of a group again, and nothing if it has matched nothing yet.
    fn refer_back(&mut self, reference: Reference<'g>) {
        // A look behind is matched from its end.
        if !self.capture(reference).is_some_and(|capture| capture.ended) && !self.looks_around() {
            let place = self.out.places.last().map_or(0, |(_, given)| *given);
            self.ahead.push((reference, place));
            return self.write("(?:)");
        }
        let text = match reference {
            Reference::Number(number) => format!(r"(?({number})\{number}|)"),
            Reference::Name(name) => format!(r"(?(<{name}>)\k<{name}>|)"),
        };
        // The text of a group is not known to the loose pattern: anything may be there.
        self.write_both(&text, "(?:.*)");
        self.out.backtracks = true;
        self.out.refers_back = true;
    }

    fn capture(&self, reference: Reference<'_>) -> Option<&CaptureGroup<'g>> {
        match reference {
            Reference::Number(number) => self.captures.get(number.parse::<usize>().ok()?.checked_sub(1)?),
            Reference::Name(name) => self.captures.iter().find(|capture| capture.name == Some(name)),
        }
    }

    /// Every group that was referenced before its end must exist.
    fn check_ahead(&self) -> Result<(), PatternError> {
        match self.ahead.iter().find(|(reference, _)| self.capture(*reference).is_none()) {
            Some((Reference::Number(group) | Reference::Name(group), at)) => {
                Err(PatternError::Refused { reason: format!("there is no group {group}"), at: Some(*at) })
            }
            None => Ok(()),
        }
    }

    fn escape(&mut self, in_class: bool) -> Result<(), PatternError> {
        let Some(c) = self.next() else {
            return Err(self.refuse("nothing follows the backslash"));
        };
        match c {
            // To the engines it would be the digits of all scripts.
            'd' => self.write("[0-9]"),
            'D' => self.write("[^0-9]"),
            'b' if in_class => self.write(r"\x08"),
            'b' if self.ascii_words => self.write(r"(?-u:\b)"),
            'B' if self.ascii_words => {
                self.out.backtracks = true;
                const INSIDE: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";
                self.write_both(INSIDE, "(?:)");
            }
            'b' | 'B' | 'A' | 'z' if !in_class => self.write_escape(c),
            // Line endings are searched as shown, and a carriage return before a line feed is not shown.
            'r' if !in_class && self.rest().starts_with(r"\n") => self.write(r"\r?"),
            'w' | 'W' | 's' | 'S' | 'n' | 'r' | 't' | 'f' | 'v' => self.write_escape(c),
            'p' | 'P' => self.property(c)?,
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => self.character(u32::from(letter) % 32)?,
                _ => return Err(self.refuse(r"a letter must follow \c")),
            },
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            '0' if !self.rest().starts_with(|c: char| c.is_ascii_digit()) => self.character(0)?,
            '1'..='9' if !in_class => {
                let more = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
                let number = &self.given[self.at - 1..self.at + more];
                self.at += more;
                self.refer_back(Reference::Number(number));
            }
            'k' if !in_class && self.eat("<") => {
                let name = self.eat_up_to('>').ok_or_else(|| self.refuse("the name of the group has no end"))?;
                self.refer_back(Reference::Name(name));
            }
            _ if c.is_ascii_alphanumeric() => return Err(self.refuse(format!(r"\{c} is not supported here"))),
            _ if regex_syntax::is_meta_character(c) => self.write_escape(c),
            _ => self.write_char(c),
        }
        Ok(())
    }

    fn property(&mut self, letter: char) -> Result<(), PatternError> {
        let name = if self.eat("{") { self.eat_up_to('}') } else { None };
        let name = name.ok_or_else(|| self.refuse(format!(r"a property has the form \{letter}{{…}}")))?;
        self.write_escape(letter);
        self.write("{");
        self.write(name);
        self.write("}");
        Ok(())
    }

    /// A character by its number: `\x41`, `\u0041`, `\u{1F600}`, or the two halves of a surrogate pair.
    fn code(&mut self, digits: usize) -> Result<(), PatternError> {
        let code = if self.eat("{") { self.eat_up_to('}').and_then(hex) } else { self.hex_digits(digits) };
        let code = code.ok_or_else(|| self.refuse("the number of a character is not complete"))?;
        if let 0xd800..0xdc00 = code
            && self.eat(r"\u")
            && let Some(low @ 0xdc00..0xe000) = self.hex_digits(4)
        {
            return self.character(0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        }
        self.character(code)
    }

    fn hex_digits(&mut self, digits: usize) -> Option<u32> {
        let code = hex(self.rest().get(..digits)?)?;
        self.at += digits;
        Some(code)
    }

    fn character(&mut self, code: u32) -> Result<(), PatternError> {
        let c = char::from_u32(code).ok_or_else(|| self.refuse("there is no character with this number"))?;
        self.write(&format!(r"\x{{{:x}}}", u32::from(c)));
        Ok(())
    }
}

fn hex(digits: &str) -> Option<u32> {
    // The standard library would accept a sign too.
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() }
}

/// Whether a class can have ended before this, so that `[]` matches nothing and `[^]` anything, as in ECMAScript. In
/// `[]a]` and `[^]|]` the bracket is one of the characters, as everywhere else: the other reading is never intended.
fn is_behind_class(rest: &str) -> bool {
    let mut escaped = false;
    let closes = |c: char| {
        let closes = c == ']' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    };
    rest.is_empty() || rest.starts_with(['*', '+', '?', '{', ')']) || !rest.contains(closes)
}

/// Whether `3}`, `3,}` or `3,5}` follows.
fn begins_repetition(rest: &str) -> bool {
    let Some((inside, _)) = rest.split_once('}') else { return false };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// `:alpha:]` if the rest begins so.
fn posix_class(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix(':')?;
    let length = name.find(|c: char| !c.is_ascii_lowercase() && c != '^')?;
    name[length..].starts_with(":]").then(|| &rest[..1 + length + 2])
}
