//! The reviewed definitions of the tools, built into the binary: reading one is ten times as fast as deriving it from
//! the types of a tool. `build.rs` takes them from the golden files; a test checks that they match the types.

include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The description and the schemas of a tool as JSON; `None` for a tool that has no golden file yet.
pub(crate) fn definition(tool: &str) -> Option<&'static str> {
    DEFINITIONS.iter().find(|(name, _)| *name == tool).map(|(_, definition)| *definition)
}
