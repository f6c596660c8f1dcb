//! Where the YAML of a base is, sign by sign: its texts are in YAML and in an expression at once, and each has its own quotes.

use crate::text_writer::plain_if;

/// Behind which sign YAML begins a value.
const BEGINS_VALUE: [char; 5] = [':', '-', '[', ',', '{'];
/// Keys whose values are names and no expressions.
const NAMED: [&str; 3] = ["name", "displayName", "type"];

/// What is open behind the signs so far.
#[derive(Debug, Default)]
pub(crate) struct YamlPlace {
    /// The quote of YAML around a value.
    outer: Option<char>,
    /// The quote of a text in an expression.
    inner: Option<char>,
    line: String,
    /// Parentheses that are open on this line: between them a comma belongs to the expression.
    parentheses: usize,
    escaped: bool,
    /// Whether something was written of which it is not certain how it is read: a regular expression, whose quotes mean nothing,
    /// an escape of YAML, a tag of YAML. The rest of the base is not certain either.
    is_unsure: bool,
}

impl YamlPlace {
    pub(crate) fn follow(&mut self, c: char) {
        if c == '\n' {
            // An expression has one line; a text that is open here was begun by something other than a quote.
            self.is_unsure |= self.inner.is_some() || self.outer.is_some();
            self.line.clear();
            self.parentheses = 0;
            return;
        }
        match (self.outer, self.inner) {
            _ if self.escaped => {
                self.escaped = false;
                match (self.outer, c) {
                    // `\"` between double quotes of YAML is the quote of an expression.
                    (Some('"'), '"') if self.inner.is_none_or(|open| open == '"') => {
                        self.inner = if self.inner.is_none() { Some('"') } else { None };
                    }
                    (Some('"'), _) => self.is_unsure = true,
                    _ => {}
                }
            }
            (Some('"'), _) if c == '\\' => self.escaped = true,
            (_, Some(_)) if c == '\\' => self.escaped = true,
            (Some(outer), _) if c == outer => {
                // Two single quotes are one in YAML, and an expression without its end is none.
                self.is_unsure |= self.inner.is_some();
                self.outer = None;
            }
            (_, Some(inner)) if c == inner => self.inner = None,
            (_, Some(_)) => {}
            (outer, None) if matches!(c, '"' | '\'') => {
                let last = self.line.trim_end().chars().next_back();
                let begins_value = self.parentheses == 0 && last.is_none_or(|last| BEGINS_VALUE.contains(&last));
                self.is_unsure |= self.line.ends_with('\'');
                if outer.is_none() && begins_value { self.outer = Some(c) } else { self.inner = Some(c) }
            }
            (_, None) => {
                match c {
                    '(' => self.parentheses += 1,
                    ')' => self.parentheses = self.parentheses.saturating_sub(1),
                    _ => {}
                }
                let begins_value = self.line.trim_end().ends_with([':', '-']);
                self.is_unsure |= c == '/' || c == '\\' || (begins_value && matches!(c, '!' | '&' | '*' | '|' | '>'));
            }
        }
        self.line.push(c);
    }

    /// A value that stays one value here, or why it does not.
    pub(crate) fn fitted(&self, value: &str) -> Result<String, &'static str> {
        let is_number = value.parse::<f64>().is_ok_and(f64::is_finite) && !value.starts_with('+');
        if is_number || matches!(value, "true" | "false") {
            return Ok(value.to_owned());
        }
        let key = self.line.split_once(':').map_or("", |(key, _)| key.trim_start_matches([' ', '-']).trim());
        let in_name = self.outer.is_some() && NAMED.contains(&key);
        if self.is_unsure || !(self.inner.is_some() || in_name) {
            return Err("which needs quotes around it in a base, within the expression");
        }
        let means_more = value.contains(['"', '\'', '\\', '`', '[', ']', '{', '}', ','])
            || value.contains(": ")
            || value.contains(" #")
            || value.ends_with(':');
        plain_if(value, !means_more, "which has a meaning in the YAML of a base")
    }
}
