//! Tests of values and how they are recognised.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

/// A value in a form that shows its kind.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(value) => format!("bool {value}"),
        Value::Number(number) => format!("number {}", number.as_f64()),
        Value::Text(text) => format!("text {text}"),
        Value::Date(date) => format!("date {date}"),
        Value::Duration(duration) => format!("duration {duration}"),
        Value::Link(link) => format!("link {link}"),
        Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Object(_) => "object".to_owned(),
    }
}

/// Checked against Dataview 0.5.68.
#[test]
fn inline_values_have_the_same_type_as_in_dataview() {
    for (text, expected) in [
        ("", "null"),
        ("6", "number 6"),
        ("-2.5", "number -2.5"),
        ("6 apples", "text 6 apples"),
        ("1,000", "[number 1, number 0]"),
        ("1, 2, x", "text 1, 2, x"),
        ("\"yes\", \"no\"", "[text yes, text no]"),
        ("yes, no", "text yes, no"),
        ("2021-04", "date 2021-04-01"),
        ("2010-11", "date 2010-11-01"),
        ("2021-04-18 04:19", "text 2021-04-18 04:19"),
        ("2021-01-01T10:00Z", "text 2021-01-01T10:00Z"),
        ("2021-01-01T10:00:00Z", "date 2021-01-01T10:00:00Z"),
        ("2021-01-01T10:00:00+2", "date 2021-01-01T10:00:00+02:00"),
        ("2023-02-29", "date 2023-03-01"),
        ("2023-02-28T25:00", "date 2023-03-01T01:00:00"),
        ("5 m", "duration PT5M"),
        ("5 M", "text 5 M"),
        ("07h00m", "duration PT7H"),
        ("9 yrs 8 min", "duration P9YT8M"),
        ("1 day 2", "text 1 day 2"),
        ("[[A]], [[B]]", "[link [[A]], link [[B]]]"),
        ("[[A]] and b", "text [[A]] and b"),
        ("![[a.png|x]]", "link ![[a.png|x]]"),
        ("#a, #b", "[text #a, text #b]"),
        ("1,", "[number 1]"),
        ("1,2,", "text 1,2,"),
        ("true", "bool true"),
        ("TRUE", "text TRUE"),
        ("today", "text today"),
        ("[1,2]", "text [1,2]"),
        ("null", "text null"),
    ] {
        assert_eq!(shown(&dataview_field(text)), expected, "{text}");
    }
}

#[test]
fn the_same_property_has_different_values_in_different_languages() {
    for (text, dataview, bases) in [
        ("6", "text 6", "text 6"),
        ("7 hours", "duration PT7H", "text 7 hours"),
        ("[[A|x]]", "link [[A|x]]", "link [[A|x]]"),
        ("![[A]]", "link ![[A]]", "text ![[A]]"),
        ("[[A]], [[B]]", "text [[A]], [[B]]", "text [[A]], [[B]]"),
        ("2021-04", "date 2021-04-01", "text 2021-04"),
        ("2026-06-10", "date 2026-06-10", "date 2026-06-10"),
        ("2026-06-10 12:34", "text 2026-06-10 12:34", "date 2026-06-10T12:34:00"),
        ("2026-06-10T12:34:56.5+0230", "text 2026-06-10T12:34:56.5+0230", "date 2026-06-10T12:34:56.5+02:30"),
        ("2023-02-29", "date 2023-03-01", "text 2023-02-29"),
    ] {
        let value = Value::from_iter([Value::from(text)]);
        assert_eq!(shown(&dataview_property(&value)), format!("[{dataview}]"), "{text}");
        assert_eq!(shown(&bases_property(&value)), format!("[{bases}]"), "{text}");
    }
}

#[test]
fn a_date_is_a_moment_once_the_zone_is_known() {
    let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    let moment = |text: &str| match dataview_field(text) {
        Value::Date(date) => date.timestamp(&zone).map(|moment| moment.to_string()),
        _ => None,
    };
    assert_eq!(moment("2026-06-10T12:00:00").as_deref(), Some("2026-06-10T10:00:00Z"));
    assert_eq!(moment("2026-06-10T12:00:00Z").as_deref(), Some("2026-06-10T12:00:00Z"));
    assert_eq!(moment("2026-06-10T12:00:00[Asia/Tokyo]").as_deref(), Some("2026-06-10T03:00:00Z"));
    assert_eq!(moment("2026-06-10T12:00:00[No/Where]"), None);
    let noon: jiff::Timestamp = "2026-06-10T10:00:00Z".parse().unwrap();
    assert_eq!(DateValue::at(noon, &zone).timestamp(&zone), Some(noon));
}

#[test]
fn numbers_come_out_as_they_went_in() {
    for json in [json!(1), json!(1.0), json!(9_007_199_254_740_993_i64), json!(-0.5), json!({ "b": 1, "a": [null] })] {
        assert_eq!(Json::from(&Value::from(&json)).to_string(), json.to_string());
    }
    assert_eq!(Json::from(&Value::Number(Number::Float(f64::NAN))), Json::Null);
}

#[test]
fn bars_and_places_in_links_are_kept_apart() {
    let link = LinkValue::parse("a\\|b#H|c|d", false);
    assert_eq!((link.path.as_str(), link.subpath.as_deref(), link.display.as_deref()), ("a|b", Some("H"), Some("c|d")));
    assert_eq!(link.to_string(), "[[a\\|b#H|c|d]]");
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        ".{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((".{0,4}", inner), 0..4).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_survives_json(json in json()) {
        prop_assert_eq!(Json::from(&Value::from(&json)).to_string(), json.to_string());
    }

    #[test]
    fn no_text_is_too_odd_to_be_a_value(
        text in r#"(.{0,6}|[0-9]{4}-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{3})?([Z+\-][0-9:]{0,5})?)?)?)?)?|-?[0-9.]{1,12} ?[a-z]{0,4}[, ]?|!?\[\[.{0,6}\]\]|"[^"]{0,3}"?|#.{0,3}){0,3}"#
    ) {
        for value in [dataview_field(&text), dataview_property(&Value::from(text.as_str())), bases_property(&Value::from(text.as_str()))] {
            shown(&value);
            if let Value::Date(date) = &value {
                date.timestamp(&jiff::tz::TimeZone::UTC);
            }
        }
    }
}

#[test]
fn typed_values_say_what_json_has_no_word_for() {
    let duration = DurationValue { weeks: 2.0, days: 0.5, ..DurationValue::default() };
    let link = LinkValue::parse("a/b.md#^id|shown", true);
    for (value, expected) in [
        (Value::Null, json!(null)),
        (Value::Number(Number::Float(2.0)), json!(2)),
        (Value::Number(Number::Float(f64::NAN)), json!({ "$number": "NaN" })),
        (Value::Number(Number::Float(f64::NEG_INFINITY)), json!({ "$number": "-Infinity" })),
        (dataview_field("2026-01-02"), json!({ "$date": "2026-01-02" })),
        (Value::Duration(duration), json!({ "$duration": { "weeks": 2, "days": 0.5 } })),
        (
            Value::Link(link),
            json!({ "$link": { "path": "a/b.md", "type": "block", "subpath": "id", "display": "shown", "embed": true } }),
        ),
        (Value::List(vec![Value::from("x"), Value::Boolean(true)]), json!(["x", true])),
    ] {
        assert_eq!(typed_json(&value), expected);
    }
}
