//! What people ask for. Pure: rows and words in, answers out.
//!
//! The query languages live here (Dataview and Bases will): the ranked search, words, names that are nearly right,
//! patterns that lines match, JsonLogic, and dates as moment.js writes them.

mod csv;
mod jsonlogic;
mod moment;
mod nearest;
mod pattern;
mod row;
mod search;
mod simple;
mod source;
mod value;
mod words;

pub use csv::csv_rows;
pub use jsonlogic::{LOGIC_OPERATORS, Logic, LogicError, LogicHalt, is_truthy};
pub use moment::{Period, WeekRule, format_moment};
pub use nearest::{nearest, nearest_several};
pub use pattern::{
    Case, ExpressionFlags, LineCount, LineMatch, Lines, Pattern, PatternError, PatternKind, PatternOptions,
    ReplaceError, Replacement, Replacer, Undecided, lines_after, lines_before,
};
pub use row::{
    FoundField, FrontmatterState, NoteField, PropertyVisitor, Row, RowBlock, RowField, RowHeading, RowItem, RowLink,
    RowTag, TextPosition, item_fields, line_fields, note_fields, note_items,
};
pub use search::{
    Answers, Bounds, Fuzzy, Leaf, Lexicon, Node, PathFilter, Piece, PropertyFilter, Resolver, SearchQuery, Starts,
    TaskState, TextFilter, Token, Unit, Word, Words, evaluate, folded, has_tag, holds, search_tokens, search_words,
    word_forms,
};
pub use simple::{SimpleMatches, SimpleQuery};
pub use source::{
    DataviewSettings, DroppedRows, OwnerMarks, QueryContext, QueryHalt, QueryLimits, QueryStep, QuerySyntaxError,
    QueryVault, RowNumber, RowSelection, RowSet, ScannedVault, VaultRow,
};
pub use value::{
    DateValue, DateZone, DurationValue, LinkValue, Number, Object, Value, bases_property, dataview_field,
    dataview_property, typed_json,
};
pub use words::words;
