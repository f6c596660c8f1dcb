//! Where rows come from: `FROM #tag and -"folder"`.

use crate::syntax::{FieldOperator, SourceJoin, SourceSyntax};

use super::{BOOLEAN, DqlParser};

impl DqlParser<'_> {
    pub(super) fn source(&mut self) -> Option<SourceSyntax> {
        let first = self.source_atom()?;
        let mut more = Vec::new();
        while let Some(next) = self.attempt(|parser| {
            let join = match parser.operator(&BOOLEAN)? {
                FieldOperator::And => SourceJoin::And,
                _ => SourceJoin::Or,
            };
            Some((join, parser.source_atom()?))
        }) {
            more.push(next);
        }
        Some(if more.is_empty() { first } else { SourceSyntax::Chain(Box::new(first), more) })
    }

    fn source_atom(&mut self) -> Option<SourceSyntax> {
        let parens = |parser: &mut Self| {
            parser.eat("(")?;
            parser.spaces();
            let source = parser.source()?;
            parser.spaces();
            parser.eat(")")?;
            Some(source)
        };
        if let Some(source) = self.attempt(|parser| parser.deeper(parens)) {
            return Some(source);
        }
        let not = |parser: &mut Self| {
            if parser.eat("-").is_none() {
                parser.eat("!")?;
            }
            parser.source_atom()
        };
        if let Some(source) = self.attempt(|parser| parser.deeper(not)) {
            return Some(SourceSyntax::Not(Box::new(source)));
        }
        let outgoing = |parser: &mut Self| {
            parser.eat("outgoing(")?;
            parser.spaces();
            let link = parser.link()?;
            parser.eat(")")?;
            Some(SourceSyntax::Link { path: link.path, incoming: false })
        };
        if let Some(source) = self.attempt(outgoing) {
            return Some(source);
        }
        // A bare link means the pages that link to it; only `outgoing` turns the direction around.
        if let Some(link) = self.link() {
            return Some(SourceSyntax::Link { path: link.path, incoming: true });
        }
        if let Some(path) = self.string() {
            return Some(SourceSyntax::Folder(path));
        }
        if let Some(tag) = self.tag() {
            return Some(SourceSyntax::Tag(tag));
        }
        self.attempt(|parser| {
            parser.eat("csv(")?;
            parser.spaces();
            let path = parser.string()?;
            parser.eat(")")?;
            Some(SourceSyntax::Csv(path))
        })
    }
}
