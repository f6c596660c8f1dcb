//! Patterns of rule files, read as git's `wildmatch` and `dir.c` read them, but by characters instead of bytes and
//! always without case. A pattern that can match nothing is an error: its author wanted something closed.

use super::super::fold::folded;

/// One line of a rule file.
#[derive(Clone, Debug)]
pub(super) struct RuleLine {
    pub(super) written: String,
    /// `!`: paths covered by an earlier line are not covered.
    pub(super) negated: bool,
    /// Trailing `/`: only folders.
    pub(super) folders_only: bool,
    pub(super) fits: PatternForm,
}

/// What a pattern is compared with.
#[derive(Clone, Debug)]
pub(super) enum PatternForm {
    /// Nothing: an empty line, or only blanks.
    Nothing,
    Name(String),
    Path(String),
    NameLike(WildPattern),
    PathLike(WildPattern),
}

/// A pattern with more than plain characters in it.
#[derive(Clone, Debug)]
pub(super) struct WildPattern {
    /// Plain characters before the first special one.
    start: String,
    tokens: Vec<WildToken>,
    /// Plain characters after the last special one.
    end: String,
}

#[derive(Clone, Debug)]
enum WildToken {
    Character(char),
    /// `?`
    One,
    Class(CharacterClass),
    /// `*`: within a name.
    Star,
    /// `**` next to slashes: spans folders.
    Through,
    /// `**/` is two: whether there are any folders, and the folders.
    MaybeFolders,
    Folders,
}

#[derive(Clone, Debug)]
struct CharacterClass {
    negated: bool,
    items: Vec<ClassItem>,
}

#[derive(Clone, Debug)]
enum ClassItem {
    Character(char),
    Range(char, char),
    Kind(fn(char) -> bool),
}

/// The pattern can match nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnmatchablePattern;

impl RuleLine {
    /// Whether it matches this path, which is folded.
    pub(super) fn is_about(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        (is_folder || !self.folders_only)
            && match &self.fits {
                PatternForm::Nothing => false,
                PatternForm::Name(wanted) => wanted == name,
                PatternForm::Path(wanted) => wanted == path,
                PatternForm::NameLike(wild) => wild.fits(name),
                PatternForm::PathLike(wild) => wild.fits(path),
            }
    }

    /// A line that is not a comment, without its end.
    pub(super) fn parse(line: &str) -> Result<Self, UnmatchablePattern> {
        let pattern = without_trailing_blanks(line);
        let (negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
        let (folders_only, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
        // As in git: a slash anywhere but at the end ties the pattern to the root.
        let is_path = pattern.contains('/');
        let plain = pattern.find(['*', '?', '[', '\\']).unwrap_or(pattern.len());
        let fits = if pattern.is_empty() {
            PatternForm::Nothing
        } else if plain == pattern.len() {
            let pattern = folded(pattern);
            match pattern.strip_prefix('/') {
                Some(anchored) => PatternForm::Path(anchored.to_owned()),
                None if is_path => PatternForm::Path(pattern),
                None => PatternForm::Name(pattern),
            }
        } else if is_path {
            // Git compares the plain start first and then treats the rest as a separate pattern, so `**` after it spans
            // folders as it does at the start.
            let (start, rest) = pattern.split_at(plain);
            PatternForm::PathLike(WildPattern::parse(start.strip_prefix('/').unwrap_or(start), rest, true)?)
        } else {
            let (start, rest) = pattern.split_at(plain);
            PatternForm::NameLike(WildPattern::parse(start, rest, false)?)
        };
        Ok(Self { written: line.to_owned(), negated, folders_only, fits })
    }
}

/// Trailing blanks are ignored unless escaped with a backslash.
fn without_trailing_blanks(line: &str) -> &str {
    let mut end = 0;
    let mut characters = line.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ' ' => {}
            '\\' => match characters.next() {
                Some((at, escaped)) => end = at + escaped.len_utf8(),
                // Git keeps the blanks of a line that ends with a backslash.
                None => return line,
            },
            _ => end = at + character.len_utf8(),
        }
    }
    &line[..end]
}

impl WildPattern {
    fn parse(start: &str, rest: &str, in_paths: bool) -> Result<Self, UnmatchablePattern> {
        let rest: Vec<char> = rest.chars().collect();
        let mut tokens = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(&character) = rest.get(at) {
            if matches!(character, '?' | '*' | '[') {
                // Folded as a whole and not letter by letter, because some letters fold only together with their
                // neighbours.
                tokens.extend(folded(&std::mem::take(&mut plain)).chars().map(WildToken::Character));
            }
            match character {
                '?' => tokens.push(WildToken::One),
                '[' => {
                    let (class, end) = CharacterClass::parse(&rest, at + 1)?;
                    tokens.push(WildToken::Class(class));
                    at = end;
                }
                '*' => {
                    let stars = rest[at..].iter().take_while(|character| **character == '*').count();
                    let (before, after) = (at.checked_sub(1).map(|before| rest[before]), at + stars);
                    let begins = matches!(before, None | Some('/'));
                    at = after - 1;
                    match &rest[after..] {
                        // Elsewhere than between slashes, `**` means the same as `*`.
                        _ if stars == 1 || !in_paths || !begins => tokens.push(WildToken::Star),
                        ['/', ..] => {
                            tokens.extend([WildToken::MaybeFolders, WildToken::Folders]);
                            at = after;
                        }
                        // At the end, or before an escaped slash, it spans all that follows.
                        [] | ['\\', '/', ..] => tokens.push(WildToken::Through),
                        _ => tokens.push(WildToken::Star),
                    }
                }
                '\\' => {
                    at += 1;
                    plain.push(*rest.get(at).ok_or(UnmatchablePattern)?);
                }
                _ => plain.push(character),
            }
            at += 1;
        }
        Ok(Self { start: folded(start), tokens, end: folded(&plain) })
    }

    /// The cost of matching it.
    pub(super) fn size(&self) -> usize {
        self.tokens.len()
    }

    /// Whether a text that matches after one prefix also matches after the other.
    pub(super) fn goes_on_alike(&self, one: &str, other: &str) -> bool {
        let plain = |text: &str| text.chars().map(WildToken::Character).collect::<Vec<_>>();
        let tokens = [plain(&self.start), self.tokens.clone(), plain(&self.end)].concat();
        reached_by(&tokens, one) == reached_by(&tokens, other)
    }

    /// Whether a folded text matches.
    pub(super) fn fits(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix(&*self.start) else { return false };
        // Checked separately from the start, so that they cannot overlap in the text.
        let Some(rest) = rest.strip_suffix(&*self.end) else { return false };
        match &*self.tokens {
            // By far the most common patterns, such as `*.md`, without the table below.
            [WildToken::Star] => !rest.contains('/'),
            [WildToken::Through] => true,
            tokens => fit(tokens, rest),
        }
    }
}

/// Whether the tokens match a text.
fn fit(tokens: &[WildToken], text: &str) -> bool {
    reached_by(tokens, text)[tokens.len()]
}

/// For each token, whether the text can match the tokens before it. All readings are followed at once, so that no
/// pattern takes longer than its length times that of the text.
fn reached_by(tokens: &[WildToken], text: &str) -> Vec<bool> {
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    // `reached[n]` says that the text so far matches the first `n` tokens.
    skip_what_may_be_empty(tokens, &mut reached);
    let mut next = vec![false; tokens.len() + 1];
    for character in text.chars() {
        next.fill(false);
        for (at, token) in tokens.iter().enumerate().filter(|(at, _)| reached[*at]) {
            match token {
                WildToken::Character(wanted) => next[at + 1] |= *wanted == character,
                WildToken::One => next[at + 1] |= character != '/',
                WildToken::Class(class) => next[at + 1] |= class.holds(character),
                WildToken::Star => next[at] |= character != '/',
                WildToken::Through => next[at] = true,
                // Only a choice, made by `skip_what_may_be_empty`.
                WildToken::MaybeFolders => {}
                WildToken::Folders => {
                    // The folders go on.
                    next[at] = true;
                    // Or they end with this slash.
                    next[at + 1] |= character == '/';
                }
            }
        }
        skip_what_may_be_empty(tokens, &mut next);
        std::mem::swap(&mut reached, &mut next);
        // No reading is left, so the rest of the text cannot match either.
        if !reached.contains(&true) {
            break;
        }
    }
    reached
}

fn skip_what_may_be_empty(tokens: &[WildToken], reached: &mut [bool]) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            WildToken::Star | WildToken::Through => reached[at + 1] |= reached[at],
            // Into the folders, or past them.
            WildToken::MaybeFolders => {
                reached[at + 1] |= reached[at];
                reached[at + 2] |= reached[at];
            }
            WildToken::Character(_) | WildToken::One | WildToken::Class(_) | WildToken::Folders => {}
        }
    }
}

impl CharacterClass {
    /// Starts after the bracket; returns where it ends.
    fn parse(pattern: &[char], start: usize) -> Result<(Self, usize), UnmatchablePattern> {
        let character = |at: usize| pattern.get(at).copied().ok_or(UnmatchablePattern);
        let negated = matches!(character(start)?, '!' | '^');
        let mut at = start + usize::from(negated);
        let mut items = Vec::new();
        // The start of a possible range.
        let mut before = None;
        // A bracket that comes first does not close the class.
        let first = at;
        while at == first || character(at)? != ']' {
            let mut found = character(at)?;
            match found {
                // A `-` at the end is a plain character.
                '-' if before.is_some() && !matches!(pattern.get(at + 1), None | Some(']')) => {
                    at += 1;
                    if pattern[at] == '\\' {
                        at += 1;
                    }
                    // Compared as written: folding one end would change which letters are between them.
                    let (from, to) = (before.take().ok_or(UnmatchablePattern)?, character(at)?);
                    if from > to {
                        return Err(UnmatchablePattern);
                    }
                    items.push(ClassItem::Range(from, to));
                    at += 1;
                    continue;
                }
                '[' if pattern.get(at + 1) == Some(&':') => {
                    let name = at + 2;
                    let end =
                        name + pattern[name..].iter().position(|found| *found == ']').ok_or(UnmatchablePattern)?;
                    // Git takes `[[:` without `:]` as plain characters.
                    if end > name && pattern[end - 1] == ':' {
                        items.push(ClassItem::Kind(kind(&pattern[name..end - 1]).ok_or(UnmatchablePattern)?));
                        before = None;
                        at = end + 1;
                        continue;
                    }
                }
                '\\' => {
                    at += 1;
                    found = character(at)?;
                }
                _ => {}
            }
            // A character whose folded form has several characters cannot occur in a folded path there.
            let mut without_case = folded(found.encode_utf8(&mut [0; 4])).chars().collect::<Vec<_>>();
            if let (Some(only), true) = (without_case.pop(), without_case.is_empty()) {
                items.push(ClassItem::Character(only));
            }
            before = Some(found);
            at += 1;
        }
        Ok((Self { negated, items }, at))
    }

    fn holds(&self, character: char) -> bool {
        character != '/' && self.items.iter().any(|item| item.holds(character)) != self.negated
    }
}

impl ClassItem {
    /// Paths are folded, so a range of capital letters is checked against those too.
    fn holds(&self, character: char) -> bool {
        match self {
            Self::Character(wanted) => *wanted == character,
            Self::Range(from, to) => {
                let in_range = |character: char| (*from..=*to).contains(&character);
                in_range(character) || character.to_uppercase().len() == 1 && character.to_uppercase().any(in_range)
            }
            Self::Kind(is_of_kind) => is_of_kind(character),
        }
    }
}

/// As git defines them, ASCII only; without case, lower-case letters are upper-case ones.
fn kind(name: &[char]) -> Option<fn(char) -> bool> {
    let name: String = name.iter().collect();
    Some(match &*name {
        "alnum" => |found| found.is_ascii_alphanumeric(),
        "alpha" | "lower" | "upper" => |found| found.is_ascii_alphabetic(),
        "blank" => |found| matches!(found, ' ' | '\t'),
        "cntrl" => |found| found.is_ascii_control(),
        "digit" => |found| found.is_ascii_digit(),
        "graph" => |found| found.is_ascii_graphic(),
        "print" => |found| matches!(found, ' '..='~'),
        "punct" => |found| found.is_ascii_punctuation(),
        "space" => |found| found.is_ascii_whitespace(),
        "xdigit" => |found| found.is_ascii_hexdigit(),
        _ => return None,
    })
}
