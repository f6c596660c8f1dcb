//! The pages of the console: typed facts in, HTML out. Nothing here knows the network, a vault or the clock.
//!
//! Text of notes, names and clients reaches a page only as [`ShownText`], which is markup that shows it and nothing else.

mod assets;
mod diff_rows;
mod pages;
mod schema_form;
mod search_page;
mod shown_text;
mod try_page;

pub use assets::{ConsoleAsset, find_asset};
pub use diff_rows::{DiffLine, DiffRow, FileDiff, LineSign};
pub use pages::{
    ActivityFilter, ActivityPage, ActivityRow, AnswerPage, ApprovalItem, ApprovalPage, ApprovalsPage, ChangedFile,
    ConsoleSection, HistoryEntry, HistoryPage, OutcomeTone, PageFrame, RestorePage, ReviewState, SignInPage,
};
pub use schema_form::{ArgumentField, ArgumentForm, FieldKind};
pub use search_page::{
    FoundNote, QueryPage, QueryPlace, QueryProblem, SearchPage, ShownCell, ShownColumn, ShownTable, VaultChoices,
};
pub use shown_text::ShownText;
pub use try_page::{CallerChoice, ListedGroup, ListedTool, ReplyPart, ToolListPage, TriedCall, TryPage, TypedArguments};
