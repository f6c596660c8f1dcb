//! One file for each page: its type, with its template.

mod activity;
mod answer;
mod approvals;
mod changed_file;
mod history;
mod page_frame;
mod sign_in;

pub use activity::{ActivityFilter, ActivityPage, ActivityRow, OutcomeTone};
pub use answer::AnswerPage;
pub use approvals::{ApprovalItem, ApprovalPage, ApprovalsPage, ReviewState};
pub use changed_file::ChangedFile;
pub use history::{HistoryEntry, HistoryPage, RestorePage};
pub use page_frame::{ConsoleSection, PageFrame};
pub use sign_in::SignInPage;
