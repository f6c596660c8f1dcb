//! The owner's individual approval rules.

use lapidary_query::nearest;
use lapidary_tools::{Effect, ToolGroup};

use super::model::RuleConfig;
use super::profiles::EFFECTS;
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::value::{DECISIONS, one_of};

const RULE_KEYS: &[&str] = &["decision", "effect", "group", "tool", "path"];

/// A list of tables, or texts like `ask tool=file_move path="My notes"`, separated by `;`.
pub(super) fn rules(raw: &RawValue) -> Result<Vec<RuleConfig>, ConfigRefusal> {
    match raw {
        RawValue::List(rules) => rules.iter().map(rule).collect(),
        RawValue::Text(text) => {
            let rules = split(text, ';').into_iter().map(str::trim);
            rules.filter(|rule| !rule.is_empty()).map(from_text).collect()
        }
        RawValue::Table(_) => Err(ConfigRefusal::Shape { expected: "a list of rules", found: raw.shape() }),
    }
}

fn rule(raw: &RawValue) -> Result<RuleConfig, ConfigRefusal> {
    match raw {
        RawValue::Text(text) => from_text(text.trim()),
        RawValue::Table(pairs) => {
            let pairs: Result<Vec<_>, _> = pairs.iter().map(|(key, raw)| Ok((key.as_str(), raw.text()?))).collect();
            from_pairs(&pairs?)
        }
        RawValue::List(_) => Err(ConfigRefusal::Shape { expected: "a rule", found: raw.shape() }),
    }
}

fn from_text(text: &str) -> Result<RuleConfig, ConfigRefusal> {
    // Split at blanks outside of quotes: a path may contain them.
    let mut words = split(text, ' ').into_iter().filter(|word| !word.is_empty());
    let decision = words.next().unwrap_or_default();
    let mut pairs = vec![("decision", decision)];
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| ConfigRefusal::NotRule { value: text.to_owned() })?;
        // Quotes only keep a value together.
        pairs.push((key, value.trim_matches('"')));
    }
    from_pairs(&pairs)
}

fn from_pairs(pairs: &[(&str, &str)]) -> Result<RuleConfig, ConfigRefusal> {
    let mut decision = None;
    let (mut effect, mut group, mut tool, mut path) = (None, None, None, None);
    for (key, value) in pairs {
        match *key {
            "decision" => decision = Some(one_of(value, DECISIONS)?),
            "effect" => effect = Some(one_of(value, EFFECTS)?),
            "group" => group = Some(one_of(value, &ToolGroup::ALL.map(|group| (group.name(), group)))?),
            "tool" => tool = Some((*value).to_owned()),
            "path" => path = Some((*value).to_owned()),
            other => {
                let nearest = nearest(other, RULE_KEYS.iter().copied());
                return Err(ConfigRefusal::UnknownPart {
                    kind: "rule",
                    name: String::new(),
                    key: other.to_owned(),
                    nearest,
                });
            }
        }
    }
    let Some(decision) = decision else {
        let written: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        return Err(ConfigRefusal::NotRule { value: written.join(" ") });
    };
    // A call that searches or lists does not name its files, so such a rule would promise more than it can enforce.
    if path.is_some() && effect == Some(Effect::Read) {
        return Err(ConfigRefusal::PathOfReading);
    }
    Ok(RuleConfig { decision, effect, group, tool, path })
}

/// The parts between separators that are not within quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        // A path with a space or `;` is quoted.
        if letter == '"' {
            quoted = !quoted;
        } else if letter == separator && !quoted {
            parts.push(&text[start..at]);
            start = at + letter.len_utf8();
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_pipeline::RuleDecision;

    fn text(text: &str) -> RawValue {
        RawValue::Text(text.to_owned())
    }

    #[test]
    fn rules_are_read_in_order_from_text_and_from_tables() {
        let by_text = rules(&text("ask tool=file_move path=\"My; notes\" ; deny group=skill;")).unwrap();
        let table = |pairs: &[(&str, &str)]| {
            RawValue::Table(pairs.iter().map(|(key, value)| ((*key).to_owned(), text(value))).collect())
        };
        let by_table = rules(&RawValue::List(vec![
            table(&[("tool", "file_move"), ("path", "My; notes"), ("decision", "ask")]),
            text("deny group=skill"),
        ]));
        assert_eq!(Ok(&by_text), by_table.as_ref());
        assert_eq!(by_text[0].path.as_deref(), Some("My; notes"));
        assert_eq!((by_text[1].decision, by_text[1].group), (RuleDecision::Deny, Some(ToolGroup::Skill)));
    }

    #[test]
    fn an_invalid_rule_is_refused() {
        for (written, says) in [
            ("sometimes tool=x", "allow, ask, deny"),
            ("ask file_move", "ask tool="),
            ("ask tol=x", "did you mean `tool`"),
            ("deny effect=read path=Secret", "deny_paths"),
        ] {
            let refused = rules(&text(written)).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
    }
}
