//! The configuration files of MCP clients: where they are, what an entry for Lapidary looks like, and how the text of a file
//! changes when that entry is added, updated or removed. Text in, text out; the disk belongs to the caller.

mod client_folders;
mod client_table;
mod config_text;
mod install_link;
mod json_text;
mod server_entry;
mod shown_change;
mod text_lines;
mod toml_text;
mod yaml_text;

pub use client_folders::{ClientFolders, HostPlatform};
pub use client_table::{CLIENTS, ClientSpec, find_client};
pub use config_text::{ClientFileError, FileFormat};
pub use install_link::install_link;
pub use server_entry::{EntryOwner, ServerLaunch, StartedServer, package_runner};
pub use shown_change::shown_change;

/// The name of our entry in every client. Clients put it before the names of tools, so it is short.
pub const SERVER_NAME: &str = "obsidian";
