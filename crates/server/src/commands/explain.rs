//! `lapidary explain`: what a reason for refusal means.

use std::io::Write;

use lapidary_query::nearest;
use lapidary_tools::{ReasonKind, TOOLS, quote::quoted};

use super::{CommandFailure, CommandOutcome, report, table, terminal_style::TerminalStyle};

/// One reason, or all of them as a table.
pub(super) fn run(
    reason: Option<&str>,
    style: TerminalStyle,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let Some(reason) = reason else {
        let header = ["reason", "when"].map(str::to_owned);
        let rows: Vec<Vec<String>> = ReasonKind::ALL
            .iter()
            .map(|kind| vec![kind.wire_code().id.to_owned(), kind.wire_code().when.to_owned()])
            .collect();
        table::print_fitting(out, &header, &rows, super::terminal_style::terminal_width())?;
        return Ok(CommandOutcome::Well);
    };
    let known = || ReasonKind::ALL.iter().map(|kind| kind.wire_code());
    let wanted = reason.trim();
    let Some(kind) = ReasonKind::ALL.iter().find(|kind| kind.wire_code().id.eq_ignore_ascii_case(wanted)) else {
        let near = nearest(wanted, known().map(|code| code.id));
        let hint = near
            .map_or_else(|| "`lapidary explain` lists them all".to_owned(), |near| format!("did you mean `{near}`?"));
        report::error(&format!("there is no reason {}; {hint}", quoted(wanted)));
        return Ok(CommandOutcome::Refused);
    };
    let code = kind.wire_code();
    writeln!(out, "{}", style.strong(code.id))?;
    write!(out, "{}", style.wrapped(&code.when.replace('`', ""), 0))?;
    writeln!(out, "\nCode {}, or {} from the file tools.", code.number, code.code)?;
    let specs = TOOLS.iter().map(|tool| tool.spec()).filter(|spec| spec.reasons().contains(kind));
    let tools: Vec<&str> = specs.map(|spec| spec.name()).collect();
    if tools.len() == TOOLS.len() {
        writeln!(out, "Any tool can be refused with it.")?;
    } else if !tools.is_empty() {
        write!(out, "{}", style.wrapped(&format!("Tools: {}.", tools.join(", ")), 0))?;
    }
    Ok(CommandOutcome::Well)
}
