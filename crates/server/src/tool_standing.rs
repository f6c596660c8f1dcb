//! Whether a tool is offered, in words for the owner: in `lapidary tools` and on the landing page.

use lapidary_tools::{
    MissingSetting, NO_MEMORY, NO_RECIPES, NO_SCHEMAS, NO_SCRIPTS, NO_SERVERS, NO_WEB_PAGES, NO_WEB_SEARCH, OffReason,
    ToolStanding,
};

/// The standing in a word, and why it is not better, with what to do about it.
pub(crate) fn in_words(standing: ToolStanding) -> (&'static str, &'static str) {
    match standing {
        ToolStanding::Listed => ("listed", ""),
        ToolStanding::Deferred => ("deferred", ""),
        ToolStanding::Off(OffReason::ReadOnly) => {
            ("off", "read-only; start without --read-only and OBSIDIAN_READ_ONLY")
        }
        ToolStanding::Off(OffReason::Excluded) => ("off", "excluded; remove it from --exclude-tools"),
        ToolStanding::Off(OffReason::Profile) => ("off", "not in the profile; choose another with --profile"),
        ToolStanding::Off(OffReason::Commands) => ("off", "needs OBSIDIAN_ENABLE_COMMANDS=true"),
        ToolStanding::Off(OffReason::OwnFolders) => ("off", "not for callers with folders of their own"),
        ToolStanding::Off(OffReason::Scope) => ("off", "not covered by the scopes of the token"),
        ToolStanding::Off(OffReason::NotSetUp(missing)) => ("off", needs(missing)),
        ToolStanding::Off(OffReason::NotChosen) => ("off", "not chosen; add it to --tools"),
    }
}

fn needs(missing: MissingSetting) -> &'static str {
    match missing {
        NO_MEMORY => "not set up; name a memory_folder",
        NO_SCHEMAS => "not set up; name a schema_folder",
        NO_RECIPES => "not set up; name a recipe_folder",
        NO_SCRIPTS => "not set up; switch on scripts",
        NO_SERVERS => "not set up; configure mcp.servers",
        NO_WEB_SEARCH => "not set up; name a web.search_url",
        missing if NO_WEB_PAGES.contains(&missing) => "not set up; open hosts with web.hosts",
        _ => "not set up",
    }
}
