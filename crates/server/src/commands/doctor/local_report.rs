//! All findings about this computer, and how they are printed.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{
    super::{print_json, printable, report, terminal_style::TerminalStyle},
    finding::{Finding, FindingLevel},
};

/// What was looked at, in the order in which it is shown.
#[derive(Default)]
pub(super) struct LocalReport {
    sections: Vec<(String, Vec<Finding>)>,
}

impl LocalReport {
    pub(super) fn add(&mut self, title: impl Into<String>, findings: Vec<Finding>) {
        // A title without lines would look like a check that failed silently.
        if !findings.is_empty() {
            self.sections.push((title.into(), findings));
        }
    }

    fn count(&self, level: FindingLevel) -> usize {
        self.sections.iter().flat_map(|(_, findings)| findings).filter(|finding| finding.level == level).count()
    }

    // Warnings do not count: the exit code is for scripts that only want to know whether it works.
    pub(super) fn is_well(&self) -> bool {
        self.count(FindingLevel::Failure) == 0
    }

    pub(super) fn print(&self, as_json: bool, style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        if as_json {
            return print_json(out, &self.json());
        }
        for (title, findings) in &self.sections {
            writeln!(out, "{}", style.strong(&printable(title)))?;
            print_findings(findings, style, out)?;
            writeln!(out)?;
        }
        let (failures, warnings) = (self.count(FindingLevel::Failure), self.count(FindingLevel::Warning));
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        match (failures, warnings) {
            (0, 0) => writeln!(out, "nothing is wrong"),
            (0, warnings) => writeln!(out, "nothing is wrong; {}", counted(warnings, "warning")),
            (failures, 0) => writeln!(out, "{}", counted(failures, "failure")),
            (failures, warnings) => {
                writeln!(out, "{}, {}", counted(failures, "failure"), counted(warnings, "warning"))
            }
        }
    }

    fn json(&self) -> Value {
        let section = |(title, findings): &(String, Vec<Finding>)| json!({ "title": title, "findings": findings.iter().map(Finding::json).collect::<Vec<_>>() });
        json!({
            "well": self.is_well(),
            "failures": self.count(FindingLevel::Failure),
            "warnings": self.count(FindingLevel::Warning),
            "sections": self.sections.iter().map(section).collect::<Vec<_>>(),
        })
    }
}

/// One line for each, with what to do below it.
pub(super) fn print_findings(findings: &[Finding], style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let mark = match finding.level {
            FindingLevel::Ok => style.good("✓"),
            FindingLevel::Warning => style.doubtful("!"),
            FindingLevel::Failure => style.bad("✗"),
        };
        let text = style.wrapped(&report::plain(&format!("{}: {}", finding.what, finding.found), style), 5);
        writeln!(out, "  {mark}  {}", text.trim())?;
        if let Some(advice) = &finding.advice {
            let text = style.wrapped(&report::plain(advice, style), 10);
            writeln!(out, "        → {}", text.trim())?;
        }
    }
    Ok(())
}
