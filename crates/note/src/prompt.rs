//! Notes that are prompts: text with placeholders for arguments, as the Templater plugin writes them, `<%
//! tp.mcpTools.prompt("name", "what to say") %>`.

use std::ops::Range;

/// A placeholder for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSlot {
    pub span: Range<usize>,
    pub name: String,
    /// What the author says about it.
    pub hint: Option<String>,
}

const CALL: &str = "tp.mcpTools.prompt";

/// The placeholders of a text, in order. Anything malformed is text.
pub fn prompt_slots(text: &str) -> Vec<PromptSlot> {
    let mut slots = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("<%").map(|found| at + found) {
        match (PromptReader { text, at: found + 2 }).slot() {
            Some((name, hint, end)) => {
                slots.push(PromptSlot { span: found..end, name, hint });
                at = end;
            }
            // Continues right after it: another placeholder may begin within what was not one.
            None => at = found + 2,
        }
    }
    slots
}

/// The text with every placeholder filled in; those without a `value` are left empty.
pub fn filled_prompt<'v>(text: &str, slots: &[PromptSlot], value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut end = 0;
    for slot in slots {
        filled += &text[end..slot.span.start];
        filled += value(&slot.name).unwrap_or_default();
        end = slot.span.end;
    }
    filled + &text[end..]
}

struct PromptReader<'t> {
    text: &'t str,
    at: usize,
}

impl PromptReader<'_> {
    fn slot(mut self) -> Option<(String, Option<String>, usize)> {
        // Marks with which Templater trims white space.
        self.take_any(&['-', '_']);
        self.take(CALL)?;
        self.take("(")?;
        let name = self.string().filter(|name| !name.trim().is_empty())?;
        let hint = match self.take(",") {
            Some(()) => self.string(),
            None => None,
        };
        self.take(")")?;
        self.take_any(&[';']);
        self.take_any(&['-', '_']);
        self.take("%>")?;
        Some((name, hint, self.at))
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, wanted: &str) -> Option<()> {
        self.space();
        self.text[self.at..].starts_with(wanted).then(|| self.at += wanted.len())
    }

    fn take_any(&mut self, letters: &[char]) {
        self.space();
        if self.text[self.at..].starts_with(letters) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.space();
        let mut letters = self.text[self.at..].char_indices();
        let quote = letters.next().map(|(_, quote)| quote).filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
        let mut value = String::new();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next()?.1 {
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    other => value.push(other),
                },
                // Only template strings span lines in JavaScript.
                '\n' if quote != '`' => return None,
                _ if letter == quote => {
                    self.at += at + quote.len_utf8();
                    return Some(value);
                }
                other => value.push(other),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_quotes_make_a_place_and_nothing_else_does() {
        for (text, expected) in [
            (r#"a <% tp.mcpTools.prompt("name", "hint") %> b"#, Some(("name", Some("hint")))),
            ("<%tp.mcpTools.prompt('name')%>", Some(("name", None))),
            (r"<%- tp.mcpTools.prompt( 'it\'s' , `a \`b\`` ) ; -%>", Some(("it's", Some("a `b`")))),
            (r#"<% tp.mcpTools.prompt("größe", 'x "y"') %>"#, Some(("größe", Some("x \"y\"")))),
            ("<% tp.mcpTools.prompt(name) %>", None),
            ("<% tp.mcpTools.prompt(\"a\nb\") %>", None),
            ("<% tp.mcpTools.prompt(\"\") %>", None),
            ("<% tp.mcpTools.prompt(\"a\" %>", None),
            ("<% tp.file.title %>", None),
            ("<% tp.mcpTools.prompt(\"a", None),
            ("<%", None),
        ] {
            let slots = prompt_slots(text);
            let found = slots.first().map(|slot| (slot.name.as_str(), slot.hint.as_deref()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn placeholders_are_filled_and_other_text_is_kept() {
        let text = "<% no %> A <% tp.mcpTools.prompt(\"x\") %>, B <% tp.mcpTools.prompt('y') %>, A <% tp.mcpTools.prompt('x') %>.";
        let slots = prompt_slots(text);
        let value = |name: &str| (name == "x").then_some("<% tp.mcpTools.prompt('y') %>");
        let x = "<% tp.mcpTools.prompt('y') %>";
        assert_eq!(filled_prompt(text, &slots, value), format!("<% no %> A {x}, B , A {x}."));
    }
}
