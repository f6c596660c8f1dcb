//! Text without its Markdown, as `display` shows it.

use crate::engine::{FieldError, QueryEngine};

use super::strings::replaced;
use crate::cell::Cell;

/// One replacement: what is looked for, whether `^` and `$` are the ends of lines, and what is left of it. Each needs one
/// of some characters to find anything.
struct StripRule {
    pattern: &'static str,
    lines: bool,
    left: &'static str,
    needs: &'static str,
}

const fn rule(pattern: &'static str, lines: bool, left: &'static str, needs: &'static str) -> StripRule {
    StripRule { pattern, lines, left, needs }
}

/// In the order of the remove-markdown package, which Dataview uses; their order and their faults are what people see.
const RULES: [StripRule; 20] = [
    // Rulings, list marks
    rule(r"^(-\s*?|\*\s*?|_\s*?){3,}\s*", true, "", "-*_"),
    rule(r"^([\s\t]*)([\*\-\+]|\d+\.)\s+", true, "$1", "*-+."),
    // Underlined headings, fences, strikethrough
    rule(r"\n={2,}", false, "\n", "="),
    rule(r"~{3}.*\n", false, "", "~"),
    rule("~~", false, "", "~"),
    rule(r"`{3}.*\n", false, "", "`"),
    // HTML
    rule(r"<[^>]*>", false, "", "<"),
    rule(r"^[=\-]{2,}\s*$", false, "", "=-"),
    // Footnotes, references, images, links
    rule(r"\[\^.+?\](\: .*?$)?", false, "", "["),
    rule(r"\s{0,2}\[.*?\]: .*?$", false, "", "["),
    rule(r"\!\[(.*?)\][\[\(].*?[\]\)]", false, "$1", "!"),
    rule(r"\[([^\]]*?)\][\[\(].*?[\]\)]", false, "$1", "["),
    // Quotes
    rule(r"^(\n)?\s{0,3}>\s?", true, "$1", ">"),
    rule(r#"^\s{1,2}\[(.*?)\]: (\S+)( ".*?")?\s*$"#, false, "", "["),
    // Headings
    rule(r"^(\n)?\s{0,}#{1,6}\s*( (.+))? +#+$|^(\n)?\s{0,}#{1,6}\s*( (.+))?$", true, "$1$3$4$6", "#"),
    // Emphasis, code
    rule(r"([\*]+)(\S)(.*?\S)??\1", false, "$2$3", "*"),
    rule(r"(^|\W)([_]+)(\S)(.*?\S)??\2($|\W)", false, "$1$3$4$5", "_"),
    rule(r"(`{3,})(.*?)\1", true, "$2", "`"),
    rule("`(.+?)`", false, "$1", "`"),
    rule("~(.*?)~", false, "$1", "~"),
];

/// Links as their targets or displays, and no other marks. Of links with a display only the first is taken apart, as in
/// the original.
pub(super) fn plain_text(engine: &QueryEngine<'_>, text: &str) -> Result<String, FieldError> {
    let mut text = text.to_owned();
    if text.contains("[[") {
        text = strip(engine, &text, r"\[\[([^\|]*?)\]\]", false, "$1")?;
        text = first_display(&text);
    }
    for rule in &RULES {
        // Most texts have no marks at all, and each rule is a search.
        if text.contains(|c| rule.needs.contains(c)) {
            text = strip(engine, &text, rule.pattern, rule.lines, rule.left)?;
        }
    }
    Ok(text)
}

fn strip(engine: &QueryEngine<'_>, text: &str, pattern: &str, lines: bool, left: &str) -> Result<String, FieldError> {
    engine.steps(1 + text.len() / 64)?;
    match &*engine.pattern(pattern, false, lines) {
        Ok(replacer) => match replaced(engine, replacer, text, left)? {
            Cell::Text(text) => Ok(text.to_string()),
            _ => Ok(String::new()),
        },
        Err(fault) => FieldError::row(fault.clone()),
    }
}

/// The first `[[target|display]]` on one line becomes its display.
fn first_display(text: &str) -> String {
    for (start, _) in text.match_indices("[[") {
        let line = text[start..].lines().next().unwrap_or_default();
        let Some(bar) = line.find('|') else { continue };
        let Some(end) = line[bar + 1..].find("]]") else { continue };
        let display = &line[bar + 1..bar + 1 + end];
        let behind = &text[start + bar + 1 + end + 2..];
        return format!("{}{display}{behind}", &text[..start]);
    }
    text.to_owned()
}
