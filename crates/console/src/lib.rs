//! The pages of the console: typed facts in, HTML out. Nothing here knows the network, a vault or the clock.
//!
//! Text of notes, names and clients reaches a page only as [`ShownText`], which is markup that shows it and nothing else.

mod assets;
mod diff_rows;
mod graph_bytes;
mod marked_line;
mod pages;
mod property_rows;
mod schema_form;
mod shown_text;

pub use assets::{ConsoleAsset, find_asset};
pub use diff_rows::{DiffLine, DiffRow, FileDiff, LineSign};
pub use graph_bytes::graph_bytes;
pub use pages::*;
pub use property_rows::PropertyRow;
pub use schema_form::{ArgumentField, ArgumentForm, FieldKind};
pub use shown_text::ShownText;
