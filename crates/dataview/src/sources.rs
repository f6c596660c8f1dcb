//! Where the rows of a query come from. Sets are taken from the indexes and combined before a row is looked at.

use std::rc::Rc;

use lapidary_query::{QueryHalt, QueryStep, RowSelection, RowSet, csv_rows, dataview_property};

use super::{
    cell::Cell,
    engine::QueryEngine,
    letters::canonical_name,
    links::links_within,
    page::plain_cell,
    record::{RecordBase, RecordData},
    run::QueryRow,
    syntax::{SourceJoin, SourceSyntax},
};

/// Pages, and rows of CSV files.
#[derive(Default)]
pub(super) struct SourceRows<'v> {
    pub(super) pages: RowSet,
    pub(super) tables: Vec<QueryRow<'v>>,
}

pub(super) struct SourceReader<'e, 'v> {
    pub(super) engine: &'e QueryEngine<'v>,
    /// What was read, for explanations.
    pub(super) steps: Vec<QueryStep>,
}

impl<'v> SourceReader<'_, 'v> {
    pub(super) fn read(&mut self, source: &SourceSyntax) -> Result<SourceRows<'v>, QueryHalt> {
        let vault = self.engine.vault;
        match source {
            SourceSyntax::Folder(path) => Ok(self.folder(path)),
            SourceSyntax::Tag(tag) => Ok(self.select(&RowSelection::PageTag(tag), || format!("FROM {tag}"))),
            SourceSyntax::Csv(path) => self.csv(path),
            SourceSyntax::Link { path, incoming } => self.link(path, *incoming),
            SourceSyntax::Not(inner) => {
                let inner = self.read(inner)?;
                // The rest of all notes: rows of CSV files have no complement.
                Ok(SourceRows { pages: vault.pages().difference(&inner.pages), tables: Vec::new() })
            }
            SourceSyntax::Chain(first, more) => {
                let mut rows = self.read(first)?;
                for (join, next) in more {
                    let next = self.read(next)?;
                    rows = match join {
                        SourceJoin::And => both(rows, &next),
                        SourceJoin::Or => either(rows, next),
                    };
                }
                Ok(rows)
            }
        }
    }

    fn select(&mut self, selection: &RowSelection<'_>, name: impl Fn() -> String) -> SourceRows<'v> {
        let vault = self.engine.vault;
        let selected = vault.select(selection);
        let pages = match selection {
            // These may select attachments, which are not pages.
            RowSelection::Folder(_) | RowSelection::LinkedFrom(_) => selected.intersection(&vault.pages()),
            _ => selected,
        };
        self.steps.push(QueryStep { name: name(), rows: pages.len(), index: vault.served_by(selection) });
        SourceRows { pages, tables: Vec::new() }
    }

    fn folder(&mut self, path: &str) -> SourceRows<'v> {
        let vault = self.engine.vault;
        if path.is_empty() || path == "/" {
            return self.select(&RowSelection::Pages, || "all notes".to_owned());
        }
        // A folder before a note of the same name, as in Dataview.
        if vault.has_folder(path) {
            return self.select(&RowSelection::Folder(path), || format!("FROM \"{path}\""));
        }
        let file = vault.find(path).or_else(|| vault.find(&format!("{path}.md")));
        let pages: RowSet = file.into_iter().filter(|number| self.engine.page(*number).is_some()).collect();
        self.steps.push(QueryStep { name: format!("FROM \"{path}\""), rows: pages.len(), index: Some("paths") });
        SourceRows { pages, tables: Vec::new() }
    }

    fn link(&mut self, path: &str, incoming: bool) -> Result<SourceRows<'v>, QueryHalt> {
        let Some((number, _)) = self.engine.resolve(path) else {
            // Nothing links out of what does not exist, so that both directions mean the same.
            return Ok(self.select(&RowSelection::LinksToMissing(path), || format!("FROM [[{path}]]")));
        };
        // Links such as `[[#Heading]]` are not in the index of links.
        let page = self.engine.page(number);
        let itself: RowSet = page.iter().filter(|page| links_within(&*page.row)).map(|_| number).collect();
        let with_itself = |mut found: SourceRows<'v>| {
            found.pages = found.pages.union(&itself);
            found
        };
        if incoming {
            return Ok(with_itself(self.select(&RowSelection::LinksTo(number), || format!("FROM [[{path}]]"))));
        }
        if page.is_none() {
            return Err(QueryHalt::failed(format!(
                "Could not find file \"{path}\" during link lookup - does it exist?"
            )));
        }
        Ok(with_itself(self.select(&RowSelection::LinkedFrom(number), || format!("FROM outgoing([[{path}]])"))))
    }

    /// Next to the origin first, then from the top of the vault.
    fn csv(&mut self, path: &str) -> Result<SourceRows<'v>, QueryHalt> {
        let vault = self.engine.vault;
        let absolute = path.strip_prefix('/');
        let folder = self.engine.context.origin.and_then(|origin| origin.rsplit_once('/')).map(|(folder, _)| folder);
        let beside = folder.filter(|_| absolute.is_none()).map(|folder| format!("{folder}/{path}"));
        let places = beside.into_iter().chain([absolute.unwrap_or(path).to_owned()]);
        let found = places.into_iter().find_map(|place| Some((vault.text(&place)?, place)));
        let Some((text, place)) = found else {
            return Err(QueryHalt::failed(format!("Failed to load data from path '{path}'.")));
        };
        self.engine.context.hold(text.len())?;
        let tables: Vec<QueryRow<'v>> = csv_rows(&text)
            .into_iter()
            .enumerate()
            .map(|(at, row)| {
                let mut entries: indexmap::IndexMap<Rc<str>, Cell<'v>> = indexmap::IndexMap::new();
                for (name, value) in row {
                    let value = plain_cell(self.engine, &dataview_property(&value));
                    entries.insert(name.as_str().into(), value.clone());
                    let canonical = canonical_name(&name);
                    if !canonical.is_empty() {
                        // Of several columns with one canonical name the last counts, as in Dataview.
                        entries.insert(canonical.into(), value);
                    }
                }
                let Cell::Object(object) = Cell::object(entries) else { unreachable!("an object was made") };
                let data = Rc::new(RecordData::new(RecordBase::Object(object)));
                QueryRow { id: Some(Cell::text(format!("{place}#{at}"))), data }
            })
            .collect();
        self.steps.push(QueryStep { name: format!("FROM csv(\"{path}\")"), rows: tables.len(), index: None });
        Ok(SourceRows { pages: RowSet::default(), tables })
    }
}

fn id_text<'c>(row: &'c QueryRow<'_>) -> &'c str {
    match &row.id {
        Some(Cell::Text(id)) => id,
        _ => "",
    }
}

fn both<'v>(mut left: SourceRows<'v>, right: &SourceRows<'v>) -> SourceRows<'v> {
    left.tables.retain(|row| right.tables.iter().any(|other| id_text(other) == id_text(row)));
    SourceRows { pages: left.pages.intersection(&right.pages), tables: left.tables }
}

fn either<'v>(mut left: SourceRows<'v>, right: SourceRows<'v>) -> SourceRows<'v> {
    let known: Vec<String> = left.tables.iter().map(|row| id_text(row).to_owned()).collect();
    left.tables.extend(right.tables.into_iter().filter(|row| !known.iter().any(|known| known == id_text(row))));
    SourceRows { pages: left.pages.union(&right.pages), tables: left.tables }
}
