//! Regular expressions exactly as ECMAScript reads them without the `u` flag, rewritten into the spelling that the
//! engines share: `\w` and `\b` know ASCII alone, `\s` is JavaScript's white space, `[]` matches nothing, and what is
//! not an escape is literal. Faults have the words of V8, which people know from the app.

use std::fmt::Write as _;

/// Beyond this depth of groups an expression is refused.
const MAX_GROUP_DEPTH: usize = 100;

const WORD: &str = "0-9A-Za-z_";
const NO_WORD: &str = r"\u{0}-\u{2f}\u{3a}-\u{40}\u{5b}-\u{5e}\u{60}\u{7b}-\u{10ffff}";
const SPACE: &str = r"\u{9}-\u{d}\u{20}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
const NO_SPACE: &str = r"\u{0}-\u{8}\u{e}-\u{1f}\u{21}-\u{9f}\u{a1}-\u{167f}\u{1681}-\u{1fff}\u{200b}-\u{2027}\u{202a}-\u{202e}\u{2030}-\u{205e}\u{2060}-\u{2fff}\u{3001}-\u{fefe}\u{ff00}-\u{10ffff}";
const DIGIT: &str = "0-9";
const NO_DIGIT: &str = r"\u{0}-\u{2f}\u{3a}-\u{10ffff}";
/// `.` is none of these.
const LINE_ENDS: &str = r"\u{a}\u{d}\u{2028}\u{2029}";

/// What is wrong with an expression, in the words of V8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid regular expression: /{source_text}/{flags}: {fault}")]
pub struct ExpressionFault {
    pub source_text: String,
    pub flags: String,
    pub fault: String,
}

/// The expression in the spelling of [`super::syntax`], or the fault in it.
pub(super) fn rewrite(source: &str, dot_all: bool) -> Result<String, &'static str> {
    let characters: Vec<char> = source.chars().collect();
    let mut rewriter = EcmaRewriter {
        // Counted first: whether `\2` is a reference or an octal number depends on all groups, also later ones.
        groups: count_groups(&characters),
        characters,
        at: 0,
        out: String::new(),
        depth: 0,
        dot_all,
        names: Vec::new(),
        references: Vec::new(),
    };
    rewriter.disjunction()?;
    // Everything else was read, so it can only be a bracket too many.
    if rewriter.at < rewriter.characters.len() {
        return Err("Unmatched ')'");
    }
    // Only now, as a name may be referred to before its group.
    let unknown = |name: &String| !rewriter.names.contains(name);
    if rewriter.references.iter().any(unknown) {
        return Err("Invalid named capture referenced");
    }
    Ok(rewriter.out)
}

/// How many groups can be referred to, and whether one has a name.
struct GroupCount {
    captures: u32,
    named: bool,
}

fn count_groups(characters: &[char]) -> GroupCount {
    let mut count = GroupCount { captures: 0, named: false };
    let (mut in_class, mut at) = (false, 0);
    while let Some(c) = characters.get(at) {
        match c {
            // The escaped character is never a bracket.
            '\\' => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => match (characters.get(at + 1), characters.get(at + 2), characters.get(at + 3)) {
                // Not a look behind.
                (Some('?'), Some('<'), Some(next)) if !matches!(next, '=' | '!') => {
                    count.captures += 1;
                    count.named = true;
                }
                (Some('?'), ..) => {}
                _ => count.captures += 1,
            },
            _ => {}
        }
        at += 1;
    }
    count
}

struct EcmaRewriter {
    characters: Vec<char>,
    at: usize,
    out: String,
    depth: usize,
    groups: GroupCount,
    dot_all: bool,
    names: Vec<String>,
    references: Vec<String>,
}

/// One member of a class: a character, or a set of them that is already spelled.
enum ClassAtom {
    Single(u32),
    Set(&'static str),
}

impl EcmaRewriter {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let length = text.chars().count();
        let found =
            self.characters.get(self.at..self.at + length).is_some_and(|next| next.iter().copied().eq(text.chars()));
        self.at += if found { length } else { 0 };
        found
    }

    fn character(&mut self, code: u32) {
        // Half of a surrogate pair is in no text.
        if char::from_u32(code).is_none() {
            // A class that nothing matches.
            self.out += r"[^\s\S]";
        } else if let Some(c) = char::from_u32(code).filter(char::is_ascii_alphanumeric) {
            self.out.push(c);
        } else {
            self.code(code);
        }
    }

    fn code(&mut self, code: u32) {
        let written = write!(self.out, r"\u{{{code:x}}}");
        debug_assert!(written.is_ok(), "a text takes everything");
    }

    fn disjunction(&mut self) -> Result<(), &'static str> {
        self.depth += 1;
        if self.depth > MAX_GROUP_DEPTH {
            return Err("Regular expression too large");
        }
        while let Some(c) = self.peek() {
            match c {
                ')' => break,
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                }
                _ => self.term()?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn term(&mut self) -> Result<(), &'static str> {
        let Some(c) = self.next() else { return Ok(()) };
        let mut repeatable = true;
        match c {
            // The engines would accept a repeated anchor; ECMAScript does not.
            '^' | '$' => {
                self.out.push(c);
                repeatable = false;
            }
            '*' | '+' | '?' => return Err("Nothing to repeat"),
            '{' => {
                // Given back, because the repetition begins with it.
                self.at -= 1;
                // `{2}` with nothing before it is an error, any other brace is text.
                if self.repetition()?.is_some() {
                    return Err("Nothing to repeat");
                }
                self.at += 1;
                self.character(u32::from('{'));
            }
            '.' if self.dot_all => self.out += r"[\s\S]",
            '.' => self.set(LINE_ENDS, true),
            '[' => self.class()?,
            '(' => repeatable = self.group()?,
            '\\' => repeatable = self.escape()?,
            _ => self.character(u32::from(c)),
        }
        self.quantifier(repeatable)
    }

    fn set(&mut self, members: &str, negated: bool) {
        self.out += if negated { "[^" } else { "[" };
        self.out += members;
        self.out.push(']');
    }

    fn quantifier(&mut self, repeatable: bool) -> Result<(), &'static str> {
        let start = self.at;
        let spelled = match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.at += 1;
                c.to_string()
            }
            Some('{') => match self.repetition()? {
                Some(spelled) => spelled,
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        if !repeatable {
            self.at = start;
            return Err("Nothing to repeat");
        }
        self.out += &spelled;
        // A lazy repetition.
        if self.eat("?") {
            self.out.push('?');
        }
        Ok(())
    }

    /// `{2}`, `{2,}` or `{2,5}`; anything else is text.
    fn repetition(&mut self) -> Result<Option<String>, &'static str> {
        let rest: String = self.characters[self.at..].iter().take_while(|c| **c != '}').skip(1).collect();
        let ended = self.characters[self.at..].contains(&'}');
        let (least, most) = rest.split_once(',').map_or((rest.as_str(), None), |(least, most)| (least, Some(most)));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !ended || least.is_empty() || !digits(least) || !most.is_none_or(digits) {
            return Ok(None);
        }
        // Too many digits are more repetitions than any text has.
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        if most.is_some_and(|most| !most.is_empty() && number(most) < number(least)) {
            return Err("numbers out of order in {} quantifier");
        }
        self.at += rest.chars().count() + 2;
        Ok(Some(format!("{{{rest}}}")))
    }

    /// Whether it may be repeated, which a look behind may not.
    fn group(&mut self) -> Result<bool, &'static str> {
        let mut repeatable = true;
        if self.eat("?") {
            if let Some(head) = [":", "=", "!", "<=", "<!"].into_iter().find(|head| self.eat(head)) {
                self.out += "(?";
                self.out += head;
                // For historical reasons, ECMAScript allows `(?=a)*`.
                repeatable = !head.starts_with('<');
            } else if self.eat("<") {
                let name = self.group_name()?;
                if self.names.contains(&name) {
                    return Err("Duplicate capture group name");
                }
                self.out += &format!("(?<{name}>");
                self.names.push(name);
            } else {
                return Err("Invalid group");
            }
        } else {
            self.out.push('(');
        }
        self.disjunction()?;
        if !self.eat(")") {
            return Err("Unterminated group");
        }
        self.out.push(')');
        Ok(repeatable)
    }

    fn group_name(&mut self) -> Result<String, &'static str> {
        let name: String = self.characters[self.at..].iter().take_while(|c| **c != '>').collect();
        let letters = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let fine = !name.is_empty() && name.chars().all(letters) && !name.starts_with(|c: char| c.is_numeric());
        self.at += name.chars().count();
        if !fine || !self.eat(">") {
            return Err("Invalid capture group name");
        }
        // The engines know no dollar in a name.
        Ok(name.replace('$', "_S_"))
    }

    fn escape(&mut self) -> Result<bool, &'static str> {
        let Some(c) = self.next() else { return Err("\\ at end of pattern") };
        match c {
            'b' | 'B' => {
                self.out.push('\\');
                self.out.push(c);
                return Ok(false);
            }
            // Without named groups `\k` is the letter.
            'k' if self.groups.named => {
                if !self.eat("<") {
                    return Err("Invalid named reference");
                }
                let name = self.group_name().map_err(|_| "Invalid named reference")?;
                self.out += &format!(r"\k<{name}>");
                self.references.push(name);
            }
            '1'..='9' => {
                // Given back: the number may have several digits.
                self.at -= 1;
                let digits: String = self.characters[self.at..].iter().take_while(|c| c.is_ascii_digit()).collect();
                match digits.parse::<u32>() {
                    Ok(number) if number <= self.groups.captures => {
                        self.at += digits.len();
                        // In a group, or a digit after it would become part of the number.
                        self.out += &format!(r"(?:\{number})");
                    }
                    _ => {
                        let code = self.escaped_code();
                        self.character(code);
                    }
                }
            }
            _ => match char_set(c) {
                Some((members, negated)) => self.set(members, negated),
                None => {
                    self.at -= 1;
                    let code = self.escaped_code();
                    self.character(code);
                }
            },
        }
        Ok(true)
    }

    /// The character that an escape means, from behind the backslash on.
    fn escaped_code(&mut self) -> u32 {
        let Some(c) = self.next() else { return u32::from('\\') };
        match c {
            'n' => 10,
            'r' => 13,
            't' => 9,
            'f' => 12,
            'v' => 11,
            'c' => match self.peek() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.at += 1;
                    // Control characters are the letters without their upper bits.
                    u32::from(letter) % 32
                }
                // The backslash is literal, and the letter after it is read again.
                _ => {
                    self.at -= 1;
                    u32::from('\\')
                }
            },
            // Without the digits it is the letter, as in any other unknown escape.
            'x' => self.hex(2).unwrap_or(u32::from('x')),
            'u' => match self.hex(4) {
                Some(high @ 0xd800..0xdc00) => {
                    // Two escapes that make one character.
                    let before = self.at;
                    match self.eat("\\u").then(|| self.hex(4)).flatten() {
                        Some(low @ 0xdc00..0xe000) => 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00),
                        _ => {
                            self.at = before;
                            high
                        }
                    }
                }
                Some(code) => code,
                None => u32::from('u'),
            },
            '0'..='7' => {
                let mut code = u32::from(c) - 48;
                while let Some(digit @ '0'..='7') = self.peek() {
                    let next = code * 8 + u32::from(digit) - 48;
                    // Octal numbers end at one byte.
                    if next > 0o377 {
                        break;
                    }
                    code = next;
                    self.at += 1;
                }
                code
            }
            _ => u32::from(c),
        }
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text: String = self.characters.get(self.at..self.at + digits)?.iter().collect();
        // `from_str_radix` alone would accept a sign.
        text.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
        self.at += digits;
        u32::from_str_radix(&text, 16).ok()
    }

    fn class(&mut self) -> Result<(), &'static str> {
        let negated = self.eat("^");
        // Unlike elsewhere, `[]` is an empty class and `[^]` matches anything.
        if self.eat("]") {
            self.out += if negated { r"[\s\S]" } else { r"[^\s\S]" };
            return Ok(());
        }
        self.out += if negated { "[^" } else { "[" };
        loop {
            let first = match self.class_atom()? {
                None => break,
                Some(atom) => atom,
            };
            // A hyphen at the end of the class is a member.
            let ends = self.peek() == Some('-') && self.characters.get(self.at + 1).is_some_and(|next| *next != ']');
            if !ends {
                self.member(&first);
                continue;
            }
            self.at += 1;
            let Some(second) = self.class_atom()? else { return Err("Unterminated character class") };
            match (&first, &second) {
                (ClassAtom::Single(from), ClassAtom::Single(to)) if from > to => {
                    return Err("Range out of order in character class");
                }
                (ClassAtom::Single(from), ClassAtom::Single(to)) => {
                    self.class_code(*from);
                    self.out.push('-');
                    self.class_code(*to);
                }
                _ => {
                    // With a set at either end, the hyphen is a member.
                    self.member(&first);
                    self.code(u32::from('-'));
                    self.member(&second);
                }
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// The next member, or nothing at the end of the class.
    fn class_atom(&mut self) -> Result<Option<ClassAtom>, &'static str> {
        let Some(c) = self.next() else { return Err("Unterminated character class") };
        match c {
            ']' => Ok(None),
            '\\' => {
                let Some(c) = self.peek() else { return Err("\\ at end of pattern") };
                if let Some((members, negated)) = char_set(c) {
                    self.at += 1;
                    return Ok(Some(ClassAtom::Set(if negated { complement(members) } else { members })));
                }
                match c {
                    // In a class, a backspace.
                    'b' => {
                        self.at += 1;
                        Ok(Some(ClassAtom::Single(8)))
                    }
                    _ => Ok(Some(ClassAtom::Single(self.escaped_code()))),
                }
            }
            _ => Ok(Some(ClassAtom::Single(u32::from(c)))),
        }
    }

    fn member(&mut self, atom: &ClassAtom) {
        match atom {
            ClassAtom::Single(code) => self.class_code(*code),
            ClassAtom::Set(members) => self.out += members,
        }
    }

    /// Halves of surrogate pairs, of which ranges of emoji are made by hand, become their neighbours in the table.
    fn class_code(&mut self, code: u32) {
        let code = match code {
            0xd800..0xdc00 => 0xd7ff,
            0xdc00..0xe000 => 0xe000,
            code => code,
        };
        self.code(code);
    }
}

/// The characters of a class escape, and whether the others are meant.
fn char_set(letter: char) -> Option<(&'static str, bool)> {
    Some(match letter {
        'd' => (DIGIT, false),
        'D' => (DIGIT, true),
        'w' => (WORD, false),
        'W' => (WORD, true),
        's' => (SPACE, false),
        'S' => (SPACE, true),
        _ => return None,
    })
}

fn complement(members: &'static str) -> &'static str {
    match members {
        DIGIT => NO_DIGIT,
        WORD => NO_WORD,
        _ => NO_SPACE,
    }
}
