//! Reads expressions. The parser works on the text itself, because whether a `/` divides or begins a regular expression
//! depends on what may come next.

use std::sync::Arc;

use super::{
    base_regexp::BaseRegexp,
    base_value::BaseValue,
    formula::{
        AccessStep, BinaryOperator, FormulaNames, FormulaNode, FunctionCall, LocalName, RootName, UnknownFunction,
    },
    known_name::{FileField, KnownFunction},
};

/// Parentheses, calls and signs in each other. People write a handful.
const MAX_DEPTH: usize = 48;
/// Longer expressions are not written by hand.
const MAX_BYTES: usize = 64 << 10;

/// Where an expression cannot be read, in bytes, and what could be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormulaFault {
    pub(super) at: usize,
    pub(super) problem: Option<String>,
    pub(super) expected: &'static [&'static str],
}

const OPERAND_STARTS: &[&str] = &["a value", "a property", "a function", "("];

pub(super) fn parse_formula(text: &str, names: &mut FormulaNames) -> Result<FormulaNode, FormulaFault> {
    if text.len() > MAX_BYTES {
        let problem = Some(format!("the expression has more than {MAX_BYTES} bytes"));
        return Err(FormulaFault { at: 0, problem, expected: &[] });
    }
    let mut parser = FormulaParser { text, at: 0, depth: 0, names };
    let node = parser.any()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.fault(&["an operator", "the end"]));
    }
    Ok(node)
}

struct FormulaParser<'p> {
    text: &'p str,
    at: usize,
    depth: usize,
    names: &'p mut FormulaNames,
}

type Parsed<T = FormulaNode> = Result<T, FormulaFault>;

impl<'p> FormulaParser<'p> {
    fn rest(&self) -> &'p str {
        &self.text[self.at..]
    }

    fn fault(&self, expected: &'static [&'static str]) -> FormulaFault {
        FormulaFault { at: self.at, problem: None, expected }
    }

    fn problem(&self, at: usize, problem: impl Into<String>) -> FormulaFault {
        FormulaFault { at, problem: Some(problem.into()), expected: &[] }
    }

    fn skip_space(&mut self) {
        // By the length of what is left, which needs no second walk.
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes a sign behind any space.
    fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.problem(self.at, format!("the expression is nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn any(&mut self) -> Parsed {
        let mut nodes = vec![self.all()?];
        // A loop and not a recursion, so that a long chain is not deep.
        while self.eat("||") {
            nodes.push(self.all()?);
        }
        Ok(single(nodes).unwrap_or_else(FormulaNode::Any))
    }

    fn all(&mut self) -> Parsed {
        let mut nodes = vec![self.equality()?];
        while self.eat("&&") {
            nodes.push(self.equality()?);
        }
        Ok(single(nodes).unwrap_or_else(FormulaNode::All))
    }

    fn equality(&mut self) -> Parsed {
        const SIGNS: &[(&str, BinaryOperator)] = &[("==", BinaryOperator::Equal), ("!=", BinaryOperator::NotEqual)];
        self.chain(SIGNS, Self::relation)
    }

    fn relation(&mut self) -> Parsed {
        const SIGNS: &[(&str, BinaryOperator)] = &[
            // The longer signs first: `<` would take the half of `<=`.
            ("<=", BinaryOperator::LessOrEqual),
            (">=", BinaryOperator::GreaterOrEqual),
            ("<", BinaryOperator::Less),
            (">", BinaryOperator::Greater),
        ];
        self.chain(SIGNS, Self::sum)
    }

    fn sum(&mut self) -> Parsed {
        const SIGNS: &[(&str, BinaryOperator)] = &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)];
        self.chain(SIGNS, Self::product)
    }

    fn product(&mut self) -> Parsed {
        const SIGNS: &[(&str, BinaryOperator)] =
            &[("*", BinaryOperator::Multiply), ("/", BinaryOperator::Divide), ("%", BinaryOperator::Remainder)];
        self.chain(SIGNS, Self::sign)
    }

    fn chain(&mut self, signs: &[(&str, BinaryOperator)], next: fn(&mut Self) -> Parsed) -> Parsed {
        let first = next(self)?;
        let mut rest = Vec::new();
        // Each sign is tried behind any space, the first that fits is taken.
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.eat(sign)) {
            rest.push((*operator, next(self)?));
        }
        Ok(if rest.is_empty() { first } else { FormulaNode::Chain { first: Box::new(first), rest } })
    }

    fn sign(&mut self) -> Parsed {
        if self.eat("!") {
            return self.deeper(|parser| Ok(FormulaNode::Not(Box::new(parser.sign()?))));
        }
        if self.eat("-") {
            return self.deeper(|parser| Ok(FormulaNode::Negate(Box::new(parser.sign()?))));
        }
        // Every operand counts as a level, since each goes through all functions above on the stack.
        self.deeper(Self::postfix)
    }

    fn postfix(&mut self) -> Parsed {
        let mut base = self.primary()?;
        let mut steps = Vec::new();
        loop {
            self.skip_space();
            if self.eat(".") {
                // `a . b` is read like `a.b`.
                self.skip_space();
                let at = self.at;
                let name = self.identifier().ok_or_else(|| self.fault(&["the name of a field or function"]))?;
                if self.eat("(") {
                    steps.push(AccessStep::Method(self.call(name, at, true)?));
                // Only directly behind the root: `file.x.y` is a field of a field.
                } else if steps.is_empty() {
                    base = match self.field_of_root(&base, name) {
                        Some(node) => node,
                        None => {
                            steps.push(AccessStep::Field(name.into()));
                            base
                        }
                    };
                } else {
                    steps.push(AccessStep::Field(name.into()));
                }
            } else if self.eat("[") {
                let index = self.any()?;
                self.expect("]", &["]"])?;
                match &index {
                    // `note["x"]` is the same as `note.x`.
                    FormulaNode::Literal(BaseValue::Text(name)) if steps.is_empty() => {
                        match self.entry_of_root(&base, name) {
                            Some(node) => base = node,
                            None => steps.push(AccessStep::Index(index)),
                        }
                    }
                    _ => steps.push(AccessStep::Index(index)),
                }
            } else if self.eat("(") {
                // The call fails when it is evaluated, as in the app; here it only has to be well formed.
                self.arguments()?;
                steps.push(AccessStep::Apply);
            } else {
                break;
            }
        }
        Ok(if steps.is_empty() { base } else { FormulaNode::Access { base: Box::new(base), steps } })
    }

    /// `note.x`, `formula.x` and `file.x` are looked up once, here.
    fn field_of_root(&mut self, base: &FormulaNode, name: &str) -> Option<FormulaNode> {
        match base {
            FormulaNode::Root(RootName::File) => FileField::find(name).map(FormulaNode::FileField),
            _ => self.entry_of_root(base, name),
        }
    }

    fn entry_of_root(&mut self, base: &FormulaNode, name: &str) -> Option<FormulaNode> {
        match base {
            FormulaNode::Root(RootName::Note) => Some(FormulaNode::Property(self.names.property(name))),
            FormulaNode::Root(RootName::Formula) => Some(FormulaNode::FormulaOf(self.names.formula(name))),
            _ => None,
        }
    }

    fn expect(&mut self, sign: &str, expected: &'static [&'static str]) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.fault(expected)) }
    }

    /// Behind the opening parenthesis.
    fn arguments(&mut self) -> Parsed<Vec<FormulaNode>> {
        self.items(")", &[",", ")"])
    }

    fn items(&mut self, end: &str, expected: &'static [&'static str]) -> Parsed<Vec<FormulaNode>> {
        let mut items = Vec::new();
        // `f()` has no arguments, and `[]` no items.
        if self.eat(end) {
            return Ok(items);
        }
        loop {
            items.push(self.any()?);
            if !self.eat(",") {
                self.expect(end, expected)?;
                return Ok(items);
            }
        }
    }

    fn call(&mut self, name: &str, at: usize, is_method: bool) -> Parsed<FunctionCall> {
        let arguments = self.arguments()?;
        // Any case: the app compares names of functions without it.
        let function = KnownFunction::find(name);
        // The answer says that it may differ the next time.
        self.names.is_random |= function == Some(KnownFunction::Random);
        // Reported as a problem of the base; the expression is kept, as the app does.
        if function.is_none_or(|function| !is_method && !function.is_global()) {
            self.names.unknown_functions.push(UnknownFunction { name: name.to_owned(), at });
        }
        // A method depends on the value before it, so it is never the same for every row.
        let constant = if is_method { None } else { self.names.constant(function, &arguments) };
        Ok(FunctionCall { name: name.into(), function, arguments, constant })
    }

    fn primary(&mut self) -> Parsed {
        self.skip_space();
        let at = self.at;
        match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let node = self.any()?;
                self.expect(")", &["an operator", ")"])?;
                Ok(node)
            }
            Some('[') => {
                self.at += 1;
                Ok(FormulaNode::List(self.items("]", &[",", "]"])?))
            }
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some('/') => self.regexp(),
            Some(c) if c.is_ascii_digit() => self.number(),
            // A plainer message than what would be expected here.
            Some('{') => Err(self.problem(at, "there are no object literals in this language")),
            Some('+') => Err(self.problem(at, "a '+' needs a value before it")),
            _ => {
                let name = self.identifier().ok_or_else(|| self.fault(OPERAND_STARTS))?;
                self.named(name, at)
            }
        }
    }

    fn named(&mut self, name: &'p str, at: usize) -> Parsed {
        match name {
            // These have their case, unlike all other names.
            "true" => return Ok(FormulaNode::Literal(BaseValue::Boolean(true))),
            "false" => return Ok(FormulaNode::Literal(BaseValue::Boolean(false))),
            "null" => return Ok(FormulaNode::Literal(BaseValue::Null)),
            _ => {}
        }
        // Before the roots: `file("x")` is a call.
        if self.eat("(") {
            return Ok(FormulaNode::Call(self.call(name, at, false)?));
        }
        let is = |word: &str| name.eq_ignore_ascii_case(word);
        let root = match () {
            () if is("note") => Some(RootName::Note),
            () if is("file") => Some(RootName::File),
            () if is("formula") => Some(RootName::Formula),
            () if is("this") => Some(RootName::This),
            () => None,
        };
        if let Some(root) = root {
            return Ok(FormulaNode::Root(root));
        }
        // Outside of a summary it is a property like any other.
        if is("values") {
            return Ok(FormulaNode::Values { slot: self.names.property(name) });
        }
        let local = match () {
            () if is("value") => Some(LocalName::Value),
            () if is("index") => Some(LocalName::Index),
            () if is("acc") => Some(LocalName::Accumulator),
            () if is("key") => Some(LocalName::Key),
            () => None,
        };
        // Which of the two is meant is known only while it is evaluated.
        Ok(FormulaNode::Name { slot: self.names.property(name), local })
    }

    /// ASCII as the app has it, and letters of every script, which its release notes promise for properties.
    fn identifier(&mut self) -> Option<&'p str> {
        let begins = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || is_mark(c);
        let rest = self.rest();
        rest.chars().next().filter(|c| begins(*c))?;
        let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }

    /// Digits with an optional fraction. Nothing can be asked of a number directly: `1.round()` is not read by the app.
    fn number(&mut self) -> Parsed {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let mut end = digits(rest);
        if rest[end..].starts_with('.') {
            let fraction = digits(&rest[end + 1..]);
            if fraction == 0 {
                self.at += end + 1;
                return Err(self.fault(&["a digit"]));
            }
            end += 1 + fraction;
        }
        self.at += end;
        if self.rest().starts_with('.') {
            return Err(self.problem(self.at, "a number needs parentheses before its functions: '(1).round()'"));
        }
        let begins_name = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        // `2x` is not a product.
        if self.rest().starts_with(begins_name) {
            return Err(self.fault(&["an operator", "the end"]));
        }
        let number = rest[..end].parse().map_err(|_| self.fault(OPERAND_STARTS))?;
        Ok(FormulaNode::Literal(BaseValue::Number(number)))
    }

    /// With the escapes of JSON, and the other quote free.
    fn string(&mut self, quote: char) -> Parsed {
        let start = self.at;
        let mut chars = self.rest().char_indices().skip(1);
        let mut found = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    // A backslash at the end: the text is never closed.
                    let Some((_, escaped)) = chars.next() else { break };
                    let meant = match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        '"' | '\\' | '/' | '\'' => escaped,
                        'u' => {
                            let Some((code, length)) = unicode_escape(&self.text[start + at..]) else {
                                return Err(self.problem(start + at, "four hexadecimal digits must follow '\\u'"));
                            };
                            // The `u` is taken already, and with it two of the bytes.
                            chars.by_ref().take(length - 2).for_each(drop);
                            code
                        }
                        _ => return Err(self.problem(start + at, "there is no such escape in a text")),
                    };
                    found.push(meant);
                }
                c if c == quote => {
                    self.at = start + at + 1;
                    return Ok(FormulaNode::Literal(BaseValue::Text(found.into())));
                }
                c => found.push(c),
            }
        }
        Err(self.problem(start, format!("the text has no closing {quote}")))
    }

    /// `/body/flags`
    fn regexp(&mut self) -> Parsed {
        let start = self.at;
        let (mut escaped, mut in_class) = (false, false);
        let body = &self.rest()[1..];
        let end = body.char_indices().find_map(|(at, c)| {
            // As in JavaScript, `/` inside `[…]` is a plain character.
            let ends = c == '/' && !escaped && !in_class;
            match c {
                '[' if !escaped => in_class = true,
                ']' if !escaped => in_class = false,
                _ => {}
            }
            escaped = c == '\\' && !escaped;
            // A line break ends it too, since a regular expression has one line.
            (ends || c == '\n').then_some((at, ends))
        });
        let Some((end, true)) = end.filter(|(end, _)| *end > 0) else {
            return Err(self.problem(start, "the regular expression has no closing /"));
        };
        let body = &body[..end];
        self.at = start + 1 + end + 1;
        let rest = self.rest();
        // Letters right behind the slash; whether they are flags is checked by the regular expression itself.
        let flags = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
        self.at += flags.len();
        let regexp = BaseRegexp::new(body, flags).map_err(|problem| self.problem(start, problem))?;
        Ok(FormulaNode::Literal(BaseValue::Regexp(Arc::new(regexp))))
    }
}

fn single(mut nodes: Vec<FormulaNode>) -> Result<FormulaNode, Vec<FormulaNode>> {
    match nodes.pop() {
        Some(only) if nodes.is_empty() => Ok(only),
        Some(last) => {
            nodes.push(last);
            Err(nodes)
        }
        None => Err(nodes),
    }
}

/// Marks that are part of a letter before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}') || unicode_normalization::char::is_combining_mark(c)
}

/// The character of `\u0041` at the beginning of a text, of one or two of them, and how many bytes they take.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let first = unit(text)?;
    let second = text.get(6..).and_then(unit);
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    match (char::from_u32(u32::from(first)), pair) {
        (Some(c), _) => Some((c, 6)),
        (None, Some(c)) => Some((c, 12)),
        // Half of a pair is not a character; JavaScript would keep it, and shows it like this.
        (None, None) => Some((char::REPLACEMENT_CHARACTER, 6)),
    }
}
