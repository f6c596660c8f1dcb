//! Why a view may have no rows: its filters name what no file has.

use std::collections::BTreeSet;

use lapidary_query::{KnownNames, QueryContext, QueryHalt, QueryVault, RowSelection};

use super::{
    base_file::BaseFile,
    base_filter::{BaseFilter, IndexedFilter},
    formula::{AccessStep, FormulaNode},
};

/// More would bury the first.
const MOST_HINTS: usize = 3;

impl BaseFile {
    /// Tags, folders and properties in the filters of a view that no file has, for a result without rows: perhaps one is
    /// misspelt.
    pub fn unknown_names(
        &self,
        view: Option<&str>,
        vault: &dyn QueryVault,
        context: &QueryContext<'_>,
    ) -> Result<Vec<String>, QueryHalt> {
        let Some(view) = self.view(view) else { return Ok(Vec::new()) };
        let filters: Vec<&BaseFilter> = [&self.filters, &view.filters].into_iter().flatten().collect();
        let mut indexed = Vec::new();
        let mut places = BTreeSet::new();
        for filter in filters {
            filter.selections(None, &mut indexed);
            filter.visit(&mut |node| named_properties(node, &mut places));
        }
        let is_missing = |selection: &&RowSelection<'_>| match selection {
            // The folder without a name is the vault, which always exists.
            RowSelection::Folder(folder) => !folder.is_empty() && !vault.has_folder(folder),
            selection => vault.select(selection).is_empty(),
        };
        let missing: Vec<RowSelection<'_>> =
            indexed.iter().flat_map(|IndexedFilter { any, .. }| any.iter().filter(is_missing).copied()).collect();
        let names = places.iter().filter_map(|place| self.names.properties.get(*place));
        let mut properties: Vec<String> = names.cloned().collect();
        // Names of a base are in lower case already.
        let is_same = |known: &str, name: &str| known.to_lowercase() == name;
        KnownNames::retain_unknown_properties(vault, context, false, &mut properties, &is_same)?;
        if missing.is_empty() && properties.is_empty() {
            return Ok(Vec::new());
        }
        // Walks all files, so only if there is something to suggest for.
        let known = KnownNames::of(vault, context, false)?;
        let selected = missing.iter().filter_map(|selection| match selection {
            RowSelection::Tag(tag) => Some(known.without_tag(tag)),
            RowSelection::Folder(folder) => Some(known.without_folder(folder)),
            _ => None,
        });
        let properties = properties.iter().map(|name| known.without_property(name));
        Ok(selected.chain(properties).take(MOST_HINTS).collect())
    }
}

/// The places of the properties that an expression names.
fn named_properties(node: &FormulaNode, places: &mut BTreeSet<usize>) {
    let mut all = |nodes: &[FormulaNode]| nodes.iter().for_each(|node| named_properties(node, places));
    match node {
        // `value` and its like mean something else in `map`.
        FormulaNode::Name { slot, local: None } | FormulaNode::Property(slot) => {
            places.insert(*slot);
        }
        FormulaNode::List(nodes) | FormulaNode::All(nodes) | FormulaNode::Any(nodes) => all(nodes),
        FormulaNode::Not(inner) | FormulaNode::Negate(inner) => named_properties(inner, places),
        FormulaNode::Chain { first, rest } => {
            named_properties(first, places);
            rest.iter().for_each(|(_, node)| named_properties(node, places));
        }
        FormulaNode::Access { base, steps } => {
            named_properties(base, places);
            for step in steps {
                match step {
                    AccessStep::Index(index) => named_properties(index, places),
                    AccessStep::Method(call) => call.arguments.iter().for_each(|node| named_properties(node, places)),
                    AccessStep::Field(_) | AccessStep::Apply => {}
                }
            }
        }
        FormulaNode::Call(call) => all(&call.arguments),
        FormulaNode::Literal(_)
        | FormulaNode::Name { .. }
        | FormulaNode::FormulaOf(_)
        | FormulaNode::FileField(_)
        | FormulaNode::Root(_)
        | FormulaNode::Values { .. } => {}
    }
}
