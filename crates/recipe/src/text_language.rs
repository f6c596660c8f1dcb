//! What a tool reads the texts of its arguments as, as the tool declares it.

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
    /// An expression of Bases.
    Formula,
    /// The search language.
    Search,
    /// A rule of JsonLogic, of which some texts are patterns and names.
    Logic,
    /// A regular expression.
    Pattern,
    /// What a regular expression is replaced with.
    Replacement,
    /// A pattern of paths.
    Glob,
    /// The name of a property.
    Property,
    /// The address of a page.
    Address,
    /// A unified diff.
    Patch,
}

/// An argument whose text is read as a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextArgument {
    /// JSON pointer; `*` for every item of a list and every field of an object, `**` at the end for everything below.
    pub pointer: &'static str,
    pub language: TextLanguage,
    /// Only if the argument of this name beside it has this value.
    pub when: Option<(&'static str, &'static str)>,
}

impl TextLanguage {
    /// Whether a text of it can do more than name something.
    pub fn has_syntax(self) -> bool {
        !matches!(self, Self::Plain | Self::Path)
    }

    /// For a sentence, such as `is read as a query`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Plain => "a text",
            Self::Path => "a path",
            Self::Query => "a query",
            Self::Formula => "an expression of a base",
            Self::Search => "a search",
            Self::Logic => "a rule",
            Self::Pattern => "a regular expression",
            Self::Replacement => "a replacement",
            Self::Glob => "a pattern of paths",
            Self::Address => "an address",
            Self::Property => "the name of a property",
            Self::Patch => "a patch",
        }
    }
}

impl TextArgument {
    pub const fn new(pointer: &'static str, language: TextLanguage) -> Self {
        Self { pointer, language, when: None }
    }

    pub const fn when(self, argument: &'static str, value: &'static str) -> Self {
        Self { when: Some((argument, value)), ..self }
    }

    /// Whether it is about the text at a pointer.
    pub fn covers(&self, pointer: &str) -> bool {
        let mut given = pointer.split('/');
        for wanted in self.pointer.split('/') {
            match (wanted, given.next()) {
                ("**", _) => return true,
                ("*", Some(_)) => {}
                (wanted, Some(segment)) if wanted == segment => {}
                _ => return false,
            }
        }
        given.next().is_none()
    }

    /// The language of the text at a pointer; the first that fits. `beside` gives the values of arguments next to it.
    pub fn language_at(all: &[Self], pointer: &str, beside: &dyn Fn(&str) -> Option<Value>) -> TextLanguage {
        let fits = |argument: &&Self| {
            let is_so = |(name, wanted): (&str, &str)| match beside(name) {
                // As it may come: a switch is also taken as text.
                Some(Value::String(value)) => value.trim() == wanted,
                // `when` is declared as text, for switches as well.
                Some(Value::Bool(value)) => value == (wanted == "true"),
                _ => false,
            };
            argument.covers(pointer) && argument.when.is_none_or(is_so)
        };
        all.iter().find(fits).map_or(TextLanguage::Plain, |argument| argument.language)
    }
}

/// A pointer to a field or an item below another pointer. A name may have the sign that separates the parts of a pointer.
pub(crate) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The language of the text at a pointer, with a way to ask for the values of arguments beside it.
pub type TextLanguages<'l> = dyn Fn(&str, &dyn Fn(&str) -> Option<Value>) -> TextLanguage + 'l;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_covers_items_fields_and_what_is_below() {
        for (declared, pointer, covers) in [
            ("/query", "/query", true),
            ("/query", "/query/x", false),
            ("/notes/*", "/notes/*", true),
            ("/notes/*", "/notes", false),
            ("/formulas/*", "/formulas/left", true),
            ("/formulas/*", &below("/formulas", "a/b"), true),
            ("/filters/**", "/filters/and/*/or/*", true),
            ("/filters/**", "/filter", false),
        ] {
            let argument = TextArgument::new(declared, TextLanguage::Formula);
            assert_eq!(argument.covers(pointer), covers, "{declared} {pointer}");
        }
    }
}
