//! What people ask for. Pure: rows and words in, answers out.
//!
//! The query languages live here (Dataview and Bases will): the ranked search, words, names that are nearly right,
//! patterns that lines match, JsonLogic, and dates as moment.js writes them.

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

pub use jsonlogic::{LOGIC_OPERATORS, Logic, LogicError, LogicHalt, is_truthy};
pub use moment::{Period, WeekRule, format_moment};
pub use nearest::{nearest, nearest_several};
pub use pattern::{
    ExpressionFlags, LetterCase, LineCount, LineMatch, MatchingLines, Pattern, PatternError, PatternKind,
    PatternOptions, ReplaceError, Replacement, Replacer, TooManyAttempts, lines_after, lines_before,
};
pub use row::{
    FoundField, FrontmatterState, NoteField, PropertyVisitor, Row, RowBlock, RowField, RowHeading, RowItem, RowLink,
    RowTag, TextPosition, item_fields, line_fields, note_fields, note_items,
};
pub use search::{
    AnswerBounds, Answers, FuzzyWord, KeptWord, LeafResolver, Lexicon, PathFilter, PropertyFilter, QueryLeaf,
    QueryNode, QueryPiece, QueryStarts, SearchQuery, TaskState, TextFilter, TextUnit, Token, Words, evaluate, folded,
    has_tag, holds, search_tokens, search_words, word_forms,
};
pub use simple::{SimpleMatches, SimpleQuery};
pub use source::{
    DroppedRows, OwnerMarks, QueryContext, QueryHalt, QueryLimits, QueryStep, QuerySyntaxError, QueryVault, RowNumber,
    RowSelection, RowSet, ScannedVault, VaultRow,
};
pub use value::{
    DateValue, DateZone, DurationValue, LinkValue, Number, Object, Value, bases_property, dataview_field,
    dataview_property,
};
pub use words::words;
