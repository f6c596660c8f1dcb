//! Tests of Dataview expressions.

use super::*;

#[test]
fn operators_take_the_types_they_take() {
    check(&[
        ("1 + 2 * 3", "7"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("7 % 3", "1"),
        ("-7 % 3", "-1"),
        ("1 / 0", "Infinity"),
        ("0 / 0", "NaN"),
        ("\"a\" + 1", "\"a1\""),
        ("1 + \"a\"", "\"1a\""),
        ("\"a\" + null", "\"a\\\\-\""),
        ("\"a\" + [1, [2]]", "\"a1, [2]\""),
        ("\"a\" + date(2021-08-15)", "\"aAugust 15, 2021\""),
        ("\"a\" + date(2021-08-15T01:02:00)", "\"a1:02 AM - August 15, 2021\""),
        ("\"a\" + [[Other]]", "\"a[[Other|Other]]\""),
        ("\"\" + {a: 1, b: [1, 2]}", "\"{ a: 1, b: [1, 2] }\""),
        ("\"\" + {}", "\"{  }\""),
        ("\"\" + ((x) => x)", "\"<function>\""),
        ("\"\" + 1000000000000000000000000", "\"1e+24\""),
        ("\"ab\" * 2", "\"abab\""),
        ("2.9 * \"ab\"", "\"abab\""),
        ("\"ab\" * (0 - 1)", "\"\""),
        ("1 + null", "error: No implementation found for 'number + null'"),
        ("null + null", "null"),
        ("null - null", "null"),
        ("null * null", "null"),
        ("null / null", "null"),
        ("null % null", "null"),
        ("date(2021-01-01) + null", "null"),
        ("null - date(2021-01-01)", "null"),
        ("true + 1", "error: No implementation found for 'boolean + number'"),
        ("\"a\" - \"b\"", "error: No implementation found for 'string - string'"),
        ("[1] + [2]", "[1, 2]"),
        ("[1] + 2", "error: No implementation found for 'array + number'"),
        ("{a: 1, b: 2} + {b: 3, c: 4}", "{a: 1, b: 3, c: 4}"),
        ("date(\"2024-01-01\") + \"1 day\"", "\"January 01, 20241 day\""),
        ("!true", "false"),
        ("!null", "true"),
        ("![1]", "false"),
        ("!rating = 5", "false"),
        ("true and 0", "false"),
        ("\"x\" | 0", "true"),
        ("true or false and false", "false"),
        ("true or (1 + null)", "error: No implementation found for 'number + null'"),
    ]);
}

#[test]
fn dates_and_durations_are_added() {
    check(&[
        ("date(2020-01-31) + dur(1 month)", "2020-02-29"),
        ("date(2024-02-29) + dur(1 year)", "2025-02-28"),
        ("dur(1 day) + date(2020-01-01)", "2020-01-02"),
        ("date(2020-01-01) - dur(1 day)", "2019-12-31"),
        ("date(2024-11-03) - date(2024-09-06)", "dur(2 months)"),
        ("(date(2024-11-03) - date(2024-09-06)).days", "60"),
        ("date(2025-03-17) - date(2025-02-17)", "dur(1 month)"),
        ("dur(45 days) * 1", "dur(1 month, 2 weeks, 3 days)"),
        ("dur(400 days) * 1", "dur(1 year, 2 months, 1 week, 1 day)"),
        ("dur(1 year) - dur(1 day)", "dur(11 months, 3 weeks, 6 days)"),
        ("dur(1 hour) - dur(1 day)", "dur(-23 hours)"),
        ("dur(1 month) * 1.5", "dur(1 month, 2 weeks)"),
        ("dur(1 day) / 2", "dur(12 hours)"),
        ("dur(45 days)", "dur(45 days)"),
        ("dur(1 day) + 1", "error: No implementation found for 'duration + number'"),
        ("dur(90 min).hours", "1.5"),
        ("dur(1 year).days", "365"),
        ("dur(1 year).week", "null"),
        ("dur(1 year).weeks", "52"),
        ("string(dur(0 s))", "\"\""),
        ("string(dur(1500 years))", "\"1500 years\""),
        ("string(dur(1 day) * (0 - 1))", "\"-1 day\""),
        ("date(2023-02-29)", "2023-03-01"),
        ("date(2023-02-28T25:00)", "2023-03-01T01:00:00"),
        ("date(2021-04)", "2021-04-01"),
        ("date(2021-01-01T10:00:00+05:30)", "2021-01-01T10:00:00.000+05:30"),
        ("date(2021-01-01T10:00:00Z)", "2021-01-01T10:00:00"),
    ]);
}

#[test]
fn shorthands_are_taken_from_the_clock() {
    check(&[
        ("date(now)", "2026-05-13T10:30:00"),
        ("date(today)", "2026-05-13"),
        ("date(yesterday)", "2026-05-12"),
        ("date(tomorrow)", "2026-05-14"),
        ("date(sow)", "2026-05-11"),
        ("date(eow)", "2026-05-17T23:59:59.999+00:00"),
        ("date(som)", "2026-05-01"),
        ("date(end-of-month)", "2026-05-31T23:59:59.999+00:00"),
        ("date(soy)", "2026-01-01"),
        ("date(eoy)", "2026-12-31T23:59:59.999+00:00"),
        ("date(\"today\")", "2026-05-13"),
        ("date(\"Today\")", "null"),
    ]);
}

#[test]
fn values_of_all_types_have_an_order() {
    check(&[
        ("1 = \"1\"", "false"),
        ("null < 0", "true"),
        ("9 < \"text\"", "true"),
        ("null = null", "true"),
        ("null <= date(today)", "true"),
        ("[1] < true", "true"),
        ("true < date(today)", "true"),
        ("date(today) < dur(1 d)", "true"),
        ("dur(1 d) < [[A]]", "true"),
        ("[[A]] < 1", "true"),
        ("1 < {a: 1}", "true"),
        ("{a: 1} < \"a\"", "true"),
        ("\"a\" < elink(\"x\")", "true"),
        ("\"a\" < \"A\"", "true"),
        ("\"A\" < \"b\"", "true"),
        ("\"resume\" < \"résumé\"", "true"),
        ("\"résumé\" < \"resumf\"", "true"),
        ("\"a10\" < \"a2\"", "true"),
        ("\" a\" < \"a\"", "true"),
        ("\"Z\" < \"a\"", "false"),
        ("false < true", "true"),
        ("0/0 = 0/0", "false"),
        ("0/0 > 1", "true"),
        ("3 > 2 > 1", "false"),
        ("1 < 2 < 3", "true"),
        ("dur(60 min) = dur(1 hour)", "false"),
        ("dur(60 min) > dur(1 hour)", "true"),
        ("dur(60 min) <= dur(1 hour)", "false"),
        ("date(2021-01-01T00:00:00Z) = date(2021-01-01)", "false"),
        ("date(2021-01-01T00:00:00Z) > date(2021-01-01)", "true"),
        ("date(2021-01-01) > date(2021-01-01T00:00:00Z)", "true"),
        ("date(2021-01-01T00:00:00Z) = date(2021-01-01T00:00:00+0)", "true"),
        ("[[Other]] = [[Other|x]]", "true"),
        ("[[Other]] = [[Other.md]]", "true"),
        ("[[Other]] = ![[Other]]", "true"),
        ("[[A]] = [[A#h]]", "false"),
        ("[[A#^b]] < [[A]]", "true"),
        ("[[A]] < [[A#h]]", "true"),
        ("[[A]] = \"A\"", "false"),
        ("[1, 2] = [1, 2]", "true"),
        ("[1, 2] < [1, 3]", "true"),
        ("[1] < [1, 0]", "true"),
        ("{a: 1, b: 2} = {b: 2, a: 1}", "true"),
        ("{a: 1} < {b: 0}", "true"),
        ("((x) => 1) = ((y) => 2)", "true"),
        ("elink(\"a\") = elink(\"b\")", "true"),
        ("1 != 2", "true"),
        ("2 >= 2", "true"),
    ]);
}

#[test]
fn truth_is_that_something_is_there() {
    for (expression, truth) in [
        ("null", false),
        ("false", false),
        ("0", false),
        ("\"\"", false),
        ("[]", false),
        ("{}", false),
        ("dur(0 s)", false),
        ("date(1970-01-01)", false),
        ("[[]]", false),
        ("0/0", true),
        ("\" \"", true),
        ("[null]", true),
        ("{a: null}", true),
        ("dur(1 s)", true),
        ("date(2020-01-01)", true),
        ("[[x]]", true),
        ("(x) => x", true),
        ("elink(\"a\")", true),
    ] {
        assert_eq!(value(&format!("!!({expression})")), truth.to_string(), "{expression}");
    }
}

#[test]
fn values_are_indexed_by_their_type() {
    check(&[
        ("{a: 1}.a", "1"),
        ("{a: 1}[\"a\"]", "1"),
        ("{a: 1}.b", "null"),
        ("{a: 1}[0]", "error: can only index into objects with strings (a.b or a[\"b\"])"),
        ("{a: 1}[true]", "error: Can only index with a string or number"),
        ("{a: 1}[null]", "null"),
        ("(1 + null)[null]", "null"),
        ("(1 + null)[0]", "error: No implementation found for 'number + null'"),
        ("[[Other]].rating", "9"),
        ("[[Other]].file.name", "\"Other\""),
        ("[[missing]].rating", "null"),
        ("[[Other#x]].rating", "9"),
        ("[[Other]][0]", "error: can only index into links with strings (a.b or a[\"b\"])"),
        ("this.up.rating", "9"),
        ("[1, 2, 3][1]", "2"),
        ("[1, 2][5]", "null"),
        ("[1, 2][0 - 1]", "null"),
        ("[1, 2][0.5]", "null"),
        ("[{a: 1}, {a: 2}].a", "[1, 2]"),
        ("[1, 2].a", "[null, null]"),
        ("[\"x\", {a: 1}].a", "[1]"),
        ("[ [{a: 1}], {a: 2}].a", "[[1], 2]"),
        ("[1, 2].length", "[null, null]"),
        ("\"abc\"[1]", "\"b\""),
        ("\"abc\"[9]", "null"),
        ("\"abc\".x", "error: string indexing requires a numeric index (string[index])"),
        ("date(2024-05-15T10:20:30.040).year", "2024"),
        ("date(2024-05-15T10:20:30.040).millisecond", "40"),
        ("date(2024-05-15).weekday", "3"),
        ("date(2024-05-15).weekyear", "20"),
        ("date(2024-05-15).week", "3"),
        ("date(2024-05-15).nothing", "null"),
        ("date(2024-05-15)[0]", "error: date indexing requires a string representing the unit"),
        ("dur(1 d)[0]", "error: duration indexing requires a string representing the unit"),
        ("null.x", "null"),
        ("(5).x", "null"),
        ("true.x", "null"),
    ]);
}

#[test]
fn lambdas_see_what_is_around_them() {
    check(&[
        ("((x) => x + 1)(2)", "3"),
        ("((x, y) => x + y)(2, 3)", "5"),
        ("((x) => x)()", "null"),
        ("((x) => x)(1, 2)", "1"),
        ("map([1, 2], (x) => map([10], (y) => x + y))", "[[11], [12]]"),
        ("map([1], (f) => f(1))", "error: Unrecognized function name 'f'"),
        ("map([1], (x) => this.rating + x)", "[6]"),
        ("((rating) => row.rating)(3)", "3"),
        ("\"length\"([1, 2])", "2"),
        ("(5)(1)", "error: Cannot call type 'number' as a function"),
        ("nope(1)", "error: Unrecognized function name 'nope'"),
        ("Length([1])", "error: Unrecognized function name 'Length'"),
        ("((f) => [f][0](f))((f) => [f][0](f))", "error: Maximum call stack size exceeded"),
    ]);
}

#[test]
fn this_is_the_origin() {
    check(&[
        ("this.file.name", "\"Home\""),
        ("this.rating", "5"),
        ("this[\"Basic Field\"]", "7"),
        ("this.basic-field", "7"),
        ("this.nothing", "null"),
        ("rating", "null"),
        ("row.this.rating", "5"),
        ("row.rating", "null"),
        ("typeof(this)", "\"object\""),
        ("this.up", "[[Other.md|Other]]"),
    ]);
}
