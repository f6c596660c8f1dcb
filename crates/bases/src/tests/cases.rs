//! Tests of expressions in bases.

use super::*;

fn vault() -> PlainVault {
    PlainVault::of(&[
        (
            "Probe/row.md",
            "---\nprice: 12.5\nquantity: 4\nstatus: Todo\ntags: [urgent, work]\nvalues: [1, 2, 3]\nspace key: space value\n\
             frontWiki: \"[[Other|Front Alias]]\"\nfrontMd: \"[Front MD](Other.md)\"\nsite: https://example.org/a\n\
             due: 2026-06-12\nstart: 2026-06-10 12:34:56\ndone: false\nnested: {Key: 1, deep: {x: [a, b]}}\n---\n\
             [[Other]] #project/a [[Missing Note]] ![[Picture.png]]\n",
        ),
        ("Probe/Other.md", "---\nstatus: Done\n---\n[[row]]\n"),
        ("Probe/Picture.png", ""),
        ("top.md", ""),
    ])
}

fn check(cases: &[(&str, &str)]) {
    let vault = vault();
    let mut wrong = String::new();
    for (expression, expected) in cases {
        let found = evaluated(&vault, "Probe/row.md", expression);
        if found != *expected {
            wrong += &format!("{expression}\n  gives  {found}\n  not    {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn literals_and_operators_have_the_precedence_of_javascript() {
    check(&[
        ("null", "null"),
        ("  true ", "true"),
        ("'it\\'s \"so\"'", "\"it's \\\"so\\\"\""),
        ("\"a\\u0041\\n\"", "\"aA\\n\""),
        ("\"\\ud83d\\ude00\"", "\"😀\""),
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 % 4", "2"),
        ("-7 % 4", "-3"),
        ("7 / 2", "3.5"),
        ("1 / 0", "∞"),
        ("10 - 2 - 3", "5"),
        ("2 * 3 == 6 && !false", "true"),
        ("1 < 2 == true", "true"),
        ("-price", "-12.5"),
        ("- - price", "12.5"),
        ("!!status", "true"),
        ("[1, [2], \"x\"]", "[1, [2], \"x\"]"),
        ("[]", "[]"),
        ("[10,20,30][1]", "20"),
        ("[10][5]", "null"),
        ("[10][0.5]", "null"),
        ("0 || \"\"", "false"),
        ("status || 1", "true"),
        ("status && 0", "false"),
    ]);
}

#[test]
fn names_are_properties_in_any_case_and_missing_ones_are_null() {
    check(&[
        ("price", "12.5"),
        ("PRICE", "12.5"),
        ("note.price", "12.5"),
        ("Note[\"Price\"]", "12.5"),
        ("note[\"space key\"]", "\"space value\""),
        ("missing", "null"),
        ("missing.y.z", "null"),
        ("missing[0]", "null"),
        ("missing.length", "null"),
        ("values", "[1, 2, 3]"),
        ("value", "null"),
        ("nested.key", "1"),
        ("nested.deep.x[1]", "\"b\""),
        ("nested[\"DEEP\"].X.length", "2"),
        ("nested.none", "null"),
        ("formula.total", "50"),
        ("formula.TOTAL", "50"),
        ("formula[\"total\"]", "50"),
        ("formula.none", "null"),
        ("note.keys().contains(\"status\")", "true"),
        ("file.properties.status", "\"Todo\""),
        ("this.file.path", "\"Probe/row.md\""),
        ("this.name", "\"row\""),
        ("this.status", "\"Todo\""),
        ("this.note.price", "12.5"),
        ("this == file", "true"),
        ("this.isType(\"file\")", "true"),
    ]);
}

#[test]
fn null_goes_through_operators_as_in_the_app() {
    check(&[
        ("x == null", "true"),
        ("x != \"a\"", "true"),
        ("null == false", "false"),
        ("null == 0", "false"),
        ("x < 1", "null"),
        ("x >= 1", "null"),
        ("x > \"\"", "null"),
        ("x + 1", "null"),
        ("1 + x", "null"),
        ("-x", "null"),
        ("x * 2", "null"),
        ("\"a\" + x", "\"a\""),
        ("x + \"a\"", "\"a\""),
        ("!x", "null"),
        ("x && true", "false"),
        ("x || true", "true"),
        ("x.lower()", "null"),
        ("x.round()", "null"),
        ("x.contains(\"a\")", "null"),
        ("x.nothing()", "null"),
        ("x.isEmpty()", "true"),
        ("x.isTruthy()", "false"),
        ("x.isType(\"null\")", "true"),
        ("x.toString()", "\"\""),
        ("if(x, 1, 2)", "2"),
        ("if(x, 1)", "null"),
        ("[1] + x", "null"),
        ("date(\"2026-01-01\") + x", "null"),
    ]);
}

#[test]
fn equality_is_loose_and_the_same_from_both_sides() {
    check(&[
        ("1 == \"1\"", "true"),
        ("\"1\" == 1", "true"),
        ("true == 1", "true"),
        ("true == \"1\"", "true"),
        ("\"\" == 0", "true"),
        ("\"true\" == true", "false"),
        ("\"a\" == \"A\"", "false"),
        ("0 == -0", "true"),
        ("due == \"2026-06-12\"", "true"),
        ("\"2026-06-12\" == due", "true"),
        ("due == \"soon\"", "false"),
        ("start == \"2026-06-10\"", "true"),
        ("start == date(\"2026-06-10 12:34:56\")", "true"),
        ("start == date(\"2026-06-10 12:34:57\")", "false"),
        ("duration(\"1d\") == duration(\"24h\")", "true"),
        ("duration(\"1d\") == \"24h\"", "true"),
        ("frontWiki == link(\"other.md\")", "true"),
        ("frontWiki == \"[[Probe/Other]]\"", "true"),
        ("frontWiki == file(\"Other\")", "true"),
        ("file == \"Probe/row.md\"", "true"),
        ("file == \"[[row]]\"", "true"),
        ("link(\"Nowhere\") == link(\"Nowhere\")", "true"),
        ("link(\"Nowhere\") == link(\"Elsewhere\")", "false"),
        ("link(\"Nowhere\") == link(\"Other\")", "false"),
        ("link(\"Other#S\") == link(\"Other|x\")", "false"),
        ("link(\"Other#S\") == link(\"Other\", \"x\")", "true"),
        ("[1, 2] == [1, \"2\"]", "true"),
        ("[1, 2] == [1]", "false"),
        ("[1] == 1", "true"),
        ("[1, 2] == 1", "false"),
        ("/a/g == /a/g", "true"),
        ("/a/g == /a/", "false"),
        ("nested == nested", "true"),
        ("nested == note", "false"),
    ]);
}

#[test]
fn relations_compare_numbers_dates_durations_or_code_units() {
    check(&[
        ("5 < \"10\"", "true"),
        ("\"abc\" > 1", "false"),
        ("\"b\" > \"a\"", "true"),
        ("\"Z\" < \"a\"", "true"),
        ("\"10\" < \"9\"", "true"),
        ("\"～\" > \"😀\"", "true"),
        ("due > \"2026-06-11\"", "true"),
        ("due < today()", "false"),
        ("today() <= now()", "true"),
        ("duration(\"2h\") > \"90m\"", "true"),
        ("duration(\"1M\") > duration(\"30d\")", "true"),
        ("true > 0", "false"),
        ("1 <= 1", "true"),
        ("(0/0) >= 0", "false"),
    ]);
}

#[test]
fn arithmetic_takes_the_first_rule_that_fits() {
    check(&[
        ("\"a\" + 1", "\"a1\""),
        ("1 + \"a\"", "\"1a\""),
        ("\"x\" + true", "\"xtrue\""),
        ("\"x\" + [1, 2]", "\"x1, 2\""),
        ("\"x\" * 2", "! Invalid operator between String and Number"),
        ("\"x\" - \"y\"", "! Invalid operator between String and String"),
        ("true + 1", "! Invalid operator between Boolean and Number"),
        ("[1] + [2, 3]", "[1, 2, 3]"),
        ("[1] + 2", "! Invalid operator between List and Number"),
        ("[1] - [1]", "! Invalid operator between List and List"),
        ("2 * duration(\"1h\")", "! Invalid operator between Number and Duration"),
        ("(duration(\"1h\") * 2).toString()", "\"2 hours\""),
        ("(duration(\"4h\") / 2).hours", "2"),
        ("(duration(\"1h\") + duration(\"30m\")).minutes", "90"),
        ("(duration(\"1h\") - duration(\"30m\")).minutes", "30"),
        ("due + due", "! Invalid operator between Date and Date"),
        ("due + 1", "! Invalid operator between Date and Number"),
        ("due + \"soon\"", "! Invalid operator between Date and String"),
        ("\"on \" + due", "\"on 2026-06-12\""),
        ("-status", "! Invalid operator on String"),
        ("frontWiki + \"!\"", "\"[[Other|Front Alias]]!\""),
        ("(1 + true) == 2", "! Invalid operator between Number and Boolean"),
    ]);
}

#[test]
fn dates_follow_the_calendar() {
    check(&[
        ("date(\"2026-06-10\")", "2026-06-10"),
        ("date(\"2026-06-10 12:34\")", "2026-06-10T12:34:00"),
        ("date(\"20260610\")", "2026-06-10"),
        ("date(\"202606101234\")", "2026-06-10T12:34:00"),
        ("date(\"2026-06-10T00:00:00Z\")", "2026-06-10T10:00:00"),
        ("date(\"2026-06-10T00:00+02:00\")", "2026-06-10T08:00:00"),
        ("date(due)", "2026-06-12"),
        ("\"2026-06-10\".date().year", "2026"),
        ("date(\"soon\")", "! Invalid date format \"soon\". Expected YYYY-MM-DD or YYYY-MM-DD HH:mm:ss."),
        ("date(1)", "! Type error in \"date\", parameter \"date\". Expected String, given Number."),
        ("date()", "! Cannot call function \"date\", not enough arguments."),
        ("date(\"2026-12-01\") + \"1M\"", "2027-01-01"),
        ("date(\"2026-01-31\") + \"1M\"", "2026-02-28"),
        ("date(\"2024-02-29\") + \"1y\"", "2025-02-28"),
        ("date(\"2026-06-10\") - \"1w\"", "2026-06-03"),
        ("date(\"2026-06-10\") + \"-1d\"", "2026-06-09"),
        ("date(\"2026-06-10\") + \"P1DT2H\"", "2026-06-11T02:00:00"),
        ("date(\"2026-06-10\") + \"2 hours\"", "2026-06-10T02:00:00"),
        ("date(\"2026-06-10\") + \"1d 2h\"", "2026-06-11T02:00:00"),
        ("date(\"2026-06-10\") + duration(\"1 day\") * 2", "2026-06-12"),
        ("date(\"2026-04-04 12:00\") + \"1d\"", "2026-04-05T12:00:00"),
        ("(date(\"2026-06-11\") - date(\"2026-06-10\")).toString()", "\"a day\""),
        ("date(\"2026-06-11\") - date(\"2026-06-10\")", "a day"),
        ("(due - today()).days", "2"),
        ("(date(\"2026-04-06\") - date(\"2026-04-05\")).hours", "25"),
        ("number(date(\"1970-01-02\"))", "50400000"),
        ("number(due - start)", "! Unable to parse \"a day\" as a number."),
        ("today()", "2026-06-10"),
        ("now()", "2026-06-10T17:17:08"),
        ("now().millisecond", "70"),
        ("start.timestamp", "1781058896000"),
        ("start.month", "6"),
        ("start.date()", "2026-06-10"),
        ("start.time()", "\"12:34:56\""),
        ("due.time()", "\"00:00:00\""),
        ("due.isEmpty()", "false"),
        ("due.week", "! Cannot find \"week\" on type Date"),
        ("start.format(\"Qo Do dddd dd d E w [at] LT\")", "\"2nd 10th Wednesday We 3 3 24 at 12:34 PM\""),
        ("start.format(\"L LL l\")", "\"06/10/2026 June 10, 2026 6/10/2026\""),
        ("due.relative()", "in a day"),
        ("due.relative().isType(\"date\")", "true"),
        ("date(\"2100-01-01\").relative().toString()", "\"in 74 years\""),
        ("(now() - \"50m\").relative().toString()", "\"an hour ago\""),
        ("now().relative().toString()", "\"a few seconds ago\""),
        ("date(\"9999-12-31\") + \"1y\"", "! The date is out of range"),
    ]);
}

#[test]
fn durations_are_parts_with_a_length_and_a_humanised_text() {
    check(&[
        ("duration(\"2w\")", "14 days"),
        ("duration(\"45s\")", "a minute"),
        ("duration(\"44s\")", "a few seconds"),
        ("duration(\"89s\")", "a minute"),
        ("duration(\"90s\")", "2 minutes"),
        ("duration(\"44m\")", "44 minutes"),
        ("duration(\"45m\")", "an hour"),
        ("duration(\"21h\")", "21 hours"),
        ("duration(\"22h\")", "a day"),
        ("duration(\"35h\")", "a day"),
        ("duration(\"36h\")", "2 days"),
        ("duration(\"25d\")", "25 days"),
        ("duration(\"26d\")", "a month"),
        ("duration(\"45d\")", "a month"),
        ("duration(\"46d\")", "2 months"),
        ("duration(\"319d\")", "10 months"),
        ("duration(\"320d\")", "a year"),
        ("duration(\"547d\")", "a year"),
        ("duration(\"548d\")", "2 years"),
        ("duration(\"-3 days\")", "3 days"),
        ("duration(\"1M\")", "a month"),
        ("duration(\"1m\")", "a minute"),
        ("duration(\"500ms\").milliseconds", "500"),
        ("duration(\"PT1H30M\").minutes", "90"),
        ("duration(\"P1Y\").days", "365"),
        ("duration(\"1y\").months", "12"),
        ("duration(\"1y\").years", "1"),
        ("duration(\"36h\").days", "1.5"),
        ("duration(\"2w\").weeks", "2"),
        ("duration(\"-90m\").hours", "-1.5"),
        ("duration(\"0d\").isTruthy()", "false"),
        ("duration(\"1d\").isType(\"Duration\")", "true"),
        ("duration(\"1 fortnight\")", "! Unable to parse \"1 fortnight\" as a duration."),
        ("duration(\"\")", "! Unable to parse \"\" as a duration."),
        ("duration(\"1d\").fortnights", "! Cannot find \"fortnights\" on type Duration"),
        ("(now() - start).hours.round()", "5"),
    ]);
}

#[test]
fn global_functions_answer_or_say_what_they_expect() {
    check(&[
        ("if(status == \"Todo\", \"yes\", \"no\")", "\"yes\""),
        ("if(true, 1, nonsense())", "1"),
        ("IF(false, 1)", "null"),
        ("if(true)", "! Cannot call function \"if\", not enough arguments."),
        ("if(1, 2, 3, 4)", "! Cannot call function \"if\", too many arguments."),
        ("number(\"12.5\")", "12.5"),
        ("number(\" 7 \")", "7"),
        ("number(\"0x10\")", "16"),
        ("number(true)", "1"),
        ("number(\"nope\")", "! Unable to parse \"nope\" as a number."),
        ("number([1, 2])", "! Unable to parse \"1, 2\" as a number."),
        ("number(missing)", "! Unable to parse \"\" as a number."),
        ("\"5\".number() + 1", "6"),
        ("min(3, 1, 2)", "1"),
        ("max(3, 1, 2)", "3"),
        ("max(3, \"x\")", "! Type error in \"max\", parameter \"value2\". Expected Number, given String."),
        ("(5).max(7)", "7"),
        ("list(\"value\")", "[\"value\"]"),
        ("list([1,2])", "[1, 2]"),
        ("list(missing)", "[]"),
        ("link(\"Some Note\").toString()", "\"[[Some Note]]\""),
        ("link(\"Some Note\", \"Shown\").toString()", "\"[[Some Note|Shown]]\""),
        ("link(\"[[Some Note|Shown]]\").toString()", "\"[[Some Note|Shown]]\""),
        ("link(file).toString()", "\"[[Probe/row.md]]\""),
        ("link(frontWiki, 5).toString()", "\"[[Other|5]]\""),
        ("link(\"https://x.org\").isType(\"url\")", "true"),
        ("link(\"x\").path", "! Cannot find \"path\" on type Link"),
        ("file(\"Other\").path", "\"Probe/Other.md\""),
        ("file(\"Probe/Other.md\").name", "\"Other\""),
        ("file(frontWiki).basename", "\"Other\""),
        ("file(\"[[Other]]\").path", "\"Probe/Other.md\""),
        ("file(\"Missing Note\").path", "null"),
        ("image(\"https://x/l.png\").toString()", "\"![](https://x/l.png)\""),
        ("image(link(\"Picture.png\")).toString()", "\"![](Picture.png)\""),
        ("icon(\"arrow-right\").toString()", "\"arrow-right\""),
        ("icon(\"x\").isType(\"string\")", "true"),
        ("html(\"<b>x</b>\").toString()", "\"<b>x</b>\""),
        ("escapeHTML(\"<x>&\")", "\"&lt;x&gt;&amp;\""),
        ("escapeHTML(\"\\\"'\")", "\"&quot;&#39;\""),
        ("random() < 1 && random() >= 0", "true"),
        ("now(1)", "! Cannot call function \"now\", too many arguments."),
        ("doesNotExist()", "! Cannot find function \"doesNotExist\""),
        ("lower(\"A\")", "! Cannot find function \"lower\""),
        ("[1][0](2)", "! Cannot call a value as a function"),
    ]);
}

#[test]
fn every_value_knows_its_type_its_truth_and_its_text() {
    check(&[
        ("(0).isTruthy()", "false"),
        ("\"\".isTruthy()", "false"),
        ("[].isTruthy()", "false"),
        ("(0/0).isTruthy()", "false"),
        ("due.isTruthy()", "true"),
        ("link(\"\").isTruthy()", "true"),
        ("\"example\".isType(\"STRING\")", "true"),
        ("frontWiki.isType(\"link\")", "true"),
        ("frontMd.isType(\"string\")", "true"),
        ("site.isType(\"url\")", "true"),
        ("due.isType(\"date\")", "true"),
        ("tags.isType(\"list\")", "true"),
        ("tags[0].isType(\"string\")", "true"),
        ("nested.isType(\"object\")", "true"),
        ("/a/.isType(\"regexp\")", "true"),
        ("done.isType(\"boolean\")", "true"),
        ("(1).isType(\"string\")", "false"),
        ("(1).isType()", "! Cannot call function \"isType\", not enough arguments."),
        ("(123).toString()", "\"123\""),
        ("(1.10).toString()", "\"1.1\""),
        ("(0.1 + 0.2).toString()", "\"0.30000000000000004\""),
        ("true.toString()", "\"true\""),
        ("file.toString()", "\"Probe/row.md\""),
        ("[1, [2, \"x\"]].toString()", "\"1, 2, x\""),
        ("nested.toString()", "\"{\\\"Key\\\":1,\\\"deep\\\":{\\\"x\\\":[\\\"a\\\",\\\"b\\\"]}}\""),
        ("/a\\/b/gi.toString()", "\"/a\\\\/b/gi\""),
        ("\"\".isEmpty()", "true"),
        ("\" \".isEmpty()", "false"),
        ("(0).isEmpty()", "false"),
        ("[].isEmpty()", "true"),
        ("note.isEmpty()", "false"),
    ]);
}

#[test]
fn texts_have_the_methods_of_the_contract_and_no_others() {
    check(&[
        ("\"hello\".length", "5"),
        ("\"😀\".length", "2"),
        ("\"hello\".contains(\"ell\")", "true"),
        ("\"hello\".contains(\"ELL\")", "false"),
        ("\"a1\".contains(1)", "true"),
        (
            "\"hello\".contains(missing)",
            "! Type error in \"contains\", parameter \"value\". Expected String, given Null.",
        ),
        ("\"hello\".contains()", "! Cannot call function \"contains\", not enough arguments."),
        ("\"hello\".containsAll(\"h\", \"e\")", "true"),
        ("\"hello\".containsAll(\"h\", \"x\")", "false"),
        ("\"hello\".containsAny(\"x\", \"e\")", "true"),
        ("\"hello\".startsWith(\"he\")", "true"),
        ("\"hello\".endsWith(\"lo\")", "true"),
        ("\"HÉLLO\".lower()", "\"héllo\""),
        ("\"hello wORLD\".title()", "\"Hello WORLD\""),
        ("\"  x \".trim()", "\"x\""),
        ("\"abc\".reverse()", "\"cba\""),
        ("\"ab\".repeat(3)", "\"ababab\""),
        ("\"ab\".repeat(0)", "\"\""),
        ("\"ab\".repeat(-1)", "! Invalid count value: -1"),
        ("\"ab\".repeat(\"x\")", "! Type error in \"repeat\", parameter \"count\". Expected Number, given String."),
        ("\"ab\".repeat(1000000000)", "! The text is too long"),
        ("\"hello\".slice(1, 4)", "\"ell\""),
        ("\"hello\".slice(-3)", "\"llo\""),
        ("\"hello\".slice(3, 1)", "\"\""),
        ("\"hello\".slice(1, -1)", "\"ell\""),
        ("\"a,b,c\".split(\",\", 2)", "[\"a\", \"b\"]"),
        ("\"a,b,c\".split(/,/,2)", "[\"a\", \"b\"]"),
        ("\"a1b2\".split(/(\\d)/)", "[\"a\", \"1\", \"b\", \"2\", \"\"]"),
        ("\"abc\".split(\"\")", "[\"a\", \"b\", \"c\"]"),
        ("\"abc\".split(/(?:)/)", "[\"a\", \"b\", \"c\"]"),
        ("\"\".split(\",\")", "[\"\"]"),
        ("\"a:b:c\".replace(/:/, \"-\")", "\"a-b:c\""),
        ("\"a:b:c\".replace(/:/g, \"-\")", "\"a-b-c\""),
        ("\"a:b:c\".replace(\":\", \"-\")", "\"a-b-c\""),
        ("\"john smith\".replace(/(\\w+) (\\w+)/, \"$2 $1\")", "\"smith john\""),
        ("\"a.b\".replace(\".\", \"$&\")", "\"a$&b\""),
        ("\"a\".upper()", "! Cannot find function \"upper\" on type String"),
        ("\"a\".matches(\"a\")", "! Cannot find function \"matches\" on type String"),
        ("\"asdf\".asdfasdf", "! Cannot find \"asdfasdf\" on type String"),
        ("\"a\"[0]", "! Cannot access index \"0\" of non-array value"),
        ("frontWiki.lower()", "\"[[other|front alias]]\""),
        ("site.startsWith(\"https\")", "true"),
        ("/abc/.matches(\"abcde\")", "true"),
        ("/^B/i.matches(\"abc\")", "false"),
        ("/^b/im.matches(\"a\\nB\")", "true"),
        ("/\\w/.matches(\"é\")", "false"),
        ("/a/.matches(missing)", "! Type error in \"matches\", parameter \"value\". Expected String, given Null."),
        ("status.replace(/[/]/, \"\")", "\"Todo\""),
        ("6 / 2 / 3", "1"),
    ]);
}

#[test]
fn numbers_round_as_javascript_does() {
    check(&[
        ("(-5).abs()", "5"),
        ("(2.1).ceil()", "3"),
        ("(-2.1).floor()", "-3"),
        ("(2.5).round()", "3"),
        ("(-2.5).round()", "-2"),
        ("(2.3333).round(2)", "2.33"),
        ("(1234.5).round(-2)", "1200"),
        ("(1.005).toFixed(2)", "\"1.00\""),
        ("(2.5).toFixed(0)", "\"3\""),
        ("(3).toFixed(2)", "\"3.00\""),
        ("(3).toFixed(101)", "! toFixed() digits argument must be between 0 and 100"),
        ("(3).toFixed()", "! Cannot call function \"toFixed\", not enough arguments."),
        ("(3).sqrt()", "! Cannot find function \"sqrt\" on type Number"),
        ("(3).length", "! Cannot find \"length\" on type Number"),
        ("(3).contains(3)", "! Cannot find function \"contains\" on type Number"),
    ]);
}

#[test]
fn lists_search_change_and_sum_up() {
    check(&[
        ("[1,2,3].length", "3"),
        ("[\"a\",\"b\"].contains(\"b\")", "true"),
        ("[1,2].contains(\"2\")", "true"),
        ("[1,2,3].containsAll(1, 4)", "false"),
        ("[1,2,3].containsAny(4, 3)", "true"),
        ("[\"a/b\"].contains(\"a\")", "false"),
        ("tags.contains(\"URGENT\")", "true"),
        ("file.tags.contains(\"project\")", "true"),
        ("file.tags.contains(\"#project/a\")", "true"),
        ("file.tags.contains(\"proj\")", "false"),
        ("file.tags.containsAll(\"work\", \"project\")", "true"),
        ("file.links.contains(file(\"Other\"))", "true"),
        ("[1,2,3,4].filter(index > 1)", "[3, 4]"),
        ("[1,2,3].map(value + index)", "[1, 3, 5]"),
        ("[1,2,3].reduce(acc + value, 0)", "6"),
        ("[[1,2],[3]].map(value.map(value * 2))", "[[2, 4], [6]]"),
        ("[1].map(price)", "[12.5]"),
        ("[1].reduce(acc)", "! Cannot call function \"reduce\", not enough arguments."),
        ("[].reduce(acc + value, 7)", "7"),
        ("\"a\".map(value)", "! Cannot find function \"map\" on type String"),
        ("[1,[2,[3]]].flat()", "[1, 2, [3]]"),
        ("[1,2,3].join(\",\")", "\"1,2,3\""),
        ("[1,null,\"x\"].join(\"-\")", "\"1--x\""),
        ("[1,2].join()", "! Cannot call function \"join\", not enough arguments."),
        ("[1,2,3].reverse()", "[3, 2, 1]"),
        ("[1,2,3,4].slice(1, 3)", "[2, 3]"),
        ("[1,2,3,4].slice(-1)", "[4]"),
        ("[3,null,1,2].sort()", "[1, 2, 3, null]"),
        ("[10,9,1].sort()", "[1, 9, 10]"),
        ("[\"b\",\"A\",\"a\",\"C\"].sort()", "[\"a\", \"A\", \"b\", \"C\"]"),
        ("[\"é\",\"f\",\"e\"].sort()", "[\"e\", \"é\", \"f\"]"),
        ("[true,false].sort()", "[false, true]"),
        ("[1,2,2,3].unique()", "[1, 2, 3]"),
        ("[\"a\",\"A\",\"a\"].unique()", "[\"a\", \"A\"]"),
        ("[link(\"Other\"), link(\"Other.md\"), link(\"Other\")].unique().length", "2"),
        ("[1,\"x\",3].sum()", "4"),
        ("[1,2,6].mean()", "3"),
        ("[3,1,2].median()", "2"),
        ("[1,2,3,4].median()", "2.5"),
        ("[3,1,2].min()", "1"),
        ("[3,1,2].max()", "3"),
        ("[2,4,4,4,5,5,7,9].stddev()", "2"),
        ("[].mean()", "null"),
        ("[].sum()", "0"),
        ("[due, start].earliest()", "2026-06-10T12:34:56"),
        ("[due, start].latest()", "2026-06-12"),
        ("[1].lower()", "! Cannot find function \"lower\" on type List"),
        ("[1].name", "! Cannot find \"name\" on type List"),
    ]);
}

#[test]
fn objects_have_keys_and_values() {
    check(&[
        ("nested.keys()", "[\"Key\", \"deep\"]"),
        ("nested.deep.values()", "[[\"a\", \"b\"]]"),
        ("nested.map(key)", "[\"Key\", \"deep\"]"),
        ("nested.filter(value == 1).keys()", "[\"Key\"]"),
        ("nested.isEmpty()", "false"),
        ("nested.reduce(acc, 1)", "! Cannot find function \"reduce\" on type Object"),
        ("nested.lower()", "! Cannot find function \"lower\" on type Object"),
    ]);
}

#[test]
fn files_and_links_know_each_other() {
    check(&[
        ("file.name", "\"row\""),
        ("file.basename", "\"row\""),
        ("file.fullname", "\"row.md\""),
        ("file.path", "\"Probe/row.md\""),
        ("file.folder", "\"Probe\""),
        ("file.ext", "\"md\""),
        ("file.file.name", "\"row\""),
        ("file(\"top\").folder", "\"/\""),
        ("file(\"Picture.png\").name", "\"Picture.png\""),
        ("file(\"Picture.png\").basename", "\"Picture\""),
        ("file(\"Picture.png\").properties.isEmpty()", "true"),
        ("file.nothing", "! Cannot find \"nothing\" on type File"),
        ("file.size > 100", "true"),
        ("file.mtime", "1970-01-01T10:00:00"),
        // What is not known of a file is its last change.
        ("file.ctime", "1970-01-01T10:00:00"),
        ("file.tags", "[urgent, work, project/a]"),
        (
            "file.links.map(value.toString())",
            "[\"[[Other|Front Alias]]\", \"[[Other.md|Front MD]]\", \"[[Other|Other]]\", \"[[Missing Note|Missing Note]]\", \"[[Picture.png|Picture.png]]\"]",
        ),
        ("file.embeds.map(value.toString())", "[\"[[Picture.png|Picture.png]]\"]"),
        ("file.backlinks.map(value.toString())", "[\"[[Probe/Other.md|Other]]\"]"),
        (
            "file.links.map(value.asFile().path)",
            "[\"Probe/Other.md\", \"Probe/Other.md\", \"Probe/Other.md\", null, \"Probe/Picture.png\"]",
        ),
        ("file.asLink().toString()", "\"[[Probe/row.md]]\""),
        ("file.asLink(\"Here\").toString()", "\"[[Probe/row.md|Here]]\""),
        ("file.hasLink(\"Other\")", "true"),
        ("file.hasLink(\"OTHER.md#Section | Pipe\")", "true"),
        ("file.hasLink(\"[[Other]]\")", "true"),
        ("file.hasLink(file(\"Other\"))", "true"),
        ("file.hasLink(link(\"Other\"))", "true"),
        ("file.hasLink(\"Picture.png\")", "true"),
        ("file.hasLink(\"Missing Note\")", "true"),
        ("file.hasLink(\"Missing Note.md\")", "false"),
        ("file.hasLink(\"top\")", "false"),
        ("file.hasLink(1)", "! Type error in \"hasLink\", parameter \"otherFile\". Expected File, given Number."),
        ("frontWiki.linksTo(file)", "true"),
        ("link(\"Missing Note\").linksTo(file)", "false"),
        ("link(\"Missing Note\").asFile()", "null"),
        ("file.hasTag(\"project\")", "true"),
        ("file.hasTag(\"#PROJECT/A\")", "true"),
        ("file.hasTag(\"project/a/b\")", "false"),
        ("file.hasTag(\"x\", \"urgent\")", "true"),
        ("file.hasTag()", "! Cannot call function \"hasTag\", not enough arguments."),
        ("file.inFolder(\"Probe\")", "true"),
        ("file.inFolder(\"Probe/\")", "true"),
        ("file.inFolder(\"Pro\")", "false"),
        ("file.inFolder(\"\")", "true"),
        ("file.hasProperty(\"PRICE\")", "true"),
        ("file.hasProperty(\"none\")", "false"),
        ("file.lower()", "! Cannot find function \"lower\" on type File"),
    ]);
}

#[test]
fn what_cannot_be_read_is_null() {
    for expression in [
        "0.isTruthy()",
        "123.toString()",
        "1.5.round()",
        "1.",
        ".5",
        "1e3",
        "+price",
        "{\"a\": 1}.keys()",
        "a ? b : c",
        "a ?? b",
        "a and",
        "x => 1",
        "\"open",
        "\"\\x\"",
        "/open",
        "/a/q",
        "/(/",
        "(1",
        "[1, 2",
        "f(1",
        "1 2",
        "a.",
        "a.1",
        "=",
        "",
        "#",
    ] {
        assert_eq!(evaluated(&vault(), "Probe/row.md", expression), "null", "{expression}");
    }
}

#[test]
fn values_that_grow_without_end_are_errors_and_not_the_end() {
    let many = format!("[{}]", vec!["1"; 300].join(","));
    for (expression, expected) in [
        (format!("{many}.reduce([acc, acc], \"abcdefgh\")"), "! The list is too large"),
        (format!("{many}.reduce([acc], 0)"), "! The list is too large"),
        (format!("{many}.reduce(acc + acc, \"abcdefgh\")"), "! The text is too long"),
        (format!("{}1{}", "(".repeat(40), ")".repeat(40)), "1"),
        (format!("{}1{}", "(".repeat(4000), ")".repeat(4000)), "null"),
        (format!("1{}", " + 1".repeat(4000)), "4001"),
        ("!".repeat(4000) + "1", "null"),
        ("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\".replace(/(a|aa)+$/, \"\").length".to_owned(), "41"),
    ] {
        let found = evaluated(&vault(), "Probe/row.md", &expression);
        assert_eq!(found, expected, "{}", &expression[..expression.len().min(60)]);
    }
}

#[test]
fn white_space_and_line_breaks_are_free() {
    check(&[
        ("\n 1\n+\t2 ", "3"),
        ("if (true, 1, 2)", "1"),
        ("if(\n  true,\n  1,\n  2\n)", "1"),
        ("[ 1 , 2 ] [ 1 ]", "2"),
        ("\"abc\" . length", "3"),
        ("\"abc\".slice( 1 )", "\"bc\""),
        ("! false", "true"),
        ("( ( 1 ) )", "1"),
        ("!(1 > 2) && true", "true"),
        ("1 + 2 == 3 || false", "true"),
        ("true || false && false", "true"),
        ("1 < 2 != false", "true"),
        ("2 + 3 * 4 - 6 / 2", "11"),
        ("7 % 4 * 2", "6"),
        ("-2 * -3", "6"),
        ("--2", "2"),
        ("!!0", "false"),
        ("\"\\\"\"", "\"\\\"\""),
        ("'a\"b'", "\"a\\\"b\""),
        ("\"tab\\tline\\n\"", "\"tab\\tline\\n\""),
        ("NOTE.price", "12.5"),
        ("File.Name", "\"row\""),
        ("FORMULA.total", "50"),
        ("This.file.name", "\"row\""),
        ("True", "null"),
        ("größe", "null"),
        ("_x1", "null"),
        ("$x", "null"),
    ]);
}

#[test]
fn every_type_is_compared_with_every_other() {
    check(&[
        ("null != null", "false"),
        ("null == \"\"", "false"),
        ("false == \"\"", "true"),
        ("false == \"false\"", "false"),
        ("(0/0) == (0/0)", "false"),
        ("\"a\" == [\"a\"]", "true"),
        ("[] == \"\"", "false"),
        ("[] == []", "true"),
        ("[[1]] == 1", "true"),
        ("[null] == null", "false"),
        ("due == due.date()", "true"),
        ("due == 5", "false"),
        ("due == [due]", "true"),
        ("start == due", "false"),
        ("date(\"2026-06-10 10:00\") == date(\"2026-06-10\")", "true"),
        ("date(\"2026-06-10 10:00\") == \"2026-06-10 10:00\"", "true"),
        ("duration(\"7d\") == duration(\"1w\")", "true"),
        ("duration(\"1M\") == duration(\"31d\")", "true"),
        ("duration(\"1d\") == 86400000", "false"),
        ("duration(\"1d\") == \"soon\"", "false"),
        ("frontWiki == \"Other\"", "true"),
        ("frontWiki == \"other\"", "false"),
        ("frontWiki == \"[[Other|different]]\"", "true"),
        ("file == file(\"row\")", "true"),
        ("file == link(\"row\")", "true"),
        ("file == file.path", "true"),
        ("file == \"row\"", "false"),
        ("file != this", "false"),
        ("site == \"https://example.org/a\"", "true"),
        ("tags[0] == \"urgent\"", "true"),
        ("icon(\"x\") == \"x\"", "true"),
        ("nested == 1", "false"),
        ("/a/ == \"/a/\"", "false"),
        ("null < null", "null"),
        ("1 < null", "null"),
        ("true > false", "true"),
        ("true < 2", "false"),
        ("\"2\" < 10", "true"),
        ("\"\" < 1", "true"),
        ("\"a\" < \"B\"", "false"),
        ("[1, 2] < [1, 3]", "true"),
        ("due < due + \"1d\"", "true"),
        ("due < \"2026-06-13\"", "true"),
        ("\"2026-06-13\" > due", "true"),
        ("due < \"soon\"", "true"),
        ("due < 5", "false"),
        ("duration(\"1h\") < \"61m\"", "true"),
        ("\"61m\" > duration(\"1h\")", "true"),
        ("duration(\"-1d\") < duration(\"0d\")", "true"),
        ("frontWiki < \"a\"", "true"),
    ]);
}

#[test]
fn arithmetic_of_every_pair_is_a_value_null_or_an_error() {
    check(&[
        ("null + null", "null"),
        ("null + \"\"", "\"\""),
        ("null - 1", "null"),
        ("null * \"a\"", "null"),
        ("\"a\" - null", "null"),
        ("5 % 0", "NaN"),
        ("-1 / 0", "-∞"),
        ("0 / 0", "NaN"),
        ("5.5 % 2", "1.5"),
        ("true + true", "! Invalid operator between Boolean and Boolean"),
        ("true + \"x\"", "\"truex\""),
        ("1 - \"1\"", "! Invalid operator between Number and String"),
        ("[1] + \"x\"", "\"1x\""),
        ("[1] * 2", "! Invalid operator between List and Number"),
        ("nested + 1", "! Invalid operator between Object and Number"),
        ("nested + null", "null"),
        ("due - 1", "! Invalid operator between Date and Number"),
        ("due * 2", "! Invalid operator between Date and Number"),
        ("1 + due", "! Invalid operator between Number and Date"),
        ("due - null", "null"),
        ("due - \"soon\"", "! Invalid operator between Date and String"),
        ("duration(\"1d\") + 1", "! Invalid operator between Duration and Number"),
        ("duration(\"1d\") % 2", "! Invalid operator between Duration and Number"),
        ("duration(\"1d\") - due", "! Invalid operator between Duration and Date"),
        ("duration(\"1d\") * duration(\"1d\")", "! Invalid operator between Duration and Duration"),
        ("duration(\"1h\") + \"!\"", "\"an hour!\""),
        ("\"in \" + duration(\"2h\")", "\"in 2 hours\""),
        ("(duration(\"1d\") / 2).hours", "12"),
        ("(duration(\"1M\") * 2).months", "2"),
        ("file + \"!\"", "\"Probe/row.md!\""),
        ("file + 1", "! Invalid operator between File and Number"),
        ("/a/ + \"!\"", "\"/a/!\""),
        ("/a/ * 2", "! Invalid operator between RegExp and Number"),
        ("-true", "! Invalid operator on Boolean"),
        ("-\"1\"", "! Invalid operator on String"),
        ("-due", "! Invalid operator on Date"),
        ("-[1]", "! Invalid operator on List"),
        ("-(0)", "0"),
        ("!\"\"", "true"),
        ("!null", "null"),
        ("!due", "false"),
        ("![]", "true"),
        ("(1 + true) || true", "! Invalid operator between Number and Boolean"),
        ("true || (1 + true)", "true"),
        ("false && (1 + true)", "false"),
        ("[1, 1 + true]", "! Invalid operator between Number and Boolean"),
        ("if(1 + true, 1, 2)", "! Invalid operator between Number and Boolean"),
        ("(1 + true).isTruthy()", "! Invalid operator between Number and Boolean"),
    ]);
}

#[test]
fn dates_read_every_form_and_add_every_unit() {
    check(&[
        ("date(\"2026-06-10T12:34\")", "2026-06-10T12:34:00"),
        ("date(\"2026-06-10 12:34:56.789\").millisecond", "789"),
        ("date(\"2026-06-10T12:34:56Z\")", "2026-06-10T22:34:56"),
        ("date(\"2026-06-10T12:34:56+0200\")", "2026-06-10T20:34:56"),
        ("date(\"2026-06-10T12:34:56+02\")", "2026-06-10T20:34:56"),
        ("date(\"2026-06-10T12:34:56-02:30\")", "2026-06-11T01:04:56"),
        ("date(\"2026-6-1\")", "! Invalid date format \"2026-6-1\". Expected YYYY-MM-DD or YYYY-MM-DD HH:mm:ss."),
        ("date(\"2026-02-30\")", "! Invalid date format \"2026-02-30\". Expected YYYY-MM-DD or YYYY-MM-DD HH:mm:ss."),
        (
            "date(\"2026-06-10 25:00\")",
            "! Invalid date format \"2026-06-10 25:00\". Expected YYYY-MM-DD or YYYY-MM-DD HH:mm:ss.",
        ),
        ("date(null)", "! Type error in \"date\", parameter \"date\". Expected String, given Null."),
        ("date(\"2026-06-10\", 1)", "! Cannot call function \"date\", too many arguments."),
        ("date(\"2026-06-10 12:00:00\") + \"1 year\"", "2027-06-10T12:00:00"),
        ("date(\"2026-06-10 12:00:00\") + \"2 months\"", "2026-08-10T12:00:00"),
        ("date(\"2026-06-10 12:00:00\") + \"1week\"", "2026-06-17T12:00:00"),
        ("date(\"2026-06-10 12:00:00\") - \"3 days\"", "2026-06-07T12:00:00"),
        ("date(\"2026-06-10 12:00:00\") + \"90m\"", "2026-06-10T13:30:00"),
        ("date(\"2026-06-10 12:00:00\") + \"1M\"", "2026-07-10T12:00:00"),
        ("date(\"2026-06-10 12:00:00\") + \"30s\"", "2026-06-10T12:00:30"),
        ("date(\"2026-06-10 12:00:00\") - \"-1d\"", "2026-06-11T12:00:00"),
        ("date(\"2026-03-31\") - \"1M\"", "2026-02-28"),
        ("date(\"2026-06-10\").format(\"YYYY\")", "\"2026\""),
        ("start.format(\"[Week] w, dddd\")", "\"Week 24, Wednesday\""),
        ("start.format(\"LLL\")", "\"June 10, 2026 12:34 PM\""),
        ("start.format()", "! Cannot call function \"format\", not enough arguments."),
        ("start.year + start.day", "2036"),
        ("start.second", "56"),
        ("due.hour", "0"),
        ("due.lower()", "! Cannot find function \"lower\" on type Date"),
        ("due.isType(\"date\") && start.isType(\"date\")", "true"),
        ("due.isTruthy()", "true"),
        ("due.toString()", "\"2026-06-12\""),
        ("start.toString()", "\"2026-06-10T12:34:56\""),
        ("(now() - start).isType(\"duration\")", "true"),
        ("(due - start).days.round(1)", "1.5"),
        ("(start - due).toString()", "\"a day\""),
        ("today().time()", "\"00:00:00\""),
        ("today() == now()", "true"),
        ("now().date() == today()", "true"),
        ("duration(\"1d\").hours", "24"),
        ("duration(\"1 hour\").minutes", "60"),
        ("duration(\"2 weeks\").days", "14"),
        ("duration(\"P1W\").days", "7"),
        ("duration(\"PT0.5H\").minutes", "30"),
        ("duration(\"1500ms\").seconds", "1.5"),
        ("duration(duration(\"1h\")).minutes", "60"),
        ("duration(5)", "! Type error in \"duration\", parameter \"value\". Expected String, given Number."),
        ("duration(\"1h\").isEmpty()", "false"),
        ("duration(\"0s\").isTruthy()", "false"),
        ("\"1h\".duration().minutes", "60"),
    ]);
}

#[test]
fn functions_of_every_type_know_their_arguments() {
    check(&[
        ("number(\"\")", "0"),
        ("number(\"1 2\")", "! Unable to parse \"1 2\" as a number."),
        ("number(false)", "0"),
        ("number(null)", "! Unable to parse \"\" as a number."),
        ("number()", "! Cannot call function \"number\", not enough arguments."),
        ("list(1)", "[1]"),
        ("list(null)", "[]"),
        ("list(\"a\", \"b\")", "! Cannot call function \"list\", too many arguments."),
        ("\"a\".list()", "[\"a\"]"),
        ("min(1)", "1"),
        ("max(1, 2.5, -3)", "2.5"),
        ("min()", "! Cannot call function \"min\", not enough arguments."),
        ("link(\"[[A#h|b]]\").toString()", "\"[[A#h|b]]\""),
        ("link(\"A\", null).toString()", "\"[[A]]\""),
        ("link(\"A\", icon(\"x\")).toString()", "\"[[A|x]]\""),
        ("link(\"Other\").isType(\"link\")", "true"),
        ("link(\"Other\").asFile().name", "\"Other\""),
        ("link(\"other#x\").asFile().path", "\"Probe/Other.md\""),
        ("link(\"Other\").length", "9"),
        ("link(\"Other\").contains(\"the\")", "true"),
        ("link(\"Other\").foo()", "! Cannot find function \"foo\" on type Link"),
        ("file(null)", "null"),
        ("file(\"top.md\").name", "\"top\""),
        ("file(file).path", "\"Probe/row.md\""),
        ("file(\"Other\").properties.status", "\"Done\""),
        ("file(\"Other\").status", "! Cannot find \"status\" on type File"),
        ("file(\"Other\").hasLink(file)", "true"),
        ("file(\"Other\").tags", "[]"),
        ("image(\"a.png\").isType(\"image\")", "true"),
        ("html(\"\").isTruthy()", "true"),
        ("html(\"<i>\").isType(\"html\")", "true"),
        ("icon(\"\").isTruthy()", "true"),
        ("escapeHTML(\"a & b\")", "\"a &amp; b\""),
        ("ESCAPEHTML(\"<\")", "\"&lt;\""),
        ("random().isType(\"number\")", "true"),
        ("(5).isType(\"number\")", "true"),
        ("missing.isType(\"number\")", "false"),
        ("[].isType(\"list\")", "true"),
        ("file.isType(\"file\")", "true"),
        ("true.isEmpty()", "false"),
        ("file.isEmpty()", "false"),
        ("\"\".length", "0"),
        ("\"abc\".containsAll()", "true"),
        ("\"abc\".containsAny()", "false"),
        ("\"abc\".containsAny(\"x\", \"y\")", "false"),
        ("\"Abc\".startsWith(\"a\")", "false"),
        ("\"élan vital\".title()", "\"Élan Vital\""),
        ("\"\".title()", "\"\""),
        ("\"a\".slice()", "! Cannot call function \"slice\", not enough arguments."),
        ("\"a,b,c\".split(\",\", 0)", "[]"),
        ("\"a,b,c\".split(\",\", -1)", "[\"a\", \"b\", \"c\"]"),
        ("\"a b\".split()", "! Cannot call function \"split\", not enough arguments."),
        ("\"aXbX\".replace(/x/gi, \"-\")", "\"a-b-\""),
        ("\"a\".replace(\"a\")", "! Cannot call function \"replace\", not enough arguments."),
        ("\"abc\".replace(/(b)/, \"[$1]\")", "\"a[b]c\""),
        ("\"abc\".foo()", "! Cannot find function \"foo\" on type String"),
        ("(2.345).round(1)", "2.3"),
        ("(2).round(\"x\")", "! Type error in \"round\", parameter \"digits\". Expected Number, given String."),
        ("(1e3)", "null"),
        ("(5).toFixed(-1)", "! toFixed() digits argument must be between 0 and 100"),
        ("[1, 2].foo()", "! Cannot find function \"foo\" on type List"),
        ("[1, 2].contains()", "! Cannot call function \"contains\", not enough arguments."),
        ("[1, 2].containsAll()", "true"),
        ("[null].contains(null)", "true"),
        ("[due].contains(\"2026-06-12\")", "true"),
        ("[\"a\"].contains(\"A\")", "false"),
        ("[3, 1].sort().reverse()", "[3, 1]"),
        ("[due, start].sort()", "[2026-06-10T12:34:56, 2026-06-12]"),
        ("[\"b\", null, \"a\"].sort()", "[\"a\", \"b\", null]"),
        ("[true, null, false].sort()", "[null, false, true]"),
        ("[1, \"1\", 1].unique()", "[1, \"1\"]"),
        ("[null, null].unique()", "[null]"),
        ("[1, 2, 3].map(index)", "[0, 1, 2]"),
        ("[1, 2, 3].filter(value > 1).map(value * 2)", "[4, 6]"),
        ("[\"a\", \"b\"].reduce(acc + value, \"\")", "\"ab\""),
        ("[1, 2, 3].reduce(if(acc > value, acc, value), 0)", "3"),
        ("[1].map()", "! Cannot call function \"map\", not enough arguments."),
        ("[1].map(value, 1)", "! Cannot call function \"map\", too many arguments."),
        ("[[1, 2], [3, [4]]].flat()", "[1, 2, 3, [4]]"),
        ("[1, 2].join(\"\")", "\"12\""),
        ("[due, frontWiki].join(\"; \")", "\"2026-06-12; [[Other|Front Alias]]\""),
        ("[].join(\",\")", "\"\""),
        ("[].min()", "null"),
        ("[].median()", "null"),
        ("[].stddev()", "null"),
        ("[].earliest()", "null"),
        ("[1, \"2\"].max()", "1"),
        ("values.mean()", "2"),
        ("note.values.sum()", "6"),
        ("nested.keys().length", "2"),
        ("nested.values()[0]", "1"),
        ("nested.filter(key == \"deep\").keys()", "[\"deep\"]"),
        ("nested.map(value == 1)", "[true, false]"),
        ("nested.length", "null"),
        ("/a/.foo()", "! Cannot find function \"foo\" on type RegExp"),
        ("/a/.matches(\"A\")", "false"),
        ("/a/g.matches(\"ba\")", "true"),
        ("file.asLink(\"x\").toString()", "\"[[Probe/row.md|x]]\""),
        ("file.hasTag(\"URGENT\")", "true"),
        ("file.hasTag(\"urg\")", "false"),
        ("file.hasTag(\"#work\", \"none\")", "true"),
        ("file.inFolder(\"probe\")", "false"),
        ("file.inFolder(\"/\")", "true"),
        ("file(\"top\").inFolder(\"Probe\")", "false"),
        ("file.hasProperty(\"due\")", "true"),
        ("file.hasProperty()", "! Cannot call function \"hasProperty\", not enough arguments."),
        ("file.name.lower()", "\"row\""),
        ("this.hasTag(\"work\")", "true"),
        ("this.missing", "null"),
        ("frontWiki.linksTo(this)", "true"),
        ("[frontWiki].contains(file(\"Other\"))", "true"),
        ("file.links[0] == frontWiki", "true"),
        ("file.links.filter(value == link(\"Other\")).length", "3"),
        ("file.links.map(value.asFile()).unique().length", "3"),
        ("file.backlinks[0].asFile().name", "\"Other\""),
        ("file.properties.keys().contains(\"due\")", "true"),
    ]);
}

#[test]
fn nesting_ends_where_the_limits_say() {
    let run = |expression: &str, depth: usize| {
        let yaml = format!("formulas: {{a: '{expression}'}}\nviews: [{{type: table, name: A, order: [formula.a]}}]\n");
        let base = BaseFile::parse(&yaml).unwrap();
        let limits = lapidary_query::QueryLimits { depth, ..lapidary_query::QueryLimits::default() };
        let go_on = || true;
        let context = QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &go_on).with_limits(limits);
        let answer = base.run(None, &vault(), &context).unwrap();
        shown(&answer, &answer.rows[0].cells[0])
    };
    assert_eq!(run("[[[[[1]]]]].length", 16), "1");
    assert_eq!(run("[[[[[1]]]]].length", 5), "! The formula is nested too deep");
    assert_eq!(run("[1,2,3,4,5,6].reduce([acc], 0).length", 16), "1");
    assert_eq!(run("[1,2,3,4,5,6].reduce([acc], 0).length", 5), "! The list is too large");
}

#[test]
fn small_values_that_a_formula_collects_count_as_memory() {
    let run = |formula: &str, summary: &str| {
        let yaml = format!(
            "formulas: {{a: '{formula}'}}\nsummaries: {{s: '{summary}'}}\nviews: [{{type: table, name: A, order: [formula.a], \
             summaries: {{formula.a: s}}}}]\n"
        );
        let base = BaseFile::parse(&yaml).unwrap();
        let limits = lapidary_query::QueryLimits { bytes: 2 << 20, ..lapidary_query::QueryLimits::default() };
        let go_on = || true;
        let context = QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &go_on).with_limits(limits);
        base.run(None, &vault(), &context)
            .map(|answer| shown(&answer, &answer.summaries[0].value))
            .map_err(|halt| halt.to_string())
    };
    let many = "\"a\".repeat(2000).split(\"\")";
    for formula in [
        format!("{many}.map([file.properties, file.properties, file.properties, file.properties])"),
        format!("{many}.map([value, value, value])"),
        format!("{many}.map(file.links)"),
    ] {
        let halted = run(&formula, "values.length").unwrap_err();
        assert!(halted.contains("holds more than"), "{formula}: {halted}");
    }
    let nested = format!("{many}.map({many}.map({many}.map(1)))");
    assert!(run("1", &nested).unwrap_err().contains("holds more than"));
    assert!(run("file.properties.keys().length + [1, 2].map([value, value]).length", "values.length").is_ok());
}

#[test]
fn a_summary_without_an_end_is_an_error_in_its_place() {
    let letters = "\"a\".repeat(600).split(\"\")";
    let yaml = format!(
        "summaries: {{s: '{letters}.map({letters})'}}\nviews: [{{type: table, name: A, order: [file.name], summaries: \
         {{file.name: s}}}}]\n"
    );
    let go_on = || true;
    let context = QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &go_on);
    let answer = BaseFile::parse(&yaml).unwrap().run(None, &vault(), &context).unwrap();
    assert_eq!(shown(&answer, &answer.summaries[0].value), "! The list is too large");
}
