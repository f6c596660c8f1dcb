//! What people ask for. Pure: rows and words in, answers out.
//!
//! The query languages live here (Dataview and Bases will): the ranked search, words, names that are nearly right,
//! patterns that lines match, JsonLogic, and dates as moment.js writes them.

mod bases;
mod collation;
mod csv;
mod dataview;
mod js_number;
mod jsonlogic;
mod luxon;
mod moment;
mod nearest;
mod pattern;
mod row;
mod search;
mod simple;
mod source;
mod utf16;
mod value;
mod words;

pub use bases::{
    BaseAnswer, BaseColumn, BaseDate, BaseDuration, BaseFile, BaseFileHandle, BaseGroup, BaseLink, BaseList,
    BaseObject, BaseProblem, BaseReference, BaseRegexp, BaseRow, BaseSummary, BaseText, BaseValue, BaseViewName,
    base_texts,
};
pub use collation::collate;
pub use csv::csv_rows;
pub use dataview::{
    CalendarEntry, DqlAnswer, DqlExpression, DqlQuery, DqlResult, DqlTask, DqlWriter, InlineCode, ListEntry,
    QueryBlock, TableRow, TaskGrouping, field_tree, query_tree,
};
pub use js_number::{decimal_text, number_text, round_half_up, to_fixed};
pub use jsonlogic::{LOGIC_OPERATORS, Logic, LogicError, LogicHalt, is_truthy};
pub use luxon::{LuxonDate, LuxonParseError, LuxonZone, WallClock, format_duration, format_luxon, parse_luxon};
pub use moment::{Period, WeekRule, format_moment};
pub use nearest::{nearest, nearest_several};
pub use pattern::{
    ExpressionFault, ExpressionFlags, LetterCase, LineCount, LineMatch, MatchingLines, Pattern, PatternError,
    PatternKind, PatternOptions, ReplaceError, Replacement, Replacer, TooManyAttempts, lines_after, lines_before,
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
    DataviewSettings, DroppedRows, OwnerMarks, QueryContext, QueryHalt, QueryLimits, QueryStep, QuerySyntaxError,
    QueryVault, RowNumber, RowSelection, RowSet, ScannedVault, VaultRow,
};
pub use utf16::{utf16_length, utf16_slice};
pub use value::{
    DateValue, DateZone, DurationUnit, DurationValue, LinkValue, Number, Object, Value, bases_property, dataview_field,
    dataview_property, typed_json,
};
pub use words::words;
