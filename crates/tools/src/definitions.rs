//! The reviewed definitions of the tools, built into the program: to read one is ten times as fast as to derive it from
//! the types of a tool. `build.rs` takes them from the golden files; a test sees to it that they are what the types say.

include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The description and the schemas of a tool as JSON; `None` for a tool that has no golden file yet.
pub(crate) fn definition(tool: &str) -> Option<&'static str> {
    DEFINITIONS.iter().find(|(name, _)| *name == tool).map(|(_, definition)| *definition)
}
