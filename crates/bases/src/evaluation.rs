//! Works out expressions, one row at a time. What a row is asked for is remembered until the next row.

use std::sync::Arc;

use super::{
    arithmetic::calculate,
    base_date::BaseDate,
    base_value::{BaseFileHandle, BaseLink, BaseValue, entry},
    comparison::{LinkTargets, equals, relation},
    fault::BaseFault,
    formula::{AccessStep, BinaryOperator, FormulaNames, FormulaNode, FunctionCall, LocalName, RootName},
    frontmatter::PropertyPlace,
    known_name::KnownFunction,
    row_reading::{find_property, handle_of, text_of_path},
    text_form::TextClock,
};
use lapidary_query::{QueryContext, QueryHalt, QueryVault, RowNumber, VaultRow};

/// The context is told of steps in bundles of this many: it is shared by all threads.
const STEPS_IN_BUNDLE: u64 = 512;
/// A list that weighs more is not made.
const MAX_WEIGHT: usize = 8 << 20;
/// Nor one with more lists in each other, if the limits of the query allow that many.
const MAX_LIST_DEPTH: usize = 64;
/// Smaller texts and lists are not counted one by one.
const SMALL_BYTES: usize = 1024;
/// They are when a row has made this much: then it is a program that collects them, and not a formula.
const SMALL_IN_A_ROW: usize = 1 << 20;
/// A value in memory beside what is in it.
const VALUE_OVERHEAD: usize = 64;
/// About what each unit of [`BaseValue::weight`] takes in memory and in an answer.
const BYTES_PER_WEIGHT: usize = 64;
/// A cell or a summary that weighs more is not shown.
const MAX_SHOWN_WEIGHT: usize = 256 << 10;
/// Cells that weigh less are counted with their row.
const SMALL_WEIGHT: usize = 64;

pub(super) type Evaluated = Result<BaseValue, BaseFault>;

/// What all rows have in common.
pub(super) struct EvaluationScope<'e> {
    pub(super) names: &'e FormulaNames,
    /// For each place in [`FormulaNames::formulas`] the number of the formula it means.
    pub(super) formula_places: &'e [Option<usize>],
    /// Nothing for one that cannot be read, which is null.
    pub(super) formulas: &'e [Option<FormulaNode>],
    pub(super) vault: &'e dyn QueryVault,
    pub(super) context: &'e QueryContext<'e>,
    pub(super) clock: TextClock,
    pub(super) this: Option<Arc<BaseFileHandle>>,
}

pub(super) struct Evaluation<'e> {
    pub(super) scope: &'e EvaluationScope<'e>,
    row: Option<RowAtHand<'e>>,
    /// The properties by their places.
    properties: Vec<Option<BaseValue>>,
    formulas: Vec<FormulaState>,
    /// Places in both that the current row has filled: a base may name far more than a row asks for.
    known_properties: Vec<usize>,
    known_formulas: Vec<usize>,
    /// What calls give that are the same in every row, by their places.
    constants: Vec<Option<Result<BaseValue, Arc<str>>>>,
    locals: Vec<LocalFrame>,
    /// In a summary.
    values: Option<BaseValue>,
    steps: u64,
    /// Bytes of small values that the current row has made.
    made: usize,
    depth: usize,
    random: u64,
}

struct RowAtHand<'e> {
    number: RowNumber,
    row: VaultRow<'e>,
    /// Made when it is asked for.
    handle: Option<Arc<BaseFileHandle>>,
}

#[derive(Clone, Debug, Default)]
enum FormulaState {
    #[default]
    Open,
    InWork,
    Done(Result<BaseValue, Arc<str>>),
}

/// What the names inside `map`, `filter` and `reduce` stand for.
#[derive(Default)]
pub(super) struct LocalFrame {
    pub(super) value: Option<BaseValue>,
    pub(super) index: Option<BaseValue>,
    pub(super) key: Option<BaseValue>,
    pub(super) accumulator: Option<BaseValue>,
}

impl<'e> Evaluation<'e> {
    pub(super) fn new(scope: &'e EvaluationScope<'e>) -> Self {
        Self {
            scope,
            row: None,
            properties: vec![None; scope.names.properties.len()],
            formulas: vec![FormulaState::Open; scope.formulas.len()],
            known_properties: Vec::new(),
            known_formulas: Vec::new(),
            // Filled when a call is first evaluated; the values hold for all rows.
            constants: vec![None; scope.names.constants],
            locals: Vec::new(),
            values: None,
            steps: 0,
            made: 0,
            depth: 0,
            random: 0,
        }
    }

    /// Turns to another row; nothing if it is gone.
    pub(super) fn turn_to(&mut self, number: RowNumber) -> Option<()> {
        let row = self.scope.vault.row(number)?;
        if self.scope.names.is_random {
            // By the row and not by its turn, so that threads do not change the answer.
            // The clock is part of it, so that another query has other numbers.
            self.random = seed(self.scope.context.now.as_nanosecond(), row.path());
        }
        self.row = Some(RowAtHand { number, row, handle: None });
        self.forget();
        Some(())
    }

    /// Turns to the values of a column, without any row.
    pub(super) fn turn_to_values(&mut self, values: Vec<BaseValue>) {
        self.row = None;
        self.random = 0;
        self.forget();
        self.values = Some(BaseValue::list(values));
    }

    /// Turns to given values in the place of properties, without any row.
    pub(super) fn turn_to_given(&mut self, given: impl Fn(&str) -> Option<BaseValue>) {
        self.row = None;
        self.random = 0;
        self.forget();
        // All at once: an expression names few, and each is shared and not copied.
        self.properties =
            self.scope.names.properties.iter().map(|name| Some(given(name).unwrap_or_default())).collect();
    }

    /// Drops what is known of the row before.
    fn forget(&mut self) {
        self.made = 0;
        // Only the places that were filled: clearing all would cost more than most rows.
        for place in self.known_properties.drain(..) {
            self.properties[place] = None;
        }
        for place in self.known_formulas.drain(..) {
            self.formulas[place] = FormulaState::Open;
        }
    }

    pub(super) fn path(&self) -> Option<&str> {
        self.row.as_ref().map(|at_hand| at_hand.row.path())
    }

    pub(super) fn row_at_hand(&self) -> Option<&dyn lapidary_query::Row> {
        self.row.as_ref().map(|at_hand| &*at_hand.row as &dyn lapidary_query::Row)
    }

    /// Counts work before it is done.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), QueryHalt> {
        self.steps += steps as u64;
        if self.steps >= STEPS_IN_BUNDLE { self.settle() } else { Ok(()) }
    }

    /// Tells the context of the steps that it has not heard of.
    pub(super) fn settle(&mut self) -> Result<(), QueryHalt> {
        // Taken out first, so that a query that is stopped does not count them twice.
        self.scope.context.step(std::mem::take(&mut self.steps))
    }

    pub(super) fn evaluate(&mut self, node: &'e FormulaNode) -> Evaluated {
        self.spend(1)?;
        // Formulas that name each other add up, which the parser's limit does not see.
        if self.depth >= self.scope.context.limits.depth {
            return Err(BaseFault::error("The formula is nested too deep"));
        }
        // Undone below without a guard, since nothing between returns early.
        self.depth += 1;
        let value = self.node(node);
        self.depth -= 1;
        if let Ok(value) = &value {
            // After the depth is undone, because this may fail.
            self.weigh(value)?;
        }
        value
    }

    /// Memory that a value takes is counted as soon as it is made.
    fn weigh(&mut self, value: &BaseValue) -> Result<(), BaseFault> {
        let bytes = match value {
            BaseValue::Text(text) => text.len(),
            BaseValue::List(list) => {
                if value.weight() > MAX_WEIGHT || list.depth > MAX_LIST_DEPTH.min(self.scope.context.limits.depth) {
                    return Err(BaseFault::error("The list is too large"));
                }
                list.len() * size_of::<BaseValue>()
            }
            // Those of a row are made each time they are asked for, and most are dropped at once.
            BaseValue::Object(_) => {
                // Counted as small values are: what a row makes again and again adds up.
                self.made += value.weight() * BYTES_PER_WEIGHT;
                0
            }
            _ => return Ok(()),
        };
        if bytes > SMALL_BYTES {
            self.scope.context.hold(bytes)?;
        } else {
            self.made += VALUE_OVERHEAD + bytes;
        }
        if self.made > SMALL_IN_A_ROW {
            self.scope.context.hold(std::mem::take(&mut self.made))?;
        }
        Ok(())
    }

    /// A value that is kept for the answer; an error in its place if it has no end as text.
    pub(super) fn shown(&mut self, node: &'e FormulaNode) -> Result<BaseValue, QueryHalt> {
        let value = super::fault::as_value(self.evaluate(node))?;
        let weight = value.weight();
        if weight > MAX_SHOWN_WEIGHT {
            // In place of the value, so that the rest of the row is still shown.
            return Ok(BaseValue::Error("The list is too large".into()));
        }
        // Texts were counted when they were made.
        if weight > SMALL_WEIGHT && matches!(value, BaseValue::List(_) | BaseValue::Object(_)) {
            self.scope.context.hold(weight * BYTES_PER_WEIGHT)?;
        }
        Ok(value)
    }

    fn node(&mut self, node: &'e FormulaNode) -> Evaluated {
        match node {
            FormulaNode::Literal(value) => Ok(value.clone()),
            FormulaNode::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.evaluate(item)).collect();
                Ok(BaseValue::list(items?))
            }
            FormulaNode::Name { slot, local } => {
                // Outside of `map` and its like, `value` is a property of that name.
                let bound = local.and_then(|local| self.local(local));
                Ok(bound.unwrap_or_else(|| self.property(*slot)))
            }
            FormulaNode::Property(slot) => Ok(self.property(*slot)),
            FormulaNode::Values { slot } => match &self.values {
                Some(values) => Ok(values.clone()),
                None => Ok(self.property(*slot)),
            },
            FormulaNode::FormulaOf(place) => match self.scope.formula_places.get(*place).copied().flatten() {
                Some(number) => self.formula(number),
                None => Ok(BaseValue::Null),
            },
            FormulaNode::FileField(field) => match &self.row {
                Some(_) => self.row_field(*field),
                None => Ok(BaseValue::Null),
            },
            FormulaNode::Root(root) => self.root(*root),
            FormulaNode::Not(operand) => Ok(negated(&self.evaluate(operand)?)),
            FormulaNode::Negate(operand) => match self.evaluate(operand)? {
                BaseValue::Number(number) => Ok(BaseValue::Number(-number)),
                BaseValue::Null => Ok(BaseValue::Null),
                other => Err(BaseFault::error(format!("Invalid operator on {}", other.type_name()))),
            },
            FormulaNode::All(nodes) => {
                for node in nodes {
                    // Stops at the first that decides, so what follows may fail without harm.
                    if !self.evaluate(node)?.is_truthy() {
                        return Ok(BaseValue::Boolean(false));
                    }
                }
                Ok(BaseValue::Boolean(true))
            }
            FormulaNode::Any(nodes) => {
                for node in nodes {
                    if self.evaluate(node)?.is_truthy() {
                        return Ok(BaseValue::Boolean(true));
                    }
                }
                Ok(BaseValue::Boolean(false))
            }
            FormulaNode::Chain { first, rest } => {
                // Most filters are a comparison of a path, and this one needs no value.
                if let Some(same) = self.compared_path(first, rest) {
                    return Ok(BaseValue::Boolean(same));
                }
                let mut value = self.evaluate(first)?;
                for (operator, operand) in rest {
                    let operand = self.evaluate(operand)?;
                    value = self.operation(*operator, &value, &operand)?;
                    // Weighed after each step: a chain can grow a text with every operator.
                    self.weigh(&value)?;
                }
                Ok(value)
            }
            FormulaNode::Access { base, steps } => {
                let mut value = self.evaluate(base)?;
                for step in steps {
                    value = self.step(&value, step)?;
                    self.weigh(&value)?;
                }
                Ok(value)
            }
            FormulaNode::Call(call) => self.call(call),
        }
    }

    /// `file.ext == "md"` and the like, of which most filters consist, without a copy of the text.
    fn compared_path(&self, first: &FormulaNode, rest: &[(BinaryOperator, FormulaNode)]) -> Option<bool> {
        let (FormulaNode::FileField(field), [(operator, FormulaNode::Literal(BaseValue::Text(text)))]) = (first, rest)
        else {
            return None;
        };
        let written = text_of_path(self.path()?, *field)?;
        match operator {
            BinaryOperator::Equal => Some(*written == **text),
            BinaryOperator::NotEqual => Some(*written != **text),
            _ => None,
        }
    }

    fn operation(&mut self, operator: BinaryOperator, a: &BaseValue, b: &BaseValue) -> Evaluated {
        match operator {
            BinaryOperator::Equal => Ok(BaseValue::Boolean(self.equals(a, b)?)),
            BinaryOperator::NotEqual => Ok(BaseValue::Boolean(!self.equals(a, b)?)),
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => Ok(relation(operator, a, b, &self.scope.clock)),
            _ => {
                // Joining texts and lists takes time with their size.
                self.spend((a.weight() + b.weight()) / 16)?;
                calculate(operator, a, b, &self.scope.clock)
            }
        }
    }

    pub(super) fn equals(&mut self, a: &BaseValue, b: &BaseValue) -> Result<bool, BaseFault> {
        // A comparison ends with the smaller of the two.
        self.spend(a.weight().min(b.weight()))?;
        let targets = RowTargets { vault: self.scope.vault, row: self.path() };
        Ok(equals(a, b, &self.scope.clock, &targets))
    }

    fn step(&mut self, value: &BaseValue, step: &'e AccessStep) -> Evaluated {
        self.spend(1)?;
        match step {
            AccessStep::Field(name) => self.field(value, name),
            AccessStep::Index(node) => {
                let index = self.evaluate(node)?;
                self.item(value, &index)
            }
            AccessStep::Method(call) => self.method(value, call),
            AccessStep::Apply => Err(BaseFault::error("Cannot call a value as a function")),
        }
    }

    /// `a[i]`
    fn item(&self, value: &BaseValue, index: &BaseValue) -> Evaluated {
        // Computed for all cases, since most need it and errors name it.
        let text = self.scope.clock.text(index);
        match (value, index) {
            (BaseValue::Null, _) => Ok(BaseValue::Null),
            (BaseValue::List(items), BaseValue::Number(number)) => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a place")]
                let place = (*number >= 0.0 && number.fract() == 0.0).then_some(*number as usize);
                Ok(place.and_then(|place| items.get(place)).cloned().unwrap_or_default())
            }
            (BaseValue::Object(entries), _) => Ok(entry(entries, &text).cloned().unwrap_or_default()),
            (BaseValue::List(items), index) if index.is_textual() => {
                // `list["0"]`, as in JavaScript.
                let place = text.parse::<usize>().ok();
                Ok(place.and_then(|place| items.get(place)).cloned().unwrap_or_default())
            }
            (BaseValue::List(_), _) => Ok(BaseValue::Null),
            _ => Err(BaseFault::error(format!("Cannot access index \"{text}\" of non-array value"))),
        }
    }

    fn local(&self, local: LocalName) -> Option<BaseValue> {
        let of = |frame: &LocalFrame| match local {
            LocalName::Value => frame.value.clone(),
            LocalName::Index => frame.index.clone(),
            LocalName::Key => frame.key.clone(),
            LocalName::Accumulator => frame.accumulator.clone(),
        };
        // The innermost one that binds this name; an outer `map` is still in sight.
        self.locals.iter().rev().find_map(of)
    }

    /// Evaluates with names bound.
    pub(super) fn within(&mut self, frame: LocalFrame, node: &'e FormulaNode) -> Evaluated {
        self.locals.push(frame);
        let value = self.evaluate(node);
        self.locals.pop();
        value
    }

    /// A property of the row's note, by its place.
    fn property(&mut self, slot: usize) -> BaseValue {
        if let Some(Some(known)) = self.properties.get(slot) {
            return known.clone();
        }
        let Some(wanted) = self.scope.names.properties.get(slot) else { return BaseValue::Null };
        // Null is remembered as well: a missing property is asked for as often as one that is there.
        let value = self.read_property(wanted).unwrap_or_default();
        if let Some(place) = self.properties.get_mut(slot) {
            *place = Some(value.clone());
            self.known_properties.push(slot);
        }
        value
    }

    /// The name is in lower case.
    fn read_property(&mut self, wanted: &str) -> Option<BaseValue> {
        let row = &*self.row.as_ref()?.row;
        let (value, seen) = find_property(row, wanted);
        // Told with the next step.
        // Without a check here, as reading a property cannot be stopped halfway.
        self.steps += seen as u64 / 16;
        let value = value?;
        let place = PropertyPlace { zone: &self.scope.clock.zone, source: &|| row.path().into() };
        Some(place.property(wanted, value))
    }

    pub(super) fn formula(&mut self, number: usize) -> Evaluated {
        match self.formulas.get(number) {
            Some(FormulaState::Done(done)) => return done.clone().map_err(BaseFault::Error),
            Some(FormulaState::InWork) => return Err(BaseFault::error("Infinite loop detected in formula")),
            Some(FormulaState::Open) => {}
            None => return Ok(BaseValue::Null),
        }
        let Some(Some(node)) = self.scope.formulas.get(number) else { return Ok(BaseValue::Null) };
        // A formula that needs itself finds this.
        self.formulas[number] = FormulaState::InWork;
        self.known_formulas.push(number);
        // The names of a `map` that a formula is used in are not those of the formula.
        let locals = std::mem::take(&mut self.locals);
        let value = self.evaluate(node);
        self.locals = locals;
        let done = match &value {
            Ok(value) => Ok(value.clone()),
            Err(BaseFault::Error(message)) => Err(message.clone()),
            Err(BaseFault::Halt(_)) => return value,
        };
        self.formulas[number] = FormulaState::Done(done);
        value
    }

    fn root(&mut self, root: RootName) -> Evaluated {
        match root {
            RootName::File => Ok(self.row_handle().map_or(BaseValue::Null, BaseValue::File)),
            RootName::Note => match self.row_handle() {
                Some(handle) => Ok(self.properties_of(&handle)),
                None => Ok(BaseValue::Null),
            },
            RootName::This => Ok(self.scope.this.clone().map_or(BaseValue::Null, BaseValue::File)),
            RootName::Formula => {
                let mut entries = super::base_value::BaseObject::new();
                for (place, name) in self.scope.names.formulas.iter().enumerate() {
                    if let Some(number) = self.scope.formula_places.get(place).copied().flatten() {
                        let value = super::fault::as_value(self.formula(number))?;
                        entries.insert(name.clone(), value);
                    }
                }
                Ok(BaseValue::Object(Arc::new(entries)))
            }
        }
    }

    /// The answer to a call that is the same in every row, which is worked out once.
    pub(super) fn constant(&mut self, place: usize, work: impl FnOnce(&mut Self) -> Evaluated) -> Evaluated {
        if let Some(Some(known)) = self.constants.get(place) {
            return known.clone().map_err(BaseFault::Error);
        }
        let value = work(self);
        let known = match &value {
            Ok(value) => Ok(value.clone()),
            Err(BaseFault::Error(message)) => Err(message.clone()),
            Err(BaseFault::Halt(_)) => return value,
        };
        if let Some(slot) = self.constants.get_mut(place) {
            *slot = Some(known);
        }
        value
    }

    /// The file of the row.
    pub(super) fn row_handle(&mut self) -> Option<Arc<BaseFileHandle>> {
        let RowAtHand { number, row, handle } = self.row.as_mut()?;
        Some(handle_of(handle, *number, row.path()))
    }

    /// Reads a file: the row at hand, or another.
    pub(super) fn with_row<T>(
        &self,
        handle: &BaseFileHandle,
        read: impl FnOnce(&dyn lapidary_query::Row) -> T,
    ) -> Option<T> {
        let number = handle.number?;
        match &self.row {
            // The usual case, without another lookup.
            Some(at_hand) if at_hand.number == number => Some(read(&*at_hand.row)),
            _ => self.scope.vault.row(number).map(|row| read(&*row)),
        }
    }

    /// The file that a text means, as a link in the row would.
    pub(super) fn resolved(&self, target: &str, source: Option<&str>) -> Option<RowNumber> {
        RowTargets { vault: self.scope.vault, row: self.path() }.number_of(target, source)
    }

    pub(super) fn handle(&self, number: RowNumber) -> Option<Arc<BaseFileHandle>> {
        let row = self.scope.vault.row(number)?;
        Some(Arc::new(BaseFileHandle { path: row.path().into(), number: Some(number), is_this: false }))
    }

    pub(super) fn now(&self) -> BaseDate {
        BaseDate::at(self.scope.clock.now)
    }

    /// Evaluates the arguments of a call that needs all of them.
    pub(super) fn arguments(&mut self, call: &'e FunctionCall) -> Result<Vec<BaseValue>, BaseFault> {
        call.arguments.iter().map(|argument| self.evaluate(argument)).collect()
    }

    /// A number from 0 up to 1. The same clock gives the same.
    pub(super) fn random(&mut self) -> f64 {
        self.random = mixed(self.random.wrapping_add(0x9e37_79b9_7f4a_7c15));
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exactly what a float holds")]
        let fraction = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        fraction
    }

    pub(super) fn is_lazy(function: Option<KnownFunction>) -> bool {
        matches!(function, Some(KnownFunction::If | KnownFunction::Map | KnownFunction::Filter | KnownFunction::Reduce))
    }
}

/// What `!` makes of a value: null stays null, so that `!done` leaves out notes without that property.
fn negated(value: &BaseValue) -> BaseValue {
    if value.is_null() { BaseValue::Null } else { BaseValue::Boolean(!value.is_truthy()) }
}

/// Links are followed from the file they are in, or from the row.
struct RowTargets<'t> {
    vault: &'t dyn QueryVault,
    row: Option<&'t str>,
}

impl RowTargets<'_> {
    fn number_of(&self, target: &str, source: Option<&str>) -> Option<RowNumber> {
        // The part behind `#` is a place inside the note.
        let path = target.split_once('#').map_or(target, |(path, _)| path).trim();
        let source = source.or(self.row);
        if path.is_empty() {
            // `[[#heading]]` leads into its own file.
            return source.filter(|_| target.starts_with('#')).and_then(|source| self.vault.find(source));
        }
        // As Obsidian resolves a link: from the folder of the note that it is in.
        self.vault.resolve(path, source)
    }
}

impl LinkTargets for RowTargets<'_> {
    fn target_of(&self, link: &BaseLink) -> Option<String> {
        let number = self.number_of(&link.target, link.source.as_deref())?;
        self.vault.row(number).map(|row| row.path().to_owned())
    }
}

fn seed(nanoseconds: i128, path: &str) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any bits will do")]
    let start = nanoseconds as u64;
    path.bytes().fold(start, |seed, byte| mixed(seed ^ u64::from(byte)))
}

/// SplitMix64.
fn mixed(seed: u64) -> u64 {
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}
