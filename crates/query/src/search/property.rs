use super::folded;
use crate::Pattern;

/// A test of one property.
pub struct PropertyFilter {
    /// Folded.
    key: String,
    test: Test,
}

/// A value of a property, or one item of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
}

enum Test {
    Exists,
    Any(Vec<Test>),
    Null,
    Bool(bool),
    Less(String),
    Greater(String),
    /// Folded.
    Equals(String),
    Holds(String),
    Matches(Box<Pattern>),
}

impl PropertyFilter {
    /// Of what stands between the brackets; nothing if no property is named.
    pub(super) fn parse(inside: &str) -> Option<Self> {
        let mut quoted = false;
        let colon = inside.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == ':' && !quoted
        });
        let (key, value) = match colon {
            Some((at, _)) => (&inside[..at], Some(inside[at + 1..].trim())),
            None => (inside, None),
        };
        let key = folded(key.trim().trim_matches('"'));
        let test = value.filter(|value| !value.is_empty()).map_or(Test::Exists, Test::parse);
        (!key.is_empty()).then_some(Self { key, test })
    }

    /// Of all properties of a note, where a list is each of its items, and nothing at all if it is empty.
    pub fn holds<'p>(&self, properties: impl IntoIterator<Item = (&'p str, &'p [Scalar])>) -> bool {
        let named = |(key, values): (&str, &'p [Scalar])| (folded(key) == self.key).then_some(values);
        properties.into_iter().filter_map(named).any(|values| self.test.holds(values))
    }
}

impl Test {
    fn parse(value: &str) -> Self {
        let value = value.strip_prefix('(').and_then(|value| value.strip_suffix(')')).unwrap_or(value);
        let alternatives: Vec<&str> = value.split(" OR ").map(str::trim).collect();
        if alternatives.len() > 1 {
            return Self::Any(alternatives.into_iter().map(Self::parse_one).collect());
        }
        Self::parse_one(value.trim())
    }

    fn parse_one(value: &str) -> Self {
        let between = |open: char| value.strip_prefix(open).and_then(|value| value.strip_suffix(open));
        if let Some(quoted) = between('"') {
            return Self::Equals(folded(quoted));
        }
        if let Some(pattern) = between('/').and_then(super::written::expression) {
            return Self::Matches(Box::new(pattern));
        }
        match value {
            "null" | "NULL" | "EMPTY" => return Self::Null,
            "TRUE" | "true" => return Self::Bool(true),
            "FALSE" | "false" => return Self::Bool(false),
            _ => {}
        }
        match value.split_at_checked(1) {
            Some(("<", than)) if !than.trim().is_empty() => Self::Less(than.trim().to_owned()),
            Some((">", than)) if !than.trim().is_empty() => Self::Greater(than.trim().to_owned()),
            _ => Self::Holds(folded(value)),
        }
    }

    fn holds(&self, values: &[Scalar]) -> bool {
        match self {
            Self::Exists => true,
            Self::Any(tests) => tests.iter().any(|test| test.holds(values)),
            Self::Null => values == [Scalar::Null],
            Self::Bool(wanted) => values
                .iter()
                .any(|value| *value == Scalar::Bool(*wanted) || folded(&value.text()) == wanted.to_string()),
            Self::Less(than) => values.iter().any(|value| value.compare(than).is_some_and(|order| order.is_lt())),
            Self::Greater(than) => values.iter().any(|value| value.compare(than).is_some_and(|order| order.is_gt())),
            Self::Equals(wanted) => values.iter().any(|value| folded(&value.text()) == *wanted),
            Self::Holds(wanted) => values.iter().any(|value| match (value, wanted.parse::<f64>()) {
                (Scalar::Number(value), Ok(wanted)) => *value == wanted,
                _ => folded(&value.text()).contains(wanted),
            }),
            Self::Matches(pattern) => values.iter().any(|value| pattern.is_match(&value.text()) == Ok(true)),
        }
    }
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// As numbers if both are, else as text, which is right for dates as they are usually written.
    fn compare(&self, other: &str) -> Option<std::cmp::Ordering> {
        match (self, other.parse::<f64>()) {
            (Self::Null | Self::Bool(_), _) => None,
            (Self::Number(value), Ok(other)) => value.partial_cmp(&other),
            (Self::Text(text), Ok(other)) => text.trim().parse::<f64>().ok()?.partial_cmp(&other),
            (Self::Number(_), Err(_)) => None,
            (Self::Text(text), Err(_)) => Some(text.as_str().cmp(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_obsidian_does() {
        let text = |text: &str| Scalar::Text(text.into());
        let properties: Vec<(&str, Vec<Scalar>)> = vec![
            ("Status", vec![text("In Progress")]),
            ("rating", vec![Scalar::Number(4.0)]),
            ("done", vec![Scalar::Bool(true)]),
            ("empty", vec![Scalar::Null]),
            ("list", vec![text("Café"), text("b")]),
            ("due", vec![text("2026-03-01")]),
            ("none", vec![]),
            ("a:b", vec![text("c")]),
        ];
        let holds = |inside: &str| {
            let filter = PropertyFilter::parse(inside).unwrap();
            filter.holds(properties.iter().map(|(key, values)| (*key, values.as_slice())))
        };
        for inside in [
            "status",
            "STATUS:progress",
            "status:\"in progress\"",
            "status:/^In/",
            "status:open OR progress",
            "status:(open OR progress)",
            "rating:4",
            "rating:>3",
            "rating:<4.5",
            "done:TRUE",
            "empty:null",
            "empty:NULL",
            "empty",
            "list:cafe",
            "list:\"b\"",
            "due:<2026-04-01",
            "none",
            "\"rating\":4",
            "rating:4.0",
            "\"a:b\":c",
        ] {
            assert!(holds(inside), "{inside}");
        }
        for inside in [
            "other",
            "status:\"progress\"",
            "status:null",
            "rating:>4",
            "rating:0",
            "rating:.",
            "rating:>2026-04-01",
            "rating:<9x",
            "rating:\"40\"",
            "done:FALSE",
            "list:\"caf\"",
            "none:null",
            "due:>2026-04-01",
            "status:/^in$/",
        ] {
            assert!(!holds(inside), "{inside}");
        }
        assert!(PropertyFilter::parse(" : x").is_none());
    }
}
