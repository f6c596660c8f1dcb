//! Why a query may find nothing, or have empty columns: names that no note has.

use lapidary_query::{KnownNames, QueryContext, QueryHalt, QueryVault, RowSelection, nearest};

use super::{
    file_fields::FileField,
    items::is_item_name,
    letters::has_canonical_name,
    parser::ParsedQuery,
    syntax::{ClauseKind, FieldPostfix, FieldSyntax, QueryHeader, SourceSyntax},
};

/// More would bury the first.
const MOST_HINTS: usize = 3;

/// Names that have a meaning of their own, whatever notes have.
const OWN_NAMES: [&str; 5] = ["file", "this", "row", "rows", "key"];

/// What the query names and no readable note has. Only what leaves rows out counts: sources, WHERE and FLATTEN.
pub(super) fn unknown_names(
    query: &ParsedQuery,
    vault: &dyn QueryVault,
    context: &QueryContext<'_>,
) -> Result<Vec<String>, QueryHalt> {
    let mut named = NamedByQuery::default();
    if let Some((source, _)) = &query.source {
        named.source(source);
    }
    for clause in &query.clauses {
        match &clause.kind {
            ClauseKind::Where(field) => named.field(field),
            ClauseKind::Flatten(field) => {
                named.field(&field.field);
                // The query defines this name itself from here on.
                named.bound.push(field.name.clone());
            }
            ClauseKind::GroupBy(field) => named.bound.push(field.name.clone()),
            _ => {}
        }
    }
    let is_task = matches!(query.header, QueryHeader::Task);
    named.drop_own_names(is_task);
    named.tags.retain(|tag| vault.select(&RowSelection::PageTag(tag)).is_empty());
    let is_file = |path: &str| vault.find(path).or_else(|| vault.find(&format!("{path}.md"))).is_some();
    named
        // FROM "X" may also be one file.
        .folders
        .retain(|folder| !matches!(folder.as_str(), "" | "/") && !vault.has_folder(folder) && !is_file(folder));
    KnownNames::retain_unknown_properties(vault, context, true, &mut named.properties, &is_same_name)?;
    let mut hints = named.hints;
    if !(named.tags.is_empty() && named.folders.is_empty() && named.properties.is_empty()) {
        // Walks all notes, so only if there is something to suggest for.
        let known = KnownNames::of(vault, context, true)?;
        hints.extend(named.tags.iter().map(|tag| known.without_tag(tag)));
        hints.extend(named.folders.iter().map(|folder| known.without_folder(folder)));
        hints.extend(named.properties.iter().map(|name| known.without_property(name)));
    }
    hints.truncate(MOST_HINTS);
    Ok(hints)
}

/// Columns that are empty because no readable note has what they name, if another name is near. A column may also be for
/// what no note has yet.
pub(super) fn mistyped_columns(
    query: &ParsedQuery,
    vault: &dyn QueryVault,
    context: &QueryContext<'_>,
) -> Result<Vec<String>, QueryHalt> {
    let mut named = NamedByQuery::default();
    for clause in &query.clauses {
        match &clause.kind {
            ClauseKind::Flatten(field) | ClauseKind::GroupBy(field) => named.bound.push(field.name.clone()),
            _ => {}
        }
    }
    match &query.header {
        QueryHeader::Table { columns, .. } => columns.iter().for_each(|column| named.field(&column.field)),
        QueryHeader::List { format: Some(format), .. } => named.field(format),
        _ => {}
    }
    named.drop_own_names(false);
    KnownNames::retain_unknown_properties(vault, context, true, &mut named.properties, &is_same_name)?;
    let mut hints: Vec<String> = named.hints;
    if !named.properties.is_empty() {
        let known = KnownNames::of(vault, context, true)?;
        // A column for what no note has yet is fine, so only a near miss is worth a word.
        hints.extend(named.properties.iter().filter_map(|name| known.nearest_property(name)));
    }
    hints.truncate(MOST_HINTS);
    Ok(hints)
}

fn is_same_name(known: &str, name: &str) -> bool {
    known == name || has_canonical_name(known, name)
}

/// What a query names, each once, in the order of the query.
#[derive(Default)]
struct NamedByQuery {
    tags: Vec<String>,
    folders: Vec<String>,
    properties: Vec<String>,
    /// Parameters of lambdas, and what FLATTEN and GROUP BY have named.
    bound: Vec<String>,
    hints: Vec<String>,
}

impl NamedByQuery {
    /// Leaves out what has a meaning whatever notes have.
    fn drop_own_names(&mut self, is_task: bool) {
        self.properties.retain(|name| !(OWN_NAMES.contains(&name.as_str()) || (is_task && is_item_name(name))));
    }

    fn source(&mut self, source: &SourceSyntax) {
        match source {
            SourceSyntax::Tag(tag) => put(&mut self.tags, tag),
            SourceSyntax::Folder(path) => put(&mut self.folders, path),
            SourceSyntax::Chain(first, more) => {
                self.source(first);
                more.iter().for_each(|(_, next)| self.source(next));
            }
            // What is left out without being there changes nothing.
            SourceSyntax::Not(_) | SourceSyntax::Csv(_) | SourceSyntax::Link { .. } => {}
        }
    }

    fn field(&mut self, field: &FieldSyntax) {
        match field {
            FieldSyntax::Literal(_) => {}
            FieldSyntax::Variable(name) => {
                if !self.bound.contains(name) {
                    put(&mut self.properties, name);
                }
            }
            FieldSyntax::Not(inner) => self.field(inner),
            FieldSyntax::Chain(first, more) => {
                self.field(first);
                more.iter().for_each(|(_, next)| self.field(next));
            }
            FieldSyntax::List(items) => items.iter().for_each(|item| self.field(item)),
            FieldSyntax::Object(entries) => entries.iter().for_each(|(_, value)| self.field(value)),
            FieldSyntax::Lambda { parameters, body } => {
                let outer = self.bound.len();
                self.bound.extend(parameters.iter().cloned());
                self.field(body);
                self.bound.truncate(outer);
            }
            FieldSyntax::Postfix(first, steps) => {
                match (&**first, steps.first()) {
                    // The name of a function.
                    (FieldSyntax::Variable(_), Some(FieldPostfix::Call(_))) => {}
                    (FieldSyntax::Variable(name), Some(FieldPostfix::Name(field))) if name == "file" => {
                        self.file_field(field);
                    }
                    (FieldSyntax::Variable(name), Some(FieldPostfix::Name(field))) if name == "row" => {
                        put(&mut self.properties, field);
                    }
                    (first, _) => self.field(first),
                }
                for step in steps {
                    match step {
                        FieldPostfix::Name(_) => {}
                        FieldPostfix::Index(index) => self.field(index),
                        FieldPostfix::Call(arguments) => arguments.iter().for_each(|argument| self.field(argument)),
                    }
                }
            }
        }
    }

    fn file_field(&mut self, name: &str) {
        if FileField::of(name).is_some() || self.bound.iter().any(|bound| bound == "file") {
            return;
        }
        let meant = nearest(name, FileField::ALL.iter().map(|(known, _)| *known));
        let meant = meant.map(|known| format!("; did you mean file.{known}?")).unwrap_or_default();
        self.hints.push(format!("files have no field file.{name}{meant}"));
    }
}

fn put(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
