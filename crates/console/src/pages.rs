//! One file for each page: its type, with its template.

mod activity;
mod answer;
mod approvals;
mod changed_file;
mod clients;
mod graph;
mod health;
mod history;
mod page_frame;
mod rules;
mod search;
mod settings;
mod sign_in;
mod try_it;
mod vault;

pub use activity::{ActivityFilter, ActivityPage, ActivityRow, CallFact, CallPage, ClientShare, OutcomeTone};
pub use answer::AnswerPage;
pub use approvals::{ApprovalItem, ApprovalPage, ApprovalsPage, ReviewState};
pub use changed_file::ChangedFile;
pub use clients::{
    ClientsPage, EventRow, GrantRow, RightsFields, SessionRow, SnippetRow, TickedVault, TokenRow, TokenSecretPage,
};
pub use graph::{AddressedText, GraphChoice, GraphFilter, GraphPage, NotePanel, NoteRow, NoteWay};
pub use health::{FindingRow, FixOffer, HealthPage, KindRow};
pub use history::{
    HistoryEntry, HistoryFile, HistoryPage, NoteVersion, RestoreChoice, RestoreOffer, RestorePage, VersionsPage,
};
pub use page_frame::{ConsoleSection, PageFrame};
pub use rules::{ProfileRow, RuleRow, RulesPage, VerdictRow};
pub use search::{
    FoundNote, QueryPage, QueryPlace, QueryProblem, SearchPage, ShownCell, ShownColumn, ShownTable, VaultChoices,
};
pub use settings::{
    SettingField, SettingRow, SettingsChangePage, SettingsGroup, SettingsPage, SettingsVault, ToolSwitch,
};
pub use sign_in::SignInPage;
pub use try_it::{CallerChoice, ListedGroup, ListedTool, ReplyPart, ToolListPage, TriedCall, TryPage, TypedArguments};
pub use vault::{CountedText, GrowthChart, GrowthStep, GuideState, UnresolvedRow, VaultFact, VaultPage};
