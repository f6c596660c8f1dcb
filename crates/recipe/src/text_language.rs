//! Values in the middle of a text that a tool reads as a language: each is written so that it stays one value, whatever it
//! holds, or is refused. What the recipe itself says around it decides how.

use lapidary_bases::is_base_yaml;
use serde_json::Value;

/// What a tool reads the text of an argument as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextLanguage {
    /// Nothing in it has a meaning.
    #[default]
    Plain,
    /// The path of a file or folder.
    Path,
    /// Dataview's DQL, the YAML of a base, or the path of one.
    Query,
    /// The search language.
    Search,
    /// A regular expression.
    Pattern,
    /// What a regular expression is replaced with.
    Replacement,
}

/// An argument whose text is read as a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextArgument {
    /// JSON pointer; `*` for every item of a list.
    pub pointer: &'static str,
    pub language: TextLanguage,
    /// Only if the argument of this name beside it has this value.
    pub when: Option<(&'static str, &'static str)>,
}

impl TextArgument {
    pub const fn new(pointer: &'static str, language: TextLanguage) -> Self {
        Self { pointer, language, when: None }
    }

    pub const fn when(self, argument: &'static str, value: &'static str) -> Self {
        Self { when: Some((argument, value)), ..self }
    }

    /// The language of the text at a pointer; the first that fits. `beside` gives the values of arguments next to it.
    pub fn language_at(all: &[Self], pointer: &str, beside: &dyn Fn(&str) -> Option<Value>) -> TextLanguage {
        let fits = |argument: &&Self| {
            let is_so = |(name, wanted): (&str, &str)| match beside(name) {
                Some(Value::String(value)) => value == wanted,
                // `when` is declared as text, for switches as well.
                Some(Value::Bool(value)) => value == (wanted == "true"),
                _ => false,
            };
            argument.pointer == pointer && argument.when.is_none_or(is_so)
        };
        all.iter().find(fits).map_or(TextLanguage::Plain, |argument| argument.language)
    }
}

/// The language of the text at a pointer, with a way to ask for the values of arguments beside it.
pub type TextLanguages<'l> = dyn Fn(&str, &dyn Fn(&str) -> Option<Value>) -> TextLanguage + 'l;

/// How a text is read from its beginning, in the words of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextForm {
    Plain,
    Path,
    Dql,
    BaseYaml,
    Search,
    Pattern,
    Replacement,
}

/// Writes a text part by part.
pub(crate) struct TextWriter {
    form: TextForm,
    text: String,
    /// Whether anything was written, be it empty.
    has_begun: bool,
    /// The quote that is open in what the recipe wrote.
    quote: Option<char>,
    escaped: bool,
    /// Whether the recipe wrote a `\` between single quotes in a base: YAML knows no escapes there, expressions do, so where they end
    /// is not known.
    is_unsure: bool,
    /// Whether a bracket of the language is open: a link in DQL, a property in a search.
    in_brackets: bool,
}

impl TextWriter {
    /// `written` is the text of the recipe without what is inserted.
    pub(crate) fn new(language: TextLanguage, written: &str) -> Self {
        let form = match language {
            TextLanguage::Plain => TextForm::Plain,
            TextLanguage::Path => TextForm::Path,
            TextLanguage::Search => TextForm::Search,
            TextLanguage::Pattern => TextForm::Pattern,
            TextLanguage::Replacement => TextForm::Replacement,
            // The same test as that of the query tools, so that a text is read as it was written.
            TextLanguage::Query if is_base_yaml(written) => TextForm::BaseYaml,
            TextLanguage::Query if written.trim().ends_with(".base") => TextForm::Path,
            TextLanguage::Query => TextForm::Dql,
        };
        Self {
            form,
            text: String::new(),
            has_begun: false,
            quote: None,
            escaped: false,
            is_unsure: false,
            in_brackets: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Text of the recipe itself.
    pub(crate) fn write(&mut self, fixed: &str) {
        self.has_begun |= !fixed.is_empty();
        let quotes: &[char] = match self.form {
            TextForm::Dql | TextForm::Search => &['"'],
            TextForm::BaseYaml => &['"', '\''],
            TextForm::Plain | TextForm::Path | TextForm::Pattern | TextForm::Replacement => &[],
        };
        for c in fixed.chars() {
            match self.quote {
                // A quote in a link is part of a name there, so only the bracket counts.
                _ if self.in_brackets && self.form == TextForm::Dql => self.in_brackets = c != ']',
                Some(_) if self.escaped => self.escaped = false,
                Some(open) if c == '\\' => {
                    self.escaped = true;
                    self.is_unsure |= open == '\'';
                }
                Some(open) if c == open => self.quote = None,
                Some(_) => {}
                None if quotes.contains(&c) => self.quote = Some(c),
                // Only two brackets begin a link; one alone begins a list or an index.
                None if self.form == TextForm::Dql && c == '[' => self.in_brackets = self.text.ends_with('['),
                None if self.form == TextForm::Search && matches!(c, '[' | ']') => self.in_brackets = c == '[',
                None => {}
            }
            self.text.push(c);
        }
    }

    /// Whether a value is written by its type here, and not as its text.
    pub(crate) fn wants_value(&self) -> bool {
        // In quotes, links and tags the recipe has written the start of a text already.
        self.form == TextForm::Dql && self.quote.is_none() && !self.in_brackets && !self.text.ends_with('#')
    }

    /// A value by its type.
    pub(crate) fn insert_value(&mut self, value: &Value) -> Result<(), &'static str> {
        self.has_begun = true;
        let literal = dql_literal(value, 0)?;
        self.text += &literal;
        Ok(())
    }

    /// A value as its text, or why it cannot be there.
    pub(crate) fn insert(&mut self, value: &str) -> Result<(), &'static str> {
        let is_quoted = self.quote.is_some();
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let written = match self.form {
            TextForm::Plain => value.to_owned(),
            // What a path begins with may be a folder; whatever comes later is one name, or a part of one.
            TextForm::Path if is_first => value.to_owned(),
            TextForm::Path => plain_if(value, !leaves_folder(value), "which has to be a single name there")?,
            TextForm::Pattern => pattern_of(value),
            // Otherwise `$1` in a value would insert a group of the match.
            TextForm::Replacement => value.replace('$', "$$"),
            // A line break could begin another clause or another key.
            _ if value.contains(char::is_control) => return Err("which has a line break or another control character"),
            TextForm::Dql if self.in_brackets => {
                // Links have no escapes: each of these signs would end the name of the note.
                plain_if(value, !value.contains(['[', ']', '|', '#', '^']), "which cannot be in a link")?
            }
            TextForm::Dql if is_quoted => in_quotes(value),
            // Behind a `#`: everything else is written by its type.
            TextForm::Dql => plain_if(value, is_word(value, "_-/"), "which is not a tag")?,
            TextForm::Search if self.in_brackets => {
                let fits = if is_quoted { !value.contains(['"', '\\', ']']) } else { is_word(value, "_-/") };
                plain_if(value, fits, "which cannot be in the brackets of a property")?
            }
            TextForm::Search if is_quoted => in_quotes(value),
            TextForm::Search => self.searched(value)?,
            TextForm::BaseYaml if is_quoted && !self.is_unsure => {
                // The text is in YAML and in an expression at once, and each has its own escapes.
                let means_more = value.contains(['"', '\'', '\\', '`', '[', ']', '{', '}', ','])
                    || value.contains(": ")
                    || value.contains(" #")
                    || value.ends_with(':');
                plain_if(value, !means_more, "which has a meaning in the YAML of a base")?
            }
            TextForm::BaseYaml => plain_if(value, is_word(value, "_-/."), "which needs quotes around it in a base")?,
        };
        self.text += &written;
        Ok(())
    }

    /// Outside of quotes: a word, or a phrase where one can begin.
    fn searched(&self, value: &str) -> Result<String, &'static str> {
        // A quote in the middle of a word is part of the word for the search language.
        let begins = self.text.is_empty() || self.text.ends_with(|c: char| c.is_whitespace() || "(:-".contains(c));
        // A `-` in front negates a word, a `/` begins a regular expression, and `OR` joins its neighbours.
        let is_plain = is_word(value, "_-/") && !value.starts_with(['-', '/']) && value != "OR";
        match (is_plain, begins) {
            (true, _) => Ok(value.to_owned()),
            (false, true) => Ok(format!("\"{}\"", in_quotes(value))),
            (false, false) => Err("which is more than a word; put quotes around it"),
        }
    }
}

fn plain_if(value: &str, fits: bool, problem: &'static str) -> Result<String, &'static str> {
    if fits { Ok(value.to_owned()) } else { Err(problem) }
}

fn leaves_folder(value: &str) -> bool {
    // `\` is a separator in paths from Windows.
    value.contains(['/', '\\', '\0']) || matches!(value.trim(), "." | "..")
}

/// Whether it has letters, digits and these signs only, and something at all.
fn is_word(value: &str, signs: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || signs.contains(c))
}

/// As both DQL and the search language escape it.
fn in_quotes(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A pattern that finds exactly this. Every sign as its number: that has no meaning anywhere, also in a class.
fn pattern_of(value: &str) -> String {
    let mut pattern = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => pattern += &format!("\\x{:02x}", u32::from(c)),
            c => pattern.push(c),
        }
    }
    pattern
}

fn dql_literal(value: &Value, depth: usize) -> Result<String, &'static str> {
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) if text.contains(char::is_control) => {
            Err("which has a line break or another control character")
        }
        Value::String(text) => Ok(format!("\"{}\"", in_quotes(text))),
        Value::Array(items) if depth == 0 => {
            let items = items.iter().map(|item| dql_literal(item, depth + 1)).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("list({})", items.join(", ")))
        }
        Value::Array(_) | Value::Object(_) => Err("which is not a single value"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A text with one value in the place of `@`.
    fn filled(language: TextLanguage, template: &str, value: &Value) -> Result<String, &'static str> {
        let (before, behind) = template.split_once('@').unwrap();
        let mut writer = TextWriter::new(language, &format!("{before}{behind}"));
        writer.write(before);
        if writer.wants_value() {
            writer.insert_value(value)?;
        } else {
            writer.insert(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))?;
        }
        writer.write(behind);
        Ok(writer.finish())
    }

    #[test]
    fn a_value_is_written_as_its_place_asks_for() {
        use TextLanguage::{Path, Pattern, Plain, Query, Replacement, Search};
        for (language, template, value, expected) in [
            (Plain, "a @", json!("\" {{ x }}"), Ok("a \" {{ x }}")),
            (Path, "A/@.md", json!("b"), Ok("A/b.md")),
            (Path, "@/b.md", json!("A/c"), Ok("A/c/b.md")),
            (Path, "A/@.md", json!("../b"), Err("which has to be a single name there")),
            (Query, "@/Books.base", json!("A/b"), Ok("A/b/Books.base")),
            (Query, "LIST FROM \"@\"", json!("a\" OR \"b"), Ok("LIST FROM \"a\\\" OR \\\"b\"")),
            (Query, "LIST FROM \"A\\\"/@\"", json!("\\"), Ok("LIST FROM \"A\\\"/\\\\\"")),
            (Query, "LIST FROM #@", json!("a/b"), Ok("LIST FROM #a/b")),
            (Query, "LIST FROM #@", json!("a OR #b"), Err("which is not a tag")),
            (Query, "LIST FROM [[@]]", json!("a b"), Ok("LIST FROM [[a b]]")),
            (Query, "LIST FROM [[@]]", json!("a]] OR [[b"), Err("which cannot be in a link")),
            (Query, "LIST WHERE x = @", json!("true OR true"), Ok("LIST WHERE x = \"true OR true\"")),
            (Query, "LIST WHERE x > @ SORT y", json!(3), Ok("LIST WHERE x > 3 SORT y")),
            (Query, "LIST WHERE x = @", json!(["a", 1]), Ok("LIST WHERE x = list(\"a\", 1)")),
            (Query, "LIST WHERE x = @", json!({ "a": 1 }), Err("which is not a single value")),
            (
                Query,
                "LIST WHERE x = \"@\"",
                json!("a\nviews:"),
                Err("which has a line break or another control character"),
            ),
            (
                Query,
                "filters: file.hasTag(\"@\")\nviews: []",
                json!("a b"),
                Ok("filters: file.hasTag(\"a b\")\nviews: []"),
            ),
            (
                Query,
                "filters: file.hasTag(\"@\")",
                json!("a\") || true || (\""),
                Err("which has a meaning in the YAML of a base"),
            ),
            (Query, "filters: x > @", json!(3), Ok("filters: x > 3")),
            (Query, "filters: 'x == \\' && @", json!("a b"), Err("which needs quotes around it in a base")),
            (Query, "filters: 'x == \\' && @", json!("a"), Ok("filters: 'x == \\' && a")),
            (Query, "filters: x > @", json!("3 || true"), Err("which needs quotes around it in a base")),
            (Search, "@ -path:Old", json!("lime mortar"), Ok("\"lime mortar\" -path:Old")),
            (Search, "@ -path:Old", json!("lime"), Ok("lime -path:Old")),
            (Search, "a @", json!("OR"), Ok("a \"OR\"")),
            (Search, "path:@", json!("My \"files\""), Ok("path:\"My \\\"files\\\"\"")),
            (Search, "\"@\"", json!("a\" OR \"b"), Ok("\"a\\\" OR \\\"b\"")),
            (Search, "tag:#@", json!("a OR b"), Err("which is more than a word; put quotes around it")),
            (Search, "[status:@]", json!("open"), Ok("[status:open]")),
            (Search, "[status:\"@\"]", json!("a\"] OR [b"), Err("which cannot be in the brackets of a property")),
            (Pattern, "^@$", json!("a.b*"), Ok("^a\\x2eb\\x2a$")),
            (Replacement, "<@>", json!("$1"), Ok("<$$1>")),
        ] {
            let found = filled(language, template, &value);
            assert_eq!(found.as_deref(), expected.as_ref().map(|text| *text), "{template} {value}");
        }
    }

    proptest! {
        /// Whatever is inserted, the quotes around it are still its own.
        #[test]
        fn no_value_leaves_its_quotes(value in "[\\PC\"\\\\]{0,12}") {
            for (language, template) in
                [(TextLanguage::Query, "LIST FROM \"@\" WHERE \"z\""), (TextLanguage::Search, "\"@\" \"z\"")]
            {
                let Ok(text) = filled(language, template, &json!(value)) else { continue };
                let (start, end) = template.split_once('@').unwrap();
                let inside = &text[start.len()..text.len() - end.len()];
                let mut escaped = false;
                for c in inside.chars() {
                    prop_assert!(escaped || c != '"', "{}", text);
                    escaped = c == '\\' && !escaped;
                }
                prop_assert!(!escaped, "{}", text);
            }
        }
    }
}
