//! The built-in functions: which there are, how they are dispatched by the number and types of their arguments, and how
//! they go through lists.

mod constructors;
mod currency;
mod lists;
mod numbers;
mod plain_text;
mod strings;
mod utilities;

use super::{
    cell::Cell,
    engine::{FieldError, FieldResult, QueryEngine},
};

pub(super) use lists::slice_place;

/// Names every function once: the variant, the name in queries, the name in messages, and in which places a list is gone
/// through, by the number of arguments.
macro_rules! function_names {
    ($($variant:ident $name:literal $own:literal [$($count:literal: $places:expr),*];)*) => {
        /// A built-in function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum FunctionName {
            $($variant,)*
        }

        impl FunctionName {
            pub(super) const ALL: &'static [&'static str] = &[$($name),*];

            pub(super) fn of(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// What it calls itself when no variant fits, which is not always its name.
            fn own_name(self) -> &'static str {
                match self {
                    $(Self::$variant => $own,)*
                }
            }

            fn vectorised(self, arguments: usize) -> &'static [usize] {
                match self {
                    $(Self::$variant => match arguments {
                        $($count => &$places,)*
                        _ => &[],
                    },)*
                }
            }
        }
    };
}

function_names! {
    Object "object" "object" [];
    List "list" "list" [];
    Array "array" "array" [];
    Date "date" "date" [1: [0]];
    Dur "dur" "dur" [1: [0]];
    Number "number" "number" [1: [0]];
    String "string" "string" [];
    Link "link" "link" [1: [0], 2: [0, 1]];
    Embed "embed" "embed" [1: [0], 2: [0, 1]];
    Elink "elink" "elink" [1: [0], 2: [0]];
    TypeOf "typeof" "type" [];
    Round "round" "round" [1: [0], 2: [0]];
    Trunc "trunc" "trunc" [1: [0]];
    Floor "floor" "floor" [1: [0]];
    Ceil "ceil" "ceil" [1: [0]];
    Min "min" "min" [];
    Max "max" "max" [];
    Sum "sum" "sum" [];
    Product "product" "product" [];
    Average "average" "average" [];
    MinBy "minby" "minby" [];
    MaxBy "maxby" "maxby" [];
    Reduce "reduce" "reduce" [2: [1]];
    Contains "contains" "contains" [2: [1]];
    Icontains "icontains" "icontains" [2: [1]];
    Econtains "econtains" "econtains" [2: [1]];
    ContainsWord "containsword" "containsword" [2: [0, 1]];
    Extract "extract" "extract" [];
    Sort "sort" "sort" [];
    Reverse "reverse" "reverse" [];
    Length "length" "length" [];
    NonNull "nonnull" "nonnull" [];
    FirstValue "firstvalue" "firstvalue" [];
    All "all" "all" [];
    Any "any" "any" [];
    None "none" "all" [];
    Join "join" "join" [2: [1]];
    Filter "filter" "filter" [];
    Map "map" "map" [];
    Flat "flat" "flat" [];
    Slice "slice" "slice" [];
    Unique "unique" "unique" [];
    RegexTest "regextest" "regextest" [2: [0, 1]];
    RegexMatch "regexmatch" "regexmatch" [2: [0, 1]];
    RegexReplace "regexreplace" "regexreplace" [3: [0, 1, 2]];
    Replace "replace" "replace" [3: [0, 1, 2]];
    Lower "lower" "lower" [1: [0]];
    Upper "upper" "upper" [1: [0]];
    Split "split" "split" [];
    StartsWith "startswith" "startswith" [2: [0, 1]];
    EndsWith "endswith" "endswith" [2: [0, 1]];
    PadLeft "padleft" "padleft" [2: [0, 1], 3: [0, 1, 2]];
    PadRight "padright" "padright" [2: [0, 1], 3: [0, 1, 2]];
    Substring "substring" "substring" [2: [0, 1], 3: [0, 1, 2]];
    Truncate "truncate" "truncate" [2: [0, 1], 3: [0, 1, 2]];
    Default "default" "default" [2: [0, 1]];
    Ldefault "ldefault" "ldefault" [];
    Display "display" "display" [];
    Choice "choice" "choice" [3: [0]];
    StripTime "striptime" "striptime" [1: [0]];
    DateFormat "dateformat" "dateformat" [2: [0]];
    DurationFormat "durationformat" "durationformat" [2: [0]];
    CurrencyFormat "currencyformat" "currencyformat" [2: [0]];
    LocalTime "localtime" "localtime" [1: [0]];
    Hash "hash" "hash" [];
    Meta "meta" "meta" [];
}

pub(super) fn call_function<'v>(
    engine: &QueryEngine<'v>,
    function: FunctionName,
    arguments: &[Cell<'v>],
) -> FieldResult<'v> {
    engine.step()?;
    // A list in any other place is an argument as a whole.
    let places = function.vectorised(arguments.len());
    let lists = |place: &usize| match &arguments[*place] {
        Cell::List(list) => Some((*place, list)),
        _ => None,
    };
    let mut lists = places.iter().filter_map(lists).peekable();
    if lists.peek().is_none() {
        return call_once(engine, function, arguments);
    }
    let lists: Vec<_> = lists.collect();
    // Lists go in step, and the shortest ends it.
    let length = lists.iter().map(|(_, list)| list.items.len()).min().unwrap_or_default();
    let mut results = Vec::with_capacity(length);
    for at in 0..length {
        let mut part = arguments.to_vec();
        for (place, list) in &lists {
            part[*place] = list.items[at].clone();
        }
        // Called again with the elements, which may be lists themselves.
        results.push(call_function(engine, function, &part)?);
    }
    engine.list(results)
}

fn call_once<'v>(engine: &QueryEngine<'v>, function: FunctionName, arguments: &[Cell<'v>]) -> FieldResult<'v> {
    use FunctionName as F;
    let found = match function {
        F::Object
        | F::List
        | F::Array
        | F::Date
        | F::Dur
        | F::Number
        | F::String
        | F::Link
        | F::Embed
        | F::Elink
        | F::TypeOf => constructors::call(engine, function, arguments)?,
        F::Round
        | F::Trunc
        | F::Floor
        | F::Ceil
        | F::Min
        | F::Max
        | F::Sum
        | F::Product
        | F::Average
        | F::MinBy
        | F::MaxBy
        | F::Reduce => numbers::call(engine, function, arguments)?,
        F::Contains
        | F::Icontains
        | F::Econtains
        | F::Extract
        | F::Sort
        | F::Reverse
        | F::Length
        | F::NonNull
        | F::FirstValue
        | F::All
        | F::Any
        | F::None
        | F::Join
        | F::Filter
        | F::Map
        | F::Flat
        | F::Slice
        | F::Unique => lists::call(engine, function, arguments)?,
        F::ContainsWord
        | F::RegexTest
        | F::RegexMatch
        | F::RegexReplace
        | F::Replace
        | F::Lower
        | F::Upper
        | F::Split
        | F::StartsWith
        | F::EndsWith
        | F::PadLeft
        | F::PadRight
        | F::Substring
        | F::Truncate => strings::call(engine, function, arguments)?,
        F::Default
        | F::Ldefault
        | F::Display
        | F::Choice
        | F::StripTime
        | F::DateFormat
        | F::DurationFormat
        | F::CurrencyFormat
        | F::LocalTime
        | F::Hash
        | F::Meta => utilities::call(engine, function, arguments)?,
    };
    // Only the function knows which types it takes, so the error is made in one place.
    found.map_or_else(|| unfit(function, arguments), Ok)
}

/// No variant takes arguments of these types.
fn unfit<'v>(function: FunctionName, arguments: &[Cell<'v>]) -> FieldResult<'v> {
    let types: Vec<&str> = arguments.iter().map(|argument| argument.kind().name()).collect();
    let (name, types) = (function.own_name(), types.join(", "));
    FieldError::row(format!("No implementation of '{name}' found for arguments: {types}"))
}

/// What a variant answers; nothing if none fits.
type Answered<'v> = Result<Option<Cell<'v>>, FieldError>;

fn answer(cell: Cell<'_>) -> Answered<'_> {
    Ok(Some(cell))
}
