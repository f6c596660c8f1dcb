//! What people ask for. Pure: rows and words in, answers out.
//!
//! The query languages live here (Dataview and Bases will): the ranked search, words, names that are nearly right,
//! patterns that lines match, JsonLogic, and dates as moment.js writes them.

mod collation;
mod js_number;
mod jsonlogic;
mod luxon;
mod moment;
mod nearest;
mod pattern;
mod row;
mod search;
mod simple;
mod utf16;
mod value;
mod words;

pub use collation::collate;
pub use js_number::{decimal_text, number_text, round_half_up, to_fixed};
pub use jsonlogic::{LOGIC_OPERATORS, Logic, LogicError, LogicHalt, is_truthy};
pub use luxon::{LuxonDate, LuxonParseError, LuxonZone, WallClock, format_duration, format_luxon, parse_luxon};
pub use moment::{Period, WeekRule, format_moment};
pub use nearest::{nearest, nearest_several};
pub use pattern::{
    Case, ExpressionFault, ExpressionFlags, LineCount, LineMatch, Lines, Pattern, PatternError, PatternKind, PatternOptions,
    ReplaceError, Replacement, Replacer, Undecided, lines_after, lines_before,
};
pub use row::{
    FoundField, FrontmatterState, PropertyVisitor, Row, RowBlock, RowField, RowHeading, RowItem, RowLink, RowTag,
    item_fields, line_fields,
};
pub use search::{
    Answers, Bounds, Fuzzy, Leaf, Lexicon, Node, PathFilter, Piece, PropertyFilter, Resolver, SearchQuery, Starts,
    TaskState, TextFilter, Token, Unit, Word, Words, evaluate, folded, has_tag, holds, search_tokens, search_words,
    word_forms,
};
pub use simple::{SimpleMatches, SimpleQuery};
pub use utf16::{utf16_length, utf16_slice};
pub use value::{
    DateValue, DateZone, DurationUnit, DurationValue, LinkValue, Number, Object, Value, bases_property, dataview_field,
    dataview_property,
};
pub use words::words;
