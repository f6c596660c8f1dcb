//! Values in the middle of a text that a tool reads as a language: each is written so that it stays one value, whatever it
//! holds, or is refused. What the recipe itself says around it decides how.

use lapidary_bases::{base_path_of, is_base_yaml};
use serde_json::Value;

use crate::{TextLanguage, yaml_place::YamlPlace};

/// How a text is read from its beginning, in the words of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextForm {
    Plain,
    Path,
    /// The path of a base where a query is expected.
    BasePath,
    Dql,
    BaseYaml,
    Formula,
    Search,
    Pattern,
    Replacement,
    Glob,
    Property,
    Address,
    Patch,
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
    /// Whether where texts begin and end is not certain any more: behind a regular expression, whose quotes mean nothing.
    is_unsure: bool,
    /// Whether a bracket of the language is open: a link in DQL, a property in a search.
    in_brackets: bool,
    /// Where the YAML of a base is.
    yaml: YamlPlace,
}

const CONTROL: &str = "which has a line break or another control character";
const OWN_READING: &str = "which changes what the whole text is read as";
const UNSURE: &str =
    "which cannot be behind a regular expression, or behind a quote or `[[` that is open at the end of a line";

/// The same tests as those of the query tools, so that a text is read as it was written.
fn query_form(text: &str) -> TextForm {
    match text {
        text if base_path_of(text).is_some() => TextForm::BasePath,
        text if is_base_yaml(text) => TextForm::BaseYaml,
        _ => TextForm::Dql,
    }
}

impl TextWriter {
    /// `written` is the text of the recipe without what is inserted.
    pub(crate) fn new(language: TextLanguage, written: &str) -> Self {
        let form = match language {
            // The texts of a rule are read one by one.
            TextLanguage::Plain | TextLanguage::Logic => TextForm::Plain,
            TextLanguage::Path => TextForm::Path,
            TextLanguage::Formula => TextForm::Formula,
            TextLanguage::Search => TextForm::Search,
            TextLanguage::Pattern => TextForm::Pattern,
            TextLanguage::Replacement => TextForm::Replacement,
            TextLanguage::Glob => TextForm::Glob,
            TextLanguage::Property => TextForm::Property,
            TextLanguage::Address => TextForm::Address,
            TextLanguage::Patch => TextForm::Patch,
            TextLanguage::Query => query_form(written),
        };
        Self {
            form,
            text: String::new(),
            has_begun: false,
            quote: None,
            escaped: false,
            is_unsure: false,
            in_brackets: false,
            yaml: YamlPlace::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// The whole text, or why the last value cannot be in it.
    pub(crate) fn finish(self) -> Result<String, &'static str> {
        let is_query = matches!(self.form, TextForm::BasePath | TextForm::Dql | TextForm::BaseYaml);
        if is_query && query_form(&self.text) != self.form { Err(OWN_READING) } else { Ok(self.text) }
    }

    /// Text of the recipe itself.
    pub(crate) fn write(&mut self, fixed: &str) {
        self.has_begun |= !fixed.is_empty();
        for c in fixed.chars() {
            match self.form {
                TextForm::Dql | TextForm::Search | TextForm::Formula => self.follow(c),
                TextForm::BaseYaml => self.yaml.follow(c),
                _ => {}
            }
            self.text.push(c);
        }
    }

    /// Where quotes and brackets are open, behind one more character.
    fn follow(&mut self, c: char) {
        let quotes: &[char] = if self.form == TextForm::Formula { &['"', '\''] } else { &['"'] };
        match self.quote {
            // A quote in a link is part of a name there, so only the bracket counts.
            _ if self.in_brackets && self.form == TextForm::Dql => {
                self.in_brackets = !matches!(c, ']' | '\n');
                // Links have one line, so these brackets are more likely those of a comment.
                self.is_unsure |= c == '\n';
            }
            Some(_) if self.escaped => self.escaped = false,
            Some(_) if c == '\\' => self.escaped = true,
            Some(open) if c == open => self.quote = None,
            // A quote that is open over lines is more likely one in a comment.
            Some(_) => self.is_unsure |= c == '\n' && self.form == TextForm::Dql,
            None if quotes.contains(&c) => self.quote = Some(c),
            // Only two brackets begin a link; one alone begins a list or an index.
            None if self.form == TextForm::Dql && c == '[' => self.in_brackets = self.text.ends_with('['),
            None if self.form == TextForm::Search && matches!(c, '[' | ']') => self.in_brackets = c == '[',
            // It may only divide, but then it has numbers around it.
            None if self.form == TextForm::Formula => self.is_unsure |= c == '/',
            None if self.form == TextForm::Search => self.is_unsure |= c == '/' && self.begins_word(),
            None => {}
        }
    }

    /// Whether a value is written by its type here, and not as its text.
    pub(crate) fn wants_value(&self) -> bool {
        match self.form {
            // In quotes, links and tags the recipe has written the start of a text already.
            TextForm::Dql => self.quote.is_none() && !self.in_brackets && !self.text.ends_with('#'),
            TextForm::Formula => self.quote.is_none(),
            _ => false,
        }
    }

    /// A value by its type.
    pub(crate) fn insert_value(&mut self, value: &Value) -> Result<(), &'static str> {
        self.has_begun = true;
        let is_number = matches!(value, Value::Number(_) | Value::Bool(_));
        if self.is_unsure && !is_number {
            return Err(UNSURE);
        }
        let literal = match self.form {
            TextForm::Formula => formula_literal(value, 0)?,
            _ => dql_literal(value, 0)?,
        };
        self.text += &literal;
        Ok(())
    }

    /// A value as its text, or why it cannot be there.
    pub(crate) fn insert(&mut self, value: &str) -> Result<(), &'static str> {
        let is_quoted = self.quote.is_some();
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        // Signs that the text of a path in a query may have, but not the value in it: a view, a link, a script.
        let leaves_base = |value: &str| value.contains(['#', '[', ']', '|', '!', '$']) || value.contains("dv.");
        let written = match self.form {
            TextForm::Plain => value.to_owned(),
            // What a path begins with may be a folder; whatever comes later is one name, or a part of one.
            TextForm::Path if is_first => value.to_owned(),
            TextForm::Path => plain_if(value, !leaves_folder(value) && !self.names_folder(value), SINGLE_NAME)?,
            TextForm::Pattern => self.pattern_of(value)?,
            TextForm::Replacement => self.replacement_of(value)?,
            TextForm::Property => plain_if(value, is_word(value, "_- "), "which is not the name of a property")?,
            TextForm::Patch => self.patched(value)?,
            TextForm::Address if is_first => value.to_owned(),
            TextForm::Address => self.addressed(value)?,
            // A line break could begin another clause or another key.
            _ if value.contains(char::is_control) => return Err(CONTROL),
            TextForm::BasePath if leaves_base(value) => return Err("which cannot be in the path of a base"),
            TextForm::BasePath if is_first => value.to_owned(),
            TextForm::BasePath => plain_if(value, !leaves_folder(value) && !self.names_folder(value), SINGLE_NAME)?,
            TextForm::Glob => self.globbed(value, is_first)?,
            TextForm::Dql if self.in_brackets => {
                // Links have no escapes: each of these signs would end the name of the note.
                plain_if(value, !value.contains(['[', ']', '|', '#', '^']), "which cannot be in a link")?
            }
            TextForm::Dql | TextForm::Search | TextForm::Formula if is_quoted && self.is_unsure => return Err(UNSURE),
            TextForm::Dql if is_quoted => in_quotes(value),
            TextForm::Dql if self.is_unsure => return Err(UNSURE),
            // Behind a `#`: everything else is written by its type.
            TextForm::Dql => plain_if(value, is_word(value, "_-/"), "which is not a tag")?,
            // Only between quotes: everything else is written by its type.
            TextForm::Formula => in_quotes(value).replace('\'', "\\'"),
            TextForm::Search if self.in_brackets => {
                let fits = if is_quoted { !value.contains(['"', '\\', ']']) } else { is_word(value, "_-/") };
                plain_if(value, fits, "which cannot be in the brackets of a property")?
            }
            TextForm::Search if is_quoted => in_quotes(value),
            TextForm::Search => self.searched(value)?,
            TextForm::BaseYaml => self.yaml.fitted(value)?,
        };
        self.text += &written;
        Ok(())
    }

    /// Whether this value leaves a path at the folder that the recipe has written, instead of something in it.
    fn names_folder(&self, value: &str) -> bool {
        value.trim().is_empty() && self.text.trim_end().ends_with(['/', '\\'])
    }

    /// Whether a word of a search begins here. A quote in the middle of a word is part of it.
    fn begins_word(&self) -> bool {
        self.text.is_empty() || self.text.ends_with(|c: char| c.is_whitespace() || "(:-".contains(c))
    }

    /// Outside of quotes: a word, or a phrase where one can begin.
    fn searched(&self, value: &str) -> Result<String, &'static str> {
        // A `-` in front negates a word, a `/` begins a regular expression, and `OR` joins its neighbours.
        let is_plain = is_word(value, "_-/") && !value.starts_with(['-', '/']) && value != "OR";
        match (is_plain, self.begins_word()) {
            (true, _) => Ok(value.to_owned()),
            (false, true) if !self.is_unsure => Ok(format!("\"{}\"", in_quotes(value))),
            (false, _) => Err("which is more than a word; put quotes around it"),
        }
    }

    /// A pattern that finds exactly this. Every sign as its number: that has no meaning anywhere, also in a class.
    fn pattern_of(&self, value: &str) -> Result<String, &'static str> {
        let before = self.text.as_bytes();
        let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        // `\d` of a `\` here and a value `d`, or `(?i`.
        if slashes % 2 == 1 || self.text.ends_with("(?") {
            return Err("which would be part of an escape of the expression");
        }
        // `\x4` and a value `1` are one escape, and so are `\1` and a value `0`.
        let is_near_escape = before.iter().rev().take(8).any(|byte| *byte == b'\\');
        let mut pattern = String::with_capacity(value.len());
        for (index, c) in value.chars().enumerate() {
            let as_number = !c.is_ascii_alphanumeric() || (index == 0 && is_near_escape);
            if c.is_ascii() && as_number {
                pattern += &format!("\\x{:02x}", u32::from(c));
            } else {
                pattern.push(c);
            }
        }
        Ok(pattern)
    }

    /// Otherwise `$1` in a value would insert a group of the match.
    fn replacement_of(&self, value: &str) -> Result<String, &'static str> {
        let group = self.text.trim_end_matches(|c: char| c.is_ascii_digit());
        let signs = group.bytes().rev().take_while(|byte| *byte == b'$').count();
        let in_name = self.text.rfind("$<").is_some_and(|at| !self.text[at..].contains('>'));
        if signs % 2 == 1 || in_name {
            return Err("which would be part of a reference to a group; write `$$` for the sign itself");
        }
        Ok(value.replace('$', "$$"))
    }

    /// Patterns of paths have no escapes.
    fn globbed(&self, value: &str, is_first: bool) -> Result<String, &'static str> {
        let is_open = |open: char, close: char| self.text.rfind(open) > self.text.rfind(close);
        let means_more = value.contains(['*', '?', '[', ']', '{', '}', '\\', '!', '(', ')'])
            || (is_open('{', '}') && value.contains(','))
            || (is_open('[', ']') && !is_word(value, ""));
        plain_if(value, !means_more, "which has a meaning in a pattern of paths")?;
        plain_if(value, is_first || !leaves_folder(value), SINGLE_NAME)
    }

    /// In the host as it is, and behind it as one part of the path or one value of the query.
    fn addressed(&self, value: &str) -> Result<String, &'static str> {
        let in_host = self.text.matches('/').count() < 3;
        if in_host {
            return plain_if(value, is_word(value, "-"), "which has to be a part of the name of a host there");
        }
        if matches!(value, "." | "..") {
            return Err(SINGLE_NAME);
        }
        let mut written = String::with_capacity(value.len());
        for byte in value.bytes() {
            match byte {
                b'-' | b'.' | b'_' | b'~' => written.push(char::from(byte)),
                byte if byte.is_ascii_alphanumeric() => written.push(char::from(byte)),
                byte => written += &format!("%{byte:02X}"),
            }
        }
        Ok(written)
    }

    /// Within a line of a patch: what a line is about is in its first signs.
    fn patched(&self, value: &str) -> Result<String, &'static str> {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        match line {
            _ if value.contains(|c: char| c.is_control() && c != '\t') => Err(CONTROL),
            "" => Err("which would begin a line of the patch"),
            line if line.starts_with("@@") => {
                let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                plain_if(value, is_number, "which is not a number of lines")
            }
            _ => Ok(value.to_owned()),
        }
    }
}

const SINGLE_NAME: &str = "which has to be a single name there";

pub(crate) fn plain_if(value: &str, fits: bool, problem: &'static str) -> Result<String, &'static str> {
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

/// As DQL, the search language and the expressions of bases escape it.
fn in_quotes(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

const NOT_SINGLE: &str = "which is not a single value";

fn dql_literal(value: &Value, depth: usize) -> Result<String, &'static str> {
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) if text.contains(char::is_control) => Err(CONTROL),
        Value::String(text) => Ok(format!("\"{}\"", in_quotes(text))),
        Value::Array(items) if depth == 0 => Ok(format!("list({})", literals(items, dql_literal)?)),
        Value::Array(_) | Value::Object(_) => Err(NOT_SINGLE),
    }
}

fn formula_literal(value: &Value, depth: usize) -> Result<String, &'static str> {
    match value {
        Value::Array(items) if depth == 0 => Ok(format!("[{}]", literals(items, formula_literal)?)),
        Value::Array(_) | Value::Object(_) => Err(NOT_SINGLE),
        other => dql_literal(other, depth),
    }
}

fn literals(
    items: &[Value],
    literal: fn(&Value, usize) -> Result<String, &'static str>,
) -> Result<String, &'static str> {
    Ok(items.iter().map(|item| literal(item, 1)).collect::<Result<Vec<_>, _>>()?.join(", "))
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
        writer.finish()
    }

    const IN_YAML: &str = "which has a meaning in the YAML of a base";
    const UNQUOTED: &str = "which needs quotes around it in a base, within the expression";

    #[test]
    fn a_value_cannot_begin_a_line_of_a_patch_or_be_one() {
        for (template, value) in
            [("%", "+x"), ("@@ -1 +1 @@\n%", "-x"), ("@@ -1 +1 @@\n+%", "a\n-b"), ("@@ -% +1 @@", "1,9 @@ x")]
        {
            let (before, behind) = template.split_once('%').unwrap();
            let mut writer = TextWriter::new(TextLanguage::Patch, "");
            writer.write(before);
            assert!(writer.insert(value).is_err(), "{template} {value}");
            writer.write(behind);
        }
    }

    #[test]
    fn a_value_cannot_change_what_a_query_is_read_as() {
        for (template, value) in [("LIST\n@", "filters: true\n"), ("@ #", "x.base"), ("LIST FROM \"@\"", "a.base")] {
            let filled = filled(TextLanguage::Query, template, &json!(value));
            let is_same = filled.as_deref().is_ok_and(|text| query_form(text) == TextForm::Dql);
            assert!(is_same || filled.is_err(), "{template} {value}: {filled:?}");
        }
    }

    #[test]
    fn a_value_is_written_as_its_place_asks_for() {
        use TextLanguage::{Address, Formula, Glob, Path, Pattern, Plain, Property, Query, Replacement, Search};
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
            (Query, "@/Books.base", json!("x.base#"), Err("which cannot be in the path of a base")),
            (Query, "LIST @", json!(["Books.base"]), Ok("LIST list(\"Books.base\")")),
            (
                Query,
                "filters: file.hasTag(\"@\")\nviews: []",
                json!("a b"),
                Ok("filters: file.hasTag(\"a b\")\nviews: []"),
            ),
            (Query, "filters: file.hasTag(\"@\")", json!("a\") || true || (\""), Err(IN_YAML)),
            (Query, "filters: x > @", json!(3), Ok("filters: x > 3")),
            (Query, "filters: x > @", json!("3 || true"), Err(UNQUOTED)),
            (Query, "filters: status == @", json!("status"), Err(UNQUOTED)),
            (Query, "filters: 'status == @'", json!("x || true"), Err(UNQUOTED)),
            (Query, "filters: \"status == @\"", json!("status"), Err(UNQUOTED)),
            (Query, "filters: 'status == \"@\"'", json!("x || true"), Ok("filters: 'status == \"x || true\"'")),
            (Query, "filters: \"status == \\\"@\\\"\"", json!("a b"), Ok("filters: \"status == \\\"a b\\\"\"")),
            (Query, "filters: \"status == '@'\"", json!("a b"), Ok("filters: \"status == 'a b'\"")),
            (Query, "filters: 'x == \\' && @", json!("a"), Err(UNQUOTED)),
            (Query, "filters: /\"/.matches(x) && @", json!("a"), Err(UNQUOTED)),
            (Query, "filters: f(a, \"@\")", json!("b"), Ok("filters: f(a, \"b\")")),
            (Query, "views:\n  - name: \"@\"", json!("Best of all"), Ok("views:\n  - name: \"Best of all\"")),
            (Formula, "status == @", json!("a\" || true"), Ok("status == \"a\\\" || true\"")),
            (Formula, "status == @", json!(["a", 1]), Ok("status == [\"a\", 1]")),
            (Formula, "status == '@'", json!("a' || \"b"), Ok("status == 'a\\' || \\\"b'")),
            (Formula, "/\"/.matches(x) || @", json!("a"), Err(UNSURE)),
            (Formula, "pages / @", json!(2), Ok("pages / 2")),
            (Glob, "@/*.md", json!("A/B"), Ok("A/B/*.md")),
            (Glob, "A/@.md", json!("*"), Err("which has a meaning in a pattern of paths")),
            (Glob, "A/{a,@}.md", json!("b,c"), Err("which has a meaning in a pattern of paths")),
            (Glob, "A/@.md", json!("../b"), Err("which has to be a single name there")),
            (Property, "meta.@", json!("a.b"), Err("which is not the name of a property")),
            (Address, "https://a.example/x?q=@", json!("b&c=d e"), Ok("https://a.example/x?q=b%26c%3Dd%20e")),
            (Address, "https://@.example/", json!("b.c/d"), Err("which has to be a part of the name of a host there")),
            (Search, "@ -path:Old", json!("lime mortar"), Ok("\"lime mortar\" -path:Old")),
            (Search, "@ -path:Old", json!("lime"), Ok("lime -path:Old")),
            (Search, "a @", json!("OR"), Ok("a \"OR\"")),
            (Search, "path:@", json!("My \"files\""), Ok("path:\"My \\\"files\\\"\"")),
            (Search, "\"@\"", json!("a\" OR \"b"), Ok("\"a\\\" OR \\\"b\"")),
            (Search, "tag:#@", json!("a OR b"), Err("which is more than a word; put quotes around it")),
            (Search, "[status:@]", json!("open"), Ok("[status:open]")),
            (Search, "[status:\"@\"]", json!("a\"] OR [b"), Err("which cannot be in the brackets of a property")),
            (Pattern, "^@$", json!("a.b*"), Ok("^a\\x2eb\\x2a$")),
            (Pattern, "\\@", json!("d"), Err("which would be part of an escape of the expression")),
            (Pattern, "\\b@\\b", json!("word"), Ok("\\b\\x77ord\\b")),
            (Replacement, "<@>", json!("$1"), Ok("<$$1>")),
            (
                Replacement,
                "$@",
                json!("1"),
                Err("which would be part of a reference to a group; write `$$` for the sign itself"),
            ),
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
