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
        ("file.ctime", "null"),
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
