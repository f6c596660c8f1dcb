//! Consistency between the tools and the parts that only know their names or number: reasons, hints, the catalogue.

mod catalogue;
mod reasons;
mod samples;
mod texts;

use lapidary_operation::RENAMED_TOOLS;

use crate::TOOLS;

#[test]
fn every_successor_is_a_tool() {
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.spec().name()).collect();
    for (old, successor) in RENAMED_TOOLS {
        assert!(names.contains(&successor.tool) && !names.contains(&old), "{old}");
    }
}
