//! The group `agent`: the tools themselves and their log.

pub(super) mod call_tool;
pub(super) mod find_tool;
pub(super) mod operation_log;
