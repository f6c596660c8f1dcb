//! Expressions: chains of operators, what follows a value, and the values themselves.

use crate::{
    letters::{emoji_length, is_letter},
    syntax::{FieldLiteral, FieldOperator, FieldPostfix, FieldSyntax},
};

use super::{BOOLEAN, DqlParser};

/// Names that no variable may have; a field of such a name is reached as `row.where`.
const RESERVED: [&str; 5] = ["FROM", "WHERE", "LIMIT", "GROUP", "FLATTEN"];

const COMPARISON: [(&str, FieldOperator); 6] = [
    (">=", FieldOperator::GreaterOrEqual),
    ("<=", FieldOperator::LessOrEqual),
    ("!=", FieldOperator::NotEqual),
    (">", FieldOperator::Greater),
    ("<", FieldOperator::Less),
    ("=", FieldOperator::Equal),
];
const SUM: [(&str, FieldOperator); 2] = [("+", FieldOperator::Add), ("-", FieldOperator::Subtract)];
const PRODUCT: [(&str, FieldOperator); 3] =
    [("*", FieldOperator::Multiply), ("/", FieldOperator::Divide), ("%", FieldOperator::Remainder)];

impl<'t> DqlParser<'t> {
    fn chain(
        &mut self,
        level: &[(&'static str, FieldOperator)],
        read: fn(&mut Self) -> Option<FieldSyntax>,
    ) -> Option<FieldSyntax> {
        let first = read(self)?;
        let mut more = Vec::new();
        // An operator without an operand is given back, for the caller to deal with.
        while let Some(next) = self.attempt(|parser| Some((parser.operator(level)?, read(parser)?))) {
            more.push(next);
        }
        Some(if more.is_empty() { first } else { FieldSyntax::Chain(Box::new(first), more) })
    }

    pub(super) fn field(&mut self) -> Option<FieldSyntax> {
        // Every nesting goes through here, so this bounds the depth of an expression.
        self.deeper(|parser| parser.chain(&BOOLEAN, Self::comparison))
    }

    fn comparison(&mut self) -> Option<FieldSyntax> {
        self.chain(&COMPARISON, Self::sum)
    }

    fn sum(&mut self) -> Option<FieldSyntax> {
        self.chain(&SUM, Self::product)
    }

    fn product(&mut self) -> Option<FieldSyntax> {
        self.chain(&PRODUCT, Self::postfix)
    }

    fn postfix(&mut self) -> Option<FieldSyntax> {
        let first = self.atom()?;
        let mut steps = Vec::new();
        while let Some(step) = self.attempt(Self::postfix_step) {
            steps.push(step);
        }
        Some(if steps.is_empty() { first } else { FieldSyntax::Postfix(Box::new(first), steps) })
    }

    fn postfix_step(&mut self) -> Option<FieldPostfix> {
        if self.eat(".").is_some() {
            // After a point, a keyword is a name like any other.
            return self.identifier().map(|name| FieldPostfix::Name(name.to_owned()));
        }
        if self.eat("[").is_some() {
            self.spaces();
            let index = self.field()?;
            self.spaces();
            self.eat("]")?;
            return Some(FieldPostfix::Index(index));
        }
        self.eat("(")?;
        self.spaces();
        // No arguments at all are fine, so a failed attempt is not an error.
        let arguments = self.attempt(|parser| parser.several(Self::field)).unwrap_or_default();
        self.spaces();
        self.eat(")")?;
        Some(FieldPostfix::Call(arguments))
    }

    fn atom(&mut self) -> Option<FieldSyntax> {
        let literal = |literal: FieldLiteral| Some(FieldSyntax::Literal(literal));
        // Before `!` as a negation: `![[Note]]` is an embed.
        let embed = self.attempt(|parser| {
            parser.eat("!")?;
            let mut link = parser.link()?;
            link.embed = true;
            Some(link)
        });
        if let Some(link) = embed.or_else(|| self.link()) {
            return literal(FieldLiteral::Link(link));
        }
        let not = |parser: &mut Self| {
            parser.eat("!")?;
            parser.postfix()
        };
        if let Some(field) = self.attempt(|parser| parser.deeper(not)) {
            return Some(FieldSyntax::Not(Box::new(field)));
        }
        // A lambda before brackets, as both begin alike.
        for form in [Self::list, Self::object, Self::lambda, Self::parens] {
            if let Some(field) = self.attempt(form) {
                return Some(field);
            }
        }
        if let Some(value) = self.boolean() {
            return literal(FieldLiteral::Boolean(value));
        }
        if let Some(number) = self.number() {
            return literal(FieldLiteral::Number(number));
        }
        if let Some(text) = self.string() {
            return literal(FieldLiteral::Text(text));
        }
        if let Some(date) = self.attempt(Self::date_literal) {
            return literal(date);
        }
        if let Some(duration) = self.attempt(Self::duration_literal) {
            return literal(FieldLiteral::Duration(duration));
        }
        // Without a look at what follows, as in Dataview's grammar.
        if self.rest().starts_with("null") {
            self.at += "null".len();
            return literal(FieldLiteral::Null);
        }
        self.attempt(|parser| {
            let start = parser.at;
            let name = parser.identifier()?;
            if RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
                parser.at = start;
                return parser.miss("a variable");
            }
            Some(FieldSyntax::Variable(name.to_owned()))
        })
    }

    fn list(&mut self) -> Option<FieldSyntax> {
        self.eat("[")?;
        self.spaces();
        let items = self.attempt(|parser| parser.several(Self::field)).unwrap_or_default();
        self.spaces();
        self.eat("]")?;
        Some(FieldSyntax::List(items))
    }

    fn object(&mut self) -> Option<FieldSyntax> {
        self.eat("{")?;
        self.spaces();
        let entry = |parser: &mut Self| {
            // A name that is not an identifier can be quoted.
            let name = parser.attempt(Self::identifier).map(str::to_owned).or_else(|| parser.string())?;
            parser.spaces();
            parser.eat(":")?;
            parser.spaces();
            Some((name, parser.field()?))
        };
        let entries = self.attempt(|parser| parser.several(entry)).unwrap_or_default();
        self.spaces();
        self.eat("}")?;
        Some(FieldSyntax::Object(entries))
    }

    fn lambda(&mut self) -> Option<FieldSyntax> {
        self.spaces();
        self.eat("(")?;
        self.spaces();
        let parameters = self.attempt(|parser| parser.several(Self::identifier)).unwrap_or_default();
        self.spaces();
        self.eat(")")?;
        self.spaces();
        self.eat("=>")?;
        self.spaces();
        let body = Box::new(self.field()?);
        Some(FieldSyntax::Lambda { parameters: parameters.into_iter().map(str::to_owned).collect(), body })
    }

    fn parens(&mut self) -> Option<FieldSyntax> {
        self.eat("(")?;
        self.spaces();
        let field = self.field()?;
        self.spaces();
        self.eat(")")?;
        Some(field)
    }

    pub(super) fn identifier(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let step = |text: &str, first: bool| match text.chars().next() {
            Some(c) if is_letter(c) || (!first && (c.is_ascii_digit() || matches!(c, '_' | '-'))) => c.len_utf8(),
            // Dataview accepts emoji in names.
            _ => emoji_length(text),
        };
        let mut end = 0;
        loop {
            let next = step(&rest[end..], end == 0);
            if next == 0 {
                break;
            }
            end += next;
        }
        if end == 0 {
            return self.miss("a name");
        }
        self.at += end;
        Some(&rest[..end])
    }
}
