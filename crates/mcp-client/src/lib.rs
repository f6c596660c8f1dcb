//! A client of other MCP servers: programs that it starts, and addresses. Small and blocking, and our own rather than the SDK's,
//! because every byte of a server is a stranger's: lines are bounded before they are parsed, what was not asked for is counted,
//! a server that sends garbage is named as such, and none of that needs a runtime.

mod address_link;
mod configured_servers;
mod event_stream;
mod program_link;
mod protocol;
mod server_settings;
mod tool_list;
mod tool_reply;

#[cfg(test)]
mod tests;

pub use configured_servers::ConfiguredServers;
pub use server_settings::{ServerPlace, ServerSettings};
