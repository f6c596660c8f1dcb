//! Tools of other MCP servers, which the owner configures. What those servers say is text of strangers, and their tools are never in
//! our own list: they are only reached by a call that names server and tool.

pub(super) mod mcp_call;
pub(super) mod mcp_tools;

use std::{cmp::Reverse, collections::BTreeSet};

use lapidary_operation::{Context, OffReason, Reason, ServerRequests, ServerTool, quote::one_line};

use super::{NO_SERVERS, agent::find_tool::ranking::stems};

fn servers<'c>(context: &'c Context<'_>, tool: &str) -> Result<&'c ServerRequests<'c>, Reason> {
    let off = || Reason::ToolOff { tool: tool.to_owned(), off: OffReason::NotSetUp(NO_SERVERS) };
    context.servers.as_ref().ok_or_else(off)
}

/// How much of a description is in a list.
const BRIEF: usize = 120;

/// The first line of a description, cut at a word.
pub(super) fn brief(description: &str) -> String {
    let line = description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = one_line(line);
    if line.chars().count() <= BRIEF {
        return line.into_owned();
    }
    let cut: String = line.chars().take(BRIEF).collect();
    // Within a word if the last space is far back, as in languages that have none.
    let end = cut.rfind(' ').filter(|at| *at > BRIEF / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

/// The tools whose name or description has words of a request, best first; all, in the server's order, without any words.
pub(super) fn fitting<'o>(tools: &'o [ServerTool], wanted: &BTreeSet<String>) -> Vec<(usize, &'o ServerTool)> {
    let common = |tool: &ServerTool| {
        let name = tool.name.replace(['_', '-', '.', '/'], " ");
        // A word of the name says more than one of the description.
        2 * stems(&name).intersection(wanted).count() + stems(&tool.description).intersection(wanted).count()
    };
    let mut fitting: Vec<(usize, &ServerTool)> = tools.iter().map(|tool| (common(tool), tool)).collect();
    if !wanted.is_empty() {
        fitting.retain(|(common, _)| *common > 0);
        fitting.sort_by_key(|(common, _)| Reverse(*common));
    }
    fitting
}
