//! Runs a view: filters, sort, limit, groups, summaries, in this order.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    base_answer::{BaseAnswer, BaseColumn, BaseGroup, BaseRow, BaseSummary},
    base_file::{BaseFile, BaseView, SummaryFormula, SummaryRule},
    base_filter::{BaseFilter, FilterErrors, IndexedFilter},
    base_value::{BaseFileHandle, BaseValue},
    comparison::{DistinctKey, distinct_key, sorted_places},
    evaluation::{Evaluation, EvaluationScope},
    formula::FormulaNode,
    text_form::TextClock,
};
use lapidary_note::{ChargeAside, count_steps};
use lapidary_query::{DroppedRows, QueryContext, QueryHalt, QueryStep, QueryVault, RowNumber, RowSelection, RowSet};

/// Fewer rows are not worth another thread.
const ROWS_FOR_THREADS: usize = 2048;
const MOST_THREADS: usize = 8;
/// Progress is told and memory counted after this many rows.
const ROWS_BETWEEN_NEWS: usize = 1024;
/// What looking up the path of a row counts.
const ROW_STEPS: usize = 64;

impl BaseFile {
    /// The rows of a view, or of the first.
    pub fn run(
        &self,
        view: Option<&str>,
        vault: &dyn QueryVault,
        context: &QueryContext<'_>,
    ) -> Result<BaseAnswer, QueryHalt> {
        let Some(view) = self.view(view) else {
            return Err(QueryHalt::failed(format!("View \"{}\" not found", view.unwrap_or_default())));
        };
        let this = context
            .origin
            .map(|path| Arc::new(BaseFileHandle { path: path.into(), number: vault.find(path), is_this: true }));
        let clock = TextClock { zone: context.zone.clone(), now: context.now };
        let scope = EvaluationScope {
            names: &self.names,
            formula_places: &self.formula_places,
            formulas: &self.formula_nodes,
            vault,
            context,
            clock,
            this,
        };
        ViewRun { base: self, view, scope: &scope, steps: Vec::new() }.answer()
    }
}

struct ViewRun<'r> {
    base: &'r BaseFile,
    view: &'r BaseView,
    scope: &'r EvaluationScope<'r>,
    steps: Vec<QueryStep>,
}

/// A row that passed the filters.
struct FoundRow {
    number: RowNumber,
    /// What it is sorted and grouped by, what is summed up, and its cells, as far as they were worked out.
    values: Vec<BaseValue>,
}

/// What one pass over some rows has found.
#[derive(Default)]
struct PassResult {
    rows: Vec<FoundRow>,
    errors: FilterErrors,
    /// After the filters of the base.
    after_base: usize,
}

impl<'r> ViewRun<'r> {
    fn answer(mut self) -> Result<BaseAnswer, QueryHalt> {
        let view = self.view;
        // The values of a row are these first, then its cells.
        let keys: Vec<&FormulaNode> = view.sort.iter().chain(&view.group).map(|rule| &rule.property.node).collect();
        let summed: Vec<&FormulaNode> = view.summaries.iter().map(|rule| &rule.property.node).collect();
        let cells: Vec<&FormulaNode> = view.order.iter().map(|property| &property.node).collect();
        let candidates = self.candidates();
        // Behind a limit, and outside of what is shown, most cells are never seen.
        let is_cut = view.limit.is_some();
        let sees_all = !is_cut && self.scope.context.shows_all();
        let mut wanted = keys.clone();
        wanted.extend(summed.iter().copied().filter(|_| !is_cut));
        wanted.extend(cells.iter().copied().filter(|_| sees_all));
        let PassResult { mut rows, errors, after_base } = self.pass(candidates.as_slice(), &wanted)?;
        if let Some(filter) = &self.base.filters {
            self.note(filter.describe(), after_base);
        }
        if let Some(filter) = &view.filters {
            self.note(filter.describe(), rows.len());
        }
        // Before the limit.
        let total = rows.len();
        rows = self.sorted(rows)?;
        if let Some(limit) = view.limit {
            rows.truncate(limit);
            self.note(format!("limit {limit}"), rows.len());
            self.add_values(&mut rows, &summed)?;
        }
        // After the limit, so that a group has only rows that are shown.
        let groups = self.groups(&rows)?;
        let mut evaluation = Evaluation::new(self.scope);
        let all: Vec<usize> = (0..rows.len()).collect();
        let summaries = self.summaries(&mut evaluation, &rows, &all, keys.len())?;
        let groups = match groups {
            Some(groups) => {
                let mut summed = Vec::with_capacity(groups.len());
                for (key, places) in groups {
                    let summaries = self.summaries(&mut evaluation, &rows, &places, keys.len())?;
                    summed.push(BaseGroup { key, rows: places, summaries });
                }
                Some(summed)
            }
            None => None,
        };
        let columns = view
            .order
            .iter()
            .map(|property| BaseColumn { id: property.text.clone(), name: self.base.column_name(property) })
            .collect();
        let (count, shown) = (rows.len(), self.scope.context.shown(rows.len()));
        let mut shown_rows: Vec<FoundRow> = rows.drain(shown.clone()).collect();
        if !sees_all {
            self.add_values(&mut shown_rows, &cells)?;
        }
        let before_cells = keys.len() + summed.len();
        let shown_row = |mut row: FoundRow| {
            count_steps(ROW_STEPS);
            let cells = row.values.split_off(before_cells.min(row.values.len()));
            BaseRow { path: self.scope.vault.row(row.number).map(|row| row.path().into()).unwrap_or_default(), cells }
        };
        Ok(BaseAnswer {
            view: view.name.clone(),
            kind: view.kind.clone(),
            options: view.options.clone(),
            columns,
            rows: shown_rows.into_iter().map(shown_row).collect(),
            first: shown.start,
            count,
            groups,
            summaries,
            total,
            limit: view.limit,
            dropped: errors,
            is_random: self.base.is_random(),
            clock: self.scope.clock.clone(),
            steps: self.steps,
        })
    }

    fn note(&mut self, name: String, rows: usize) {
        self.steps.push(QueryStep { name, rows, index: None });
    }

    /// The rows that the indexes leave of all files.
    fn candidates(&mut self) -> RowSet {
        let vault = self.scope.vault;
        // Bases list files of all kinds, not only notes.
        let mut rows = vault.select(&RowSelection::Files);
        self.steps.push(QueryStep {
            name: "files".to_owned(),
            rows: rows.len(),
            index: vault.served_by(&RowSelection::Files),
        });
        let this = self.scope.this.as_ref().and_then(|this| this.number);
        let mut indexed = Vec::new();
        for filter in [&self.base.filters, &self.view.filters].into_iter().flatten() {
            filter.selections(this, &mut indexed);
        }
        for IndexedFilter { text, any } in indexed {
            let served: Option<Vec<&str>> = any.iter().map(|selection| vault.served_by(selection)).collect();
            // Without an index a look at every row would come twice.
            let Some(served) = served else { continue };
            let chosen = any.iter().map(|selection| vault.select(selection));
            let chosen = chosen.reduce(|all, one| all.union(&one)).unwrap_or_default();
            rows = rows.intersection(&chosen);
            let index = any.first().and_then(|selection| vault.served_by(selection));
            debug_assert_eq!(served.len(), any.len(), "every selection has its index");
            self.steps.push(QueryStep { name: text.to_owned(), rows: rows.len(), index });
        }
        rows
    }

    /// Filters rows and works out what is wanted of those that pass, on several threads if there are many.
    fn pass(&self, candidates: &[RowNumber], wanted: &[&'r FormulaNode]) -> Result<PassResult, QueryHalt> {
        let done = AtomicUsize::new(0);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS);
        if candidates.len() < ROWS_FOR_THREADS || cores < 2 {
            return self.pass_over(candidates, wanted, candidates.len(), &done);
        }
        // More parts than threads would share the work better, and cost more.
        let parts: Vec<&[RowNumber]> = candidates.chunks(candidates.len().div_ceil(cores)).collect();
        let aside = &ChargeAside::of_this_thread();
        let results: Vec<Result<PassResult, QueryHalt>> = std::thread::scope(|threads| {
            let work = |part: &'_ [RowNumber]| self.pass_over(part, wanted, candidates.len(), &done);
            // The first part runs on this thread.
            let running: Vec<_> =
                parts.iter().skip(1).map(|part| threads.spawn(move || aside.charge(|| work(part)))).collect();
            let first = parts.first().map(|part| work(part));
            let joined = running.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                // As if it had happened on this thread.
                Err(panic) => std::panic::resume_unwind(panic),
            });
            first.into_iter().chain(joined).collect()
        });
        let mut all = PassResult::default();
        for result in results {
            let PassResult { rows, errors, after_base } = result?;
            // In the order of the parts, so that the answer does not depend on which thread was first.
            all.rows.extend(rows);
            all.after_base += after_base;
            errors.into_iter().for_each(|more| add_errors(&mut all.errors, more));
        }
        Ok(all)
    }

    fn pass_over(
        &self,
        candidates: &[RowNumber],
        wanted: &[&'r FormulaNode],
        total: usize,
        done: &AtomicUsize,
    ) -> Result<PassResult, QueryHalt> {
        let mut evaluation = Evaluation::new(self.scope);
        let mut result = PassResult::default();
        let mut counted = 0;
        for (at, number) in candidates.iter().enumerate() {
            if at % ROWS_BETWEEN_NEWS == 0 {
                let finished = done.fetch_add(ROWS_BETWEEN_NEWS.min(candidates.len() - at), Ordering::Relaxed);
                self.scope.context.progress(finished, total);
                // Charged in bundles, because the count is shared by all threads.
                let new = result.rows.len() - counted;
                self.scope.context.hold(new * (size_of::<FoundRow>() + 64 + wanted.len() * size_of::<BaseValue>()))?;
                counted = result.rows.len();
            }
            evaluation.spend(1)?;
            if evaluation.turn_to(*number).is_none() {
                continue;
            }
            if !holds(self.base.filters.as_ref(), &mut evaluation, &mut result.errors)? {
                continue;
            }
            result.after_base += 1;
            if !holds(self.view.filters.as_ref(), &mut evaluation, &mut result.errors)? {
                continue;
            }
            let mut values = Vec::with_capacity(wanted.len());
            for node in wanted {
                // An error in a cell is shown there, and does not drop the row.
                values.push(evaluation.shown(node)?);
            }
            result.rows.push(FoundRow { number: *number, values });
        }
        evaluation.settle()?;
        Ok(result)
    }

    /// Sorted by each rule in turn. Without rules, and where they do not decide, by path.
    fn sorted(&self, rows: Vec<FoundRow>) -> Result<Vec<FoundRow>, QueryHalt> {
        if self.view.sort.is_empty() {
            return Ok(rows);
        }
        self.scope.context.step((rows.len() * self.view.sort.len()) as u64)?;
        let mut places: Vec<u32> = (0..u32::try_from(rows.len()).unwrap_or(u32::MAX)).collect();
        // The sort keeps the order of equals, so the last rule comes first.
        for (at, rule) in self.view.sort.iter().enumerate().rev() {
            let values: Vec<&BaseValue> = rows.iter().map(|row| &row.values[at]).collect();
            sorted_places(&values, &mut places, rule.descending, &self.scope.clock);
        }
        let mut rows: Vec<Option<FoundRow>> = rows.into_iter().map(Some).collect();
        Ok(places.into_iter().filter_map(|place| rows.get_mut(place as usize)?.take()).collect())
    }

    /// Works out more of rows that are there already.
    fn add_values(&self, rows: &mut [FoundRow], wanted: &[&'r FormulaNode]) -> Result<(), QueryHalt> {
        let mut evaluation = Evaluation::new(self.scope);
        for row in rows {
            evaluation.spend(1)?;
            let is_there = evaluation.turn_to(row.number).is_some();
            for node in wanted {
                let value = if is_there { evaluation.shown(node)? } else { BaseValue::Null };
                row.values.push(value);
            }
        }
        evaluation.settle()
    }

    /// The rows of each distinct value, in the order of the values; those without one come last.
    #[expect(clippy::type_complexity, reason = "the keys with the places of their rows")]
    fn groups(&self, rows: &[FoundRow]) -> Result<Option<Vec<(BaseValue, Vec<usize>)>>, QueryHalt> {
        let Some(rule) = &self.view.group else { return Ok(None) };
        let clock = &self.scope.clock;
        let at = self.view.sort.len();
        let mut known: HashMap<DistinctKey<'_>, usize> = HashMap::new();
        let mut groups: Vec<(BaseValue, Vec<usize>)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let key = row.values.get(at).unwrap_or(&BaseValue::Null);
            self.scope.context.step(key.weight() as u64)?;
            let number = *known.entry(distinct_key(key, clock)).or_insert_with(|| {
                groups.push((key.clone(), Vec::new()));
                groups.len() - 1
            });
            groups[number].1.push(place);
        }
        let keys: Vec<&BaseValue> = groups.iter().map(|(key, _)| key).collect();
        let mut places: Vec<u32> = (0..u32::try_from(keys.len()).unwrap_or(u32::MAX)).collect();
        sorted_places(&keys, &mut places, rule.descending, clock);
        // A null checkbox is sorted with those that are not set, but rows without a value are still last.
        places.sort_by_key(|place| keys[*place as usize].is_null());
        let mut groups: Vec<Option<(BaseValue, Vec<usize>)>> = groups.into_iter().map(Some).collect();
        Ok(Some(places.into_iter().filter_map(|place| groups.get_mut(place as usize)?.take()).collect()))
    }

    /// Over some of the rows; `first` values come before those that are summed up.
    fn summaries(
        &self,
        evaluation: &mut Evaluation<'r>,
        rows: &[FoundRow],
        places: &[usize],
        first: usize,
    ) -> Result<Vec<BaseSummary>, QueryHalt> {
        let mut summaries = Vec::with_capacity(self.view.summaries.len());
        for (at, rule) in self.view.summaries.iter().enumerate() {
            let value = |place: &usize| rows.get(*place)?.values.get(first + at).cloned();
            self.scope.context.step(places.len() as u64)?;
            let values: Vec<BaseValue> = places.iter().filter_map(value).collect();
            let value = self.summary(evaluation, rule, values)?;
            summaries.push(BaseSummary { property: rule.property.text.clone(), name: rule.name.clone(), value });
        }
        Ok(summaries)
    }

    fn summary(
        &self,
        evaluation: &mut Evaluation<'r>,
        rule: &'r SummaryRule,
        values: Vec<BaseValue>,
    ) -> Result<BaseValue, QueryHalt> {
        let has_dates = values.iter().any(|value| matches!(value, BaseValue::Date(_)));
        let node = match &rule.formula {
            SummaryFormula::Custom(place) => self.base.summaries.get(*place).and_then(|custom| custom.node.as_ref()),
            // `Range` means another formula for dates.
            SummaryFormula::BuiltIn { of_dates: Some(of_dates), .. } if has_dates => Some(of_dates),
            SummaryFormula::BuiltIn { node, .. } => Some(node),
            SummaryFormula::Unknown => None,
        };
        let Some(node) = node else { return Ok(BaseValue::Null) };
        evaluation.spend(values.len() + 1)?;
        evaluation.turn_to_values(values);
        let value = evaluation.shown(node)?;
        evaluation.settle()?;
        Ok(value)
    }
}

fn holds<'e>(
    filter: Option<&'e BaseFilter>,
    evaluation: &mut Evaluation<'e>,
    errors: &mut FilterErrors,
) -> Result<bool, QueryHalt> {
    match filter {
        Some(filter) => filter.holds(evaluation, errors),
        None => Ok(true),
    }
}

fn add_errors(all: &mut FilterErrors, more: DroppedRows) {
    match all.iter_mut().find(|known| known.step == more.step) {
        Some(known) => {
            known.count += more.count;
            for message in more.messages {
                if known.messages.len() < 3 && !known.messages.contains(&message) {
                    known.messages.push(message);
                }
            }
        }
        None => all.push(more),
    }
}
