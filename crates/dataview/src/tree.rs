//! Queries and expressions as JSON, to be compared with what Dataview's own parser makes of them. Chains stay flat: a
//! list of operands with the operators between them.

use serde_json::{Map, Value as Json, json};

use lapidary_query::{Value, typed_json};

use super::{
    parser::{ParsedQuery, parse_field, parse_query},
    syntax::{ClauseKind, FieldLiteral, FieldPostfix, FieldSyntax, NamedField, QueryHeader, SourceJoin, SourceSyntax},
};

/// The tree of an expression; nothing if it cannot be read.
pub fn field_tree(text: &str) -> Option<Json> {
    parse_field(text).ok().map(|field| tree(&field))
}

/// The tree of a query; nothing if it cannot be read.
pub fn query_tree(text: &str) -> Option<Json> {
    parse_query(text).ok().map(|query| whole_query(&query))
}

fn tree(field: &FieldSyntax) -> Json {
    match field {
        // Not its value, which depends on the clock.
        FieldSyntax::Literal(FieldLiteral::Shorthand(shorthand)) => json!({ "shorthand": format!("{shorthand:?}") }),
        FieldSyntax::Literal(literal) => json!({ "literal": typed_json(&literal_value(literal)) }),
        FieldSyntax::Variable(name) => json!({ "variable": name }),
        FieldSyntax::Not(inner) => json!({ "not": tree(inner) }),
        FieldSyntax::Chain(first, more) => {
            let mut parts = vec![tree(first)];
            for (operator, next) in more {
                parts.push(Json::from(operator.sign()));
                parts.push(tree(next));
            }
            json!({ "chain": parts })
        }
        FieldSyntax::List(items) => json!({ "list": items.iter().map(tree).collect::<Json>() }),
        FieldSyntax::Object(entries) => {
            let entries: Map<String, Json> = entries.iter().map(|(name, field)| (name.clone(), tree(field))).collect();
            json!({ "object": entries })
        }
        FieldSyntax::Lambda { parameters, body } => json!({ "lambda": parameters, "body": tree(body) }),
        FieldSyntax::Postfix(first, steps) => {
            let step = |step: &FieldPostfix| match step {
                FieldPostfix::Name(name) => json!({ "index": { "literal": name } }),
                FieldPostfix::Index(index) => json!({ "index": tree(index) }),
                FieldPostfix::Call(arguments) => json!({ "call": arguments.iter().map(tree).collect::<Json>() }),
            };
            json!({ "postfix": tree(first), "steps": steps.iter().map(step).collect::<Json>() })
        }
    }
}

fn literal_value(literal: &FieldLiteral) -> Value {
    match literal {
        FieldLiteral::Null | FieldLiteral::Shorthand(_) => Value::Null,
        FieldLiteral::Boolean(value) => Value::Boolean(*value),
        FieldLiteral::Number(number) => super::cell::number_value(*number),
        FieldLiteral::Text(text) => Value::from(text.as_str()),
        FieldLiteral::Date(date) => Value::Date(date.clone()),
        FieldLiteral::Duration(duration) => Value::Duration(*duration),
        FieldLiteral::Link(link) => Value::Link(link.clone()),
    }
}

fn named(field: &NamedField) -> Json {
    json!({ "name": field.name, "field": tree(&field.field) })
}

fn source(syntax: &SourceSyntax) -> Json {
    match syntax {
        SourceSyntax::Folder(path) => json!({ "folder": path }),
        SourceSyntax::Tag(tag) => json!({ "tag": tag }),
        SourceSyntax::Csv(path) => json!({ "csv": path }),
        SourceSyntax::Link { path, incoming } => json!({ "link": path, "incoming": incoming }),
        SourceSyntax::Not(inner) => json!({ "not": source(inner) }),
        SourceSyntax::Chain(first, more) => {
            let mut parts = vec![source(first)];
            for (join, next) in more {
                parts.push(Json::from(if *join == SourceJoin::And { "&" } else { "|" }));
                parts.push(source(next));
            }
            json!({ "chain": parts })
        }
    }
}

fn whole_query(query: &ParsedQuery) -> Json {
    let header = match &query.header {
        QueryHeader::Table { shows_id, columns } => {
            json!({ "type": "table", "showId": shows_id, "fields": columns.iter().map(named).collect::<Json>() })
        }
        QueryHeader::List { shows_id, format } => {
            json!({ "type": "list", "showId": shows_id, "format": format.as_ref().map(tree) })
        }
        QueryHeader::Task => json!({ "type": "task" }),
        QueryHeader::Calendar { date } => json!({ "type": "calendar", "field": named(date) }),
    };
    let clause = |kind: &ClauseKind| match kind {
        ClauseKind::From(syntax) => json!({ "from": source(syntax) }),
        ClauseKind::Where(field) => json!({ "where": tree(field) }),
        ClauseKind::Sort(keys) => {
            let key = |key: &super::syntax::SortKey| json!({ "field": tree(&key.field), "descending": key.descending });
            json!({ "sort": keys.iter().map(key).collect::<Json>() })
        }
        ClauseKind::Limit(field) => json!({ "limit": tree(field) }),
        ClauseKind::GroupBy(field) => json!({ "group": named(field) }),
        ClauseKind::Flatten(field) => json!({ "flatten": named(field) }),
    };
    json!({
        "header": header,
        // Without the text of the source, which only explanations need.
        "source": query.source.as_ref().map(|(syntax, _)| source(syntax)),
        "clauses": query.clauses.iter().map(|found| clause(&found.kind)).collect::<Json>(),
    })
}
