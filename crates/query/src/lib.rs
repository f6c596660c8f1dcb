//! What people ask for. Pure: rows and words in, answers out.
//!
//! The value and the row that every query language reads, the small languages (ranked search, JsonLogic, patterns), and
//! what Dataview and Bases share: dates, numbers and order as JavaScript has them. Those two are crates of their own.

mod collation;
mod csv;
mod english;
mod graph;
mod js_number;
mod jsonlogic;
mod letters;
mod luxon;
mod moment;
mod nearest;
mod pattern;
mod recurrence;
mod result_text;
mod row;
mod search;
mod simple;
mod source;
mod utf16;
mod value;
mod words;

pub use collation::{ascii_key, collate};
pub use csv::csv_rows;
pub use graph::{
    DrawnPoint, GraphLink, GraphNote, LayeredCard, LayeredPlaces, LayoutTask, NoteGraph, NoteLinks, PlacedBox,
    UnresolvedLink, layered, paths_mark,
};
pub use js_number::{decimal_text, number_text, round_half_up, to_fixed};
pub use jsonlogic::{LOGIC_OPERATORS, Logic, LogicError, LogicHalt, is_truthy, text_to_number};
pub use letters::is_letter;
pub use luxon::{LuxonDate, LuxonParseError, LuxonZone, WallClock, format_duration, format_luxon, parse_luxon};
pub use moment::{Period, WeekRule, format_moment};
pub use nearest::{nearest, nearest_several};
pub use pattern::{
    ExpressionFault, ExpressionFlags, LetterCase, LineCount, LineMatch, MatchingLines, Pattern, PatternError,
    PatternKind, PatternOptions, ReplaceError, Replacement, Replacer, TooManyAttempts, lines_after, lines_before,
};
pub use recurrence::RecurrenceRule;
pub use result_text::{csv_record, joined_lines};
pub use row::{
    FoundField, FrontmatterState, NoteField, PropertyVisitor, Row, RowBlock, RowField, RowHeading, RowItem, RowLink,
    RowTag, TextPosition, is_page_path, item_fields, line_fields, note_fields, note_items, page_aliases, page_tags,
    property_tag_texts,
};
pub use search::{
    AnswerBounds, Answers, FuzzyWord, KeptWord, LeafResolver, Lexicon, PageRange, PathFilter, PropertyFilter,
    QueryLeaf, QueryNode, QueryPiece, QueryStarts, SearchQuery, TaskState, TextFilter, TextUnit, Token, Words,
    evaluate, folded, has_tag, holds, search_tokens, search_words, word_forms,
};
pub use simple::{SimpleMatches, SimpleQuery};
pub use source::{
    DataviewSettings, DroppedRows, KnownNames, OwnerMarks, QueryContext, QueryHalt, QueryLimits, QueryPlace, QueryStep,
    QuerySyntaxError, QueryVault, RowNumber, RowSelection, RowSet, ScannedVault, VaultRow, is_tag_within,
};
pub use utf16::{utf16_length, utf16_slice};
pub use value::{
    DateValue, DateZone, DurationUnit, DurationValue, LinkValue, Number, Object, Value, bases_date_text,
    bases_property, dataview_field, dataview_property, literal, typed_json,
};
pub use words::words;

/// A vault in memory, for the tests of this crate and of the query languages.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    pub use crate::source::plain_vault::PlainVault;
}
