//! Functions without a value before them.

use std::sync::Arc;

use super::{
    base_date::BaseDate,
    base_duration::BaseDuration,
    base_value::{BaseLink, BaseValue},
    call_arguments::CallArguments,
    evaluation::{Evaluated, Evaluation},
    fault::BaseFault,
    frontmatter::{is_url, link_text, wikilink},
    known_name::KnownFunction,
};
use lapidary_query::text_to_number;

impl<'e> Evaluation<'e> {
    pub(super) fn global(&mut self, function: KnownFunction, name: &str, values: &[BaseValue]) -> Evaluated {
        let scope = self.scope;
        // Every function checks the number of its arguments itself, as the messages name them.
        let arguments = CallArguments { name, values, clock: &scope.clock };
        match function {
            KnownFunction::Now => {
                arguments.count(0, 0)?;
                Ok(BaseValue::Date(self.now()))
            }
            KnownFunction::Today => {
                arguments.count(0, 0)?;
                Ok(self.now().day(&scope.clock.zone).map_or(BaseValue::Null, BaseValue::Date))
            }
            KnownFunction::Date => date(&arguments),
            KnownFunction::Duration => duration(&arguments),
            KnownFunction::Number => number(&arguments),
            KnownFunction::List => {
                arguments.count(1, 1)?;
                Ok(listed(arguments.get(0)))
            }
            KnownFunction::Min | KnownFunction::Max => extreme(function, &arguments),
            KnownFunction::Link => self.link(&arguments),
            KnownFunction::File => {
                arguments.count(1, 1)?;
                Ok(self.file(arguments.get(0)))
            }
            KnownFunction::Image => {
                arguments.count(1, 1)?;
                let source = match arguments.get(0) {
                    BaseValue::Link(link) => link.target.as_str().into(),
                    BaseValue::Image(source) => source.clone(),
                    _ => arguments.text(0, "path")?.as_ref().into(),
                };
                Ok(BaseValue::Image(source))
            }
            KnownFunction::Icon => {
                arguments.count(1, 1)?;
                Ok(BaseValue::Icon(arguments.text(0, "name")?.as_ref().into()))
            }
            KnownFunction::Html => {
                arguments.count(1, 1)?;
                Ok(BaseValue::Html(arguments.text(0, "html")?.as_ref().into()))
            }
            KnownFunction::EscapeHtml => {
                arguments.count(1, 1)?;
                Ok(BaseValue::text(escaped_html(&arguments.text(0, "html")?)))
            }
            KnownFunction::Random => {
                arguments.count(0, 0)?;
                Ok(BaseValue::Number(self.random()))
            }
            _ => Err(BaseFault::no_function(name, None)),
        }
    }

    /// A link from a text with or without brackets, a file, or another link; of an address it stays an address.
    fn link(&mut self, arguments: &CallArguments<'_>) -> Evaluated {
        arguments.count(1, 2)?;
        let display = match arguments.get(1) {
            BaseValue::Null => None,
            value => Some(arguments.clock.text(value).into_owned()).filter(|display| !display.is_empty()),
        };
        let source = self.path().map(Arc::from);
        let link = match arguments.get(0) {
            BaseValue::Link(link) => (**link).clone(),
            BaseValue::File(file) => BaseLink { target: file.path.to_string(), display: None, source },
            // An address is not a note, so a link to it stays an address.
            url @ BaseValue::Url(_) => return Ok(url.clone()),
            _ => {
                let text = arguments.text(0, "path")?;
                if is_url(&text) {
                    return Ok(BaseValue::Url(text.as_ref().into()));
                }
                wikilink(&text, source.clone()).unwrap_or_else(|| BaseLink {
                    target: text.into_owned(),
                    display: None,
                    source,
                })
            }
        };
        // A display text that was given wins over the one of the link.
        Ok(BaseValue::Link(Arc::new(BaseLink { display: display.or(link.display), ..link })))
    }

    /// A file by path, by a name as in a link, or from a link; null if there is none.
    pub(super) fn file(&self, value: &BaseValue) -> BaseValue {
        let number = match value {
            BaseValue::File(_) => return value.clone(),
            // Followed from the file that the link is in, not from the row.
            BaseValue::Link(link) => self.resolved(&link.target, link.source.as_deref()),
            value if value.is_textual() => {
                let text = self.scope.clock.text(value);
                let inner = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
                let target = inner.map_or_else(|| text.to_string(), |inner| link_text(inner, None).target);
                // A path first, then a name as in a link.
                // A note called like a path elsewhere must not hide the file at that path.
                self.scope.vault.find(&target).or_else(|| self.resolved(&target, None))
            }
            _ => None,
        };
        number.and_then(|number| self.handle(number)).map_or(BaseValue::Null, BaseValue::File)
    }
}

fn date(arguments: &CallArguments<'_>) -> Evaluated {
    arguments.count(1, 1)?;
    if let date @ BaseValue::Date(_) = arguments.get(0) {
        return Ok(date.clone());
    }
    let text = match arguments.get(0) {
        value if value.is_textual() => arguments.text(0, "date")?,
        _ => return Err(arguments.wrong_type(0, "date", "String")),
    };
    let date = BaseDate::parse(text.trim(), &arguments.clock.zone);
    date.map(BaseValue::Date).ok_or_else(|| {
        BaseFault::error(format!("Invalid date format \"{text}\". Expected YYYY-MM-DD or YYYY-MM-DD HH:mm:ss."))
    })
}

fn duration(arguments: &CallArguments<'_>) -> Evaluated {
    arguments.count(1, 1)?;
    if let duration @ BaseValue::Duration(_) = arguments.get(0) {
        return Ok(duration.clone());
    }
    let text = match arguments.get(0) {
        value if value.is_textual() => arguments.text(0, "value")?,
        _ => return Err(arguments.wrong_type(0, "value", "String")),
    };
    let duration = BaseDuration::parse(&text);
    duration
        .map(|duration| BaseValue::Duration(Arc::new(duration)))
        .ok_or_else(|| BaseFault::error(format!("Unable to parse \"{text}\" as a duration.")))
}

fn number(arguments: &CallArguments<'_>) -> Evaluated {
    arguments.count(1, 1)?;
    let value = arguments.get(0);
    let number = match value {
        BaseValue::Number(number) => Some(*number),
        // As JavaScript's `Number(true)`.
        BaseValue::Boolean(value) => Some(f64::from(u8::from(*value))),
        BaseValue::Date(date) => Some(date.milliseconds()),
        value if value.is_textual() => {
            // What is not a number is an error here and not NaN, which would spread silently.
            Some(text_to_number(&arguments.clock.text(value))).filter(|number| !number.is_nan())
        }
        _ => None,
    };
    number
        .map(BaseValue::Number)
        .ok_or_else(|| BaseFault::error(format!("Unable to parse \"{}\" as a number.", arguments.clock.text(value))))
}

/// `list(null)` is a list without items.
fn listed(value: &BaseValue) -> BaseValue {
    match value {
        BaseValue::List(_) => value.clone(),
        BaseValue::Null => BaseValue::list(Vec::new()),
        value => BaseValue::list(vec![value.clone()]),
    }
}

fn extreme(function: KnownFunction, arguments: &CallArguments<'_>) -> Evaluated {
    arguments.count(1, usize::MAX)?;
    let mut found: Option<f64> = None;
    for at in 0..arguments.values.len() {
        // Named in the error as the app names it, from 1.
        let number = arguments.number(at, &format!("value{}", at + 1))?;
        found = Some(match found {
            // As `Math.min` does; Rust would leave NaN out.
            Some(found) if found.is_nan() || number.is_nan() => f64::NAN,
            Some(found) if function == KnownFunction::Min => found.min(number),
            Some(found) => found.max(number),
            None => number,
        });
    }
    Ok(found.map_or(BaseValue::Null, BaseValue::Number))
}

fn escaped_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            c => escaped.push(c),
        }
    }
    escaped
}
