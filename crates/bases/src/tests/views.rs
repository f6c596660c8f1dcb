//! Tests of views of bases.

use super::*;

fn vault() -> PlainVault {
    PlainVault::of(&[
        (
            "Books/Dune.md",
            "---\nrating: 9\nstatus: done\nread: 2024-03-01\ntags: [sf/classic]\nowned: true\n---\n[[Herbert]]\n",
        ),
        ("Books/Emma.md", "---\nrating: 7\nstatus: done\nread: 2025-01-05\ntags: [novel]\nowned: false\n---\n"),
        ("Books/Ubik.md", "---\nrating: 8\nstatus: open\ntags: [sf]\n---\n[[Dick]]\n"),
        ("Books/Zeno.md", "---\nstatus: open\n---\n"),
        ("Herbert.md", ""),
        ("List.base", ""),
        ("cover.png", ""),
    ])
}

fn paths(answer: &BaseAnswer) -> Vec<&str> {
    answer.rows.iter().map(|row| row.path.rsplit('/').next().unwrap()).collect()
}

fn rows_of(base: &str) -> Vec<String> {
    let answer = run(base, &vault(), None, Some("List.base")).unwrap();
    paths(&answer).into_iter().map(str::to_owned).collect()
}

const BOOKS: &str = "Dune.md Emma.md Ubik.md Zeno.md";

#[test]
fn filters_join_as_they_are_written() {
    for (filters, expected) in [
        ("'file.inFolder(\"Books\")'", BOOKS),
        ("{and: ['file.hasTag(\"sf\")', 'rating > 8']}", "Dune.md"),
        ("{or: ['rating > 8', 'status == \"open\"']}", "Dune.md Ubik.md Zeno.md"),
        ("{not: ['file.ext != \"md\"', 'status == \"done\"']}", "Ubik.md Zeno.md Herbert.md"),
        ("{and: ['file.folder == \"Books\"', {or: ['rating == 7', {not: ['rating']}]}]}", "Emma.md Zeno.md"),
        ("{and: []}", "Dune.md Emma.md Ubik.md Zeno.md Herbert.md List.base cover.png"),
        ("{or: []}", "Dune.md Emma.md Ubik.md Zeno.md Herbert.md List.base cover.png"),
        ("{or: [{and: []}, 'rating == 9']}", "Dune.md"),
        ("", "Dune.md Emma.md Ubik.md Zeno.md Herbert.md List.base cover.png"),
        ("'file.ext == \"png\"'", "cover.png"),
        ("'file.hasTag(\"sf\") && rating < 9'", "Ubik.md"),
        ("'rating <'", ""),
        ("'rating < 8'", "Emma.md"),
        ("'!rating'", ""),
        ("'file.hasLink(\"Herbert\")'", "Dune.md"),
        ("'file.hasLink(\"Dick\")'", "Ubik.md"),
    ] {
        assert_eq!(rows_of(&format!("filters: {filters}\n")).join(" "), expected, "{filters}");
    }
}

#[test]
fn filters_of_the_base_and_of_the_view_are_joined() {
    let base = "filters: 'file.inFolder(\"Books\")'\nviews:\n  - {type: table, name: A}\n  - {type: cards, name: B, \
                filters: 'status == \"open\"'}\n";
    let answer = run(base, &vault(), Some("B"), None).unwrap();
    assert_eq!((paths(&answer).join(" ").as_str(), answer.kind.as_str()), ("Ubik.md Zeno.md", "cards"));
    assert_eq!(run(base, &vault(), None, None).unwrap().view, "A");
    let missing = run(base, &vault(), Some("b"), None).unwrap_err();
    assert_eq!(missing, QueryHalt::failed("View \"b\" not found"));
}

#[test]
fn rows_that_a_filter_fails_on_are_dropped_and_counted() {
    let base = "filters:\n  and:\n    - file.ext == \"md\"\n    - rating.lower() == \"x\"\n";
    let answer = run(base, &vault(), None, None).unwrap();
    assert!(answer.rows.is_empty());
    let [dropped] = &answer.dropped[..] else { panic!("{:?}", answer.dropped) };
    assert_eq!((dropped.step.as_str(), dropped.count), ("rating.lower() == \"x\"", 3));
    assert_eq!(dropped.messages, ["Cannot find function \"lower\" on type Number"]);
}

#[test]
fn rows_are_sorted_by_each_rule_with_nulls_last() {
    let sorted = |sort: &str| {
        let view = format!("filters: 'file.inFolder(\"Books\")'\nviews: [{{type: table, name: A, sort: {sort}}}]\n");
        rows_of(&view).join(" ")
    };
    assert_eq!(sorted("[]"), BOOKS);
    assert_eq!(sorted("[{property: rating, direction: ASC}]"), "Emma.md Ubik.md Dune.md Zeno.md");
    assert_eq!(sorted("[{property: note.rating, direction: DESC}]"), "Dune.md Ubik.md Emma.md Zeno.md");
    assert_eq!(sorted("[{property: file.name, direction: DESC}]"), "Zeno.md Ubik.md Emma.md Dune.md");
    assert_eq!(sorted("[{property: read, direction: DESC}]"), "Emma.md Dune.md Ubik.md Zeno.md");
    let both = "[{property: status, direction: DESC}, {property: file.name, direction: DESC}]";
    assert_eq!(sorted(both), "Zeno.md Ubik.md Emma.md Dune.md");
    assert_eq!(sorted("[{property: owned, direction: DESC}]"), "Dune.md Emma.md Ubik.md Zeno.md");
    assert_eq!(sorted("[{direction: DESC}, x, {property: rating}]"), "Emma.md Ubik.md Dune.md Zeno.md");
}

#[test]
fn the_limit_comes_before_groups_and_summaries() {
    let base = "filters: 'file.inFolder(\"Books\")'\nviews:\n  - type: table\n    name: A\n    limit: 3\n    order: [file.name, \
                rating]\n    sort: [{property: rating, direction: DESC}]\n    groupBy: {property: status, direction: DESC}\n    \
                summaries: {rating: Sum, file.name: Filled}\n";
    let answer = run(base, &vault(), None, None).unwrap();
    assert_eq!(
        (answer.total, answer.limit, paths(&answer).join(" ").as_str()),
        (4, Some(3), "Dune.md Ubik.md Emma.md")
    );
    let groups = answer.groups.as_ref().unwrap();
    let heads: Vec<_> =
        groups.iter().map(|group| (answer.group_heading(group).into_owned(), group.rows.clone())).collect();
    assert_eq!(heads, [("open".to_owned(), vec![1]), ("done".to_owned(), vec![0, 2])]);
    let texts = |summaries: &[crate::BaseSummary]| {
        summaries.iter().map(|summary| answer.text(&summary.value).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&answer.summaries), ["24", "3"]);
    assert_eq!(texts(&groups[1].summaries), ["16", "2"]);
    assert_eq!(answer.rows[0].cells.len(), 2);
}

#[test]
fn rows_without_a_value_are_the_last_group() {
    let heads = |direction: &str, property: &str| {
        let base = format!(
            "filters: 'file.inFolder(\"Books\")'\nviews: [{{type: list, name: A, groupBy: {{property: {property}, direction: \
             {direction}}}}}]\n"
        );
        let answer = run(&base, &vault(), None, None).unwrap();
        let groups = answer.groups.as_ref().unwrap();
        groups.iter().map(|group| answer.group_heading(group).into_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(heads("ASC", "rating"), "7 8 9 None");
    assert_eq!(heads("DESC", "rating"), "9 8 7 None");
    assert_eq!(heads("ASC", "tags"), "novel sf sf/classic None");
    assert_eq!(heads("ASC", "owned"), "false true None");
    assert_eq!(heads("ASC", "formula.nothing"), "None");
}

#[test]
fn summaries_are_those_of_the_app_and_custom_ones() {
    for (property, name, expected) in [
        ("rating", "Average", "8"),
        ("rating", "Min", "7"),
        ("rating", "Max", "9"),
        ("rating", "Median", "8"),
        ("rating", "Sum", "24"),
        ("rating", "Range", "2"),
        ("rating", "Stddev", "0.82"),
        ("read", "Earliest", "2024-03-01"),
        ("read", "Latest", "2025-01-05"),
        ("read", "Range", "10 months"),
        ("owned", "Checked", "1"),
        ("owned", "Unchecked", "1"),
        ("rating", "Empty", "1"),
        ("rating", "Filled", "3"),
        ("status", "Unique", "2"),
        ("rating", "spread", "2 of 4"),
        ("rating", "broken", "Cannot find function \"none\" on type List"),
        ("rating", "none", ""),
    ] {
        let base = format!(
            "filters: 'file.inFolder(\"Books\")'\nsummaries:\n  spread: (values.max() - values.min()) + \" of \" + \
             values.length\n  broken: values.none()\nviews: [{{type: table, name: A, summaries: {{{property}: {name}}}}}]\n"
        );
        let answer = run(&base, &vault(), None, None).unwrap();
        assert_eq!(answer.text(&answer.summaries[0].value), expected, "{property} {name}");
    }
}

#[test]
fn formulas_use_each_other_and_cycles_are_errors() {
    let base = "filters: 'file.name == \"Dune\"'\nformulas:\n  half: rating / 2\n  label: status + \" \" + formula.half\n  \
                a: formula.b + 1\n  b: formula.c\n  c: formula.a\n  uses: formula.a.isTruthy()\n  free: if(false, formula.free, \
                1)\n  broken: rating +\n  wrong: rating.lower()\n  after: formula.wrong + 1\nviews: [{type: table, name: A, order: \
                [formula.label, formula.a, formula.b, formula.c, formula.uses, formula.free, formula.broken, formula.after]}]\n";
    let answer = run(base, &vault(), None, None).unwrap();
    let cells: Vec<String> = answer.rows[0].cells.iter().map(|cell| shown(&answer, cell)).collect();
    let cycle = "! Infinite loop detected in formula";
    let wrong = "! Cannot find function \"lower\" on type Number";
    assert_eq!(cells, ["\"done 4.5\"", cycle, cycle, cycle, cycle, "1", "null", wrong]);
    let json = answer.to_cli_json();
    assert_eq!(json[0]["path"], "Books/Dune.md");
    assert_eq!(json[0]["a"], "Error: Infinite loop detected in formula");
    assert_eq!(json[0]["broken"], "");
}

#[test]
fn columns_have_labels_and_the_answer_can_be_written_as_tables() {
    let base = "filters: 'file.name == \"Dune\"'\nformulas:\n  pipe: \"'a|b'\"\nproperties:\n  note.rating: {displayName: \
                Stars}\n  formula.pipe: {displayName: P}\ndisplay: {status: Old}\nviews: [{type: table, name: A, image: note.cover, \
                order: [file.name, file.folder, rating, status, formula.pipe, Tags, file.ctime]}]\n";
    let answer = run(base, &vault(), None, None).unwrap();
    let names: Vec<&str> = answer.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["file name", "folder", "Stars", "Old", "P", "Tags", "created time"]);
    assert_eq!(
        answer.to_markdown(),
        "| file name | folder | Stars | Old | P | Tags | created time |\n| --- | --- | --- | --- | --- | --- | --- |\n| \
         Dune | Books | 9 | done | a\\|b | sf/classic | 1970-01-01T10:00:00 |\n"
    );
    assert_eq!(
        answer.to_csv(),
        "file name,folder,Stars,Old,P,Tags,created time\r\nDune,Books,9,done,a|b,sf/classic,1970-01-01T10:00:00\r\n"
    );
    assert_eq!(answer.options.get("image"), Some(&lapidary_query::Value::from("note.cover")));
}

#[test]
fn an_empty_base_is_a_table_of_all_files() {
    let answer = run("", &vault(), None, None).unwrap();
    assert_eq!((answer.view.as_str(), answer.kind.as_str(), answer.rows.len()), ("Table", "table", 7));
    assert_eq!(answer.columns[0].id, "file.name");
    assert_eq!(answer.text(&answer.rows[6].cells[0]), "cover.png");
}

#[test]
fn this_is_the_host_or_nothing() {
    let base = "filters: 'file.hasLink(this)'\n";
    assert_eq!(paths(&run(base, &vault(), None, Some("Herbert.md")).unwrap()), ["Dune.md"]);
    assert!(run(base, &vault(), None, Some("gone.md")).unwrap().rows.is_empty());
    assert!(run("filters: 'this.name'\n", &vault(), None, None).unwrap().rows.is_empty());
    assert_eq!(run("filters: 'this.name == \"gone\"'\n", &vault(), None, Some("gone.md")).unwrap().rows.len(), 7);
}

#[test]
fn many_rows_on_several_threads_come_out_as_on_one() {
    let files: Vec<(String, String)> = (0..3000)
        .map(|at| (format!("n{at:04}.md"), format!("---\nn: {}\nkind: k{}\n---\n", at * 7919 % 3000, at % 5)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let vault = PlainVault::of(&files);
    let base = "filters: 'n.isType(\"number\") && kind.lower(1) == 1 || n < 2000'\nviews: [{type: table, name: A, order: [n], sort: \
                [{property: n, direction: DESC}], groupBy: {property: kind, direction: ASC}, summaries: {n: Sum}}]\n";
    let answer = run(base, &vault, None, None).unwrap();
    assert_eq!(answer.dropped[0].count, 3000);
    let base = base.replace("kind.lower(1) == 1", "false");
    let answer = run(&base, &vault, None, None).unwrap();
    assert_eq!((answer.rows.len(), answer.groups.as_ref().unwrap().len()), (2000, 5));
    let numbers: Vec<String> = answer.rows.iter().map(|row| answer.text(&row.cells[0]).into_owned()).collect();
    assert_eq!(numbers[..3], ["1999", "1998", "1997"]);
    assert_eq!(answer.text(&answer.summaries[0].value), "1999000");
}

#[test]
fn budgets_and_callers_end_a_run() {
    let vault = vault();
    let base = BaseFile::parse(
        "formulas: {a: '[1,2,3].map(value * 2).length'}\nviews: [{type: table, name: A, order: [formula.a]}]\n",
    )
    .unwrap();
    let limits = lapidary_query::QueryLimits { steps: 20, ..lapidary_query::QueryLimits::default() };
    let go_on = || true;
    let context = QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &go_on).with_limits(limits);
    assert_eq!(base.run(None, &vault, &context).unwrap_err(), QueryHalt::TooManySteps { limit: 20 });
    let steps = BaseFile::parse("filters: 'file.hasTag(\"sf\")'\n").unwrap();
    let answer = with_context(None, |context| steps.run(None, &vault, context)).unwrap();
    let names: Vec<(&str, usize)> = answer.steps.iter().map(|step| (step.name.as_str(), step.rows)).collect();
    assert_eq!(names, [("files", 7), ("file.hasTag(\"sf\")", 2)]);
}

#[test]
fn a_window_shows_a_part_and_counts_all() {
    let vault = vault();
    let base = "filters: 'file.inFolder(\"Books\")'\nformulas: {double: rating * 2}\nviews:\n  - type: table\n    name: A\n    order: \
                [file.name, formula.double]\n    sort: [{property: rating, direction: DESC}]\n    groupBy: {property: status, direction: \
                ASC}\n    summaries: {rating: Sum}\n  - {type: table, name: B, limit: 3, order: [file.name], summaries: {rating: Max}}\n";
    let base = BaseFile::parse(base).unwrap();
    for view in ["A", "B"] {
        let run = |window| {
            with_context(None, |context| {
                let context = QueryContext::new(context.now, context.zone.clone(), &|| true).with_window(window);
                base.run(Some(view), &vault, &context).unwrap()
            })
        };
        let whole = run(None);
        assert_eq!((whole.first, whole.rows.len()), (0, whole.count));
        let lines = |answer: &BaseAnswer| {
            answer
                .rows
                .iter()
                .map(|row| {
                    let cells = row.cells.iter().map(|cell| answer.text(cell).into_owned());
                    std::iter::once(row.path.to_string()).chain(cells).collect::<Vec<_>>().join(" ")
                })
                .collect::<Vec<_>>()
        };
        for window in [0..0, 0..2, 1..3, 2..9, 9..12] {
            let part = run(Some(window.clone()));
            let shown = window.start.min(whole.count)..window.end.min(whole.count);
            assert_eq!(
                (part.count, part.first, part.total),
                (whole.count, shown.start, whole.total),
                "{view} {window:?}"
            );
            assert_eq!(lines(&part), lines(&whole)[shown], "{view} {window:?}");
            assert_eq!(part.text(&part.summaries[0].value), whole.text(&whole.summaries[0].value));
            let groups = |answer: &BaseAnswer| {
                answer.groups.as_ref().map(|groups| groups.iter().map(|group| group.rows.clone()).collect::<Vec<_>>())
            };
            assert_eq!(groups(&part), groups(&whole));
        }
    }
}

#[test]
fn every_column_has_the_label_of_the_app() {
    let labels = [
        ("file.file", "file"),
        ("file.name", "file name"),
        ("file.basename", "file base name"),
        ("file.fullname", "file full name"),
        ("file.path", "file path"),
        ("file.folder", "folder"),
        ("file.ext", "file extension"),
        ("file.ctime", "created time"),
        ("file.mtime", "modified time"),
        ("file.size", "file size"),
        ("file.backlinks", "file backlinks"),
        ("file.links", "file links"),
        ("file.embeds", "file embeds"),
        ("file.tags", "file tags"),
        ("FILE.NAME", "file name"),
        ("note.a.b", "a.b"),
        ("a.b", "a.b"),
        ("status", "status"),
        ("formula.Type icon", "Type icon"),
    ];
    let order: Vec<String> = labels.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let base = format!("views: [{{type: table, name: A, order: [{}]}}]\n", order.join(", "));
    let answer = run(&base, &vault(), None, None).unwrap();
    let names: Vec<&str> = answer.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, labels.map(|(_, label)| label));
    assert_eq!(answer.columns[0].id, "file.file");
}

#[test]
fn summaries_of_nothing_and_of_groups_are_values_too() {
    let summed = |filter: &str, property: &str, name: &str| {
        let base =
            format!("filters: '{filter}'\nviews: [{{type: table, name: A, summaries: {{{property}: {name}}}}}]\n");
        let answer = run(&base, &vault(), None, None).unwrap();
        answer.text(&answer.summaries[0].value).into_owned()
    };
    for (name, expected) in [
        ("Average", ""),
        ("Min", ""),
        ("Max", ""),
        ("Median", ""),
        ("Sum", "0"),
        ("Range", ""),
        ("Stddev", ""),
        ("Earliest", ""),
        ("Latest", ""),
        ("Checked", "0"),
        ("Unchecked", "0"),
        ("Empty", "0"),
        ("Filled", "0"),
        ("Unique", "0"),
    ] {
        assert_eq!(summed("false", "rating", name), expected, "{name}");
    }
    let books = "file.inFolder(\"Books\")";
    for (property, name, expected) in [
        ("owned", "Checked", "1"),
        ("owned", "Unchecked", "1"),
        ("owned", "Empty", "2"),
        ("owned", "Filled", "2"),
        ("read", "Range", "10 months"),
        ("rating", "average", "8"),
        ("file.name", "Unique", "4"),
        ("status", "Sum", "0"),
        ("tags", "Filled", "3"),
    ] {
        assert_eq!(summed(books, property, name), expected, "{property} {name}");
    }
}

#[test]
fn sorting_and_grouping_take_every_type_of_value() {
    let files = [
        ("1.md", "---\nv: 10\nl: [b]\nd: 2026-01-02\nt: b\nw: \"[[x|Zed]]\"\n---\n"),
        ("2.md", "---\nv: 9\nl: [a]\nd: 2025-01-02 10:00\nt: B\nw: \"[[y|Abe]]\"\n---\n"),
        ("3.md", "---\nl: [a]\nt: a\n---\n"),
        ("4.md", "---\nv: x\nl: []\nd: soon\nt: ä\nw: text\n---\n"),
    ];
    let vault = PlainVault::of(&files);
    let sorted = |property: &str, direction: &str| {
        let base =
            format!("views: [{{type: table, name: A, sort: [{{property: {property}, direction: {direction}}}]}}]\n");
        let answer = run(&base, &vault, None, None).unwrap();
        answer.rows.iter().map(|row| &row.path[..1]).collect::<String>()
    };
    for (property, up, down) in [
        ("v", "2143", "4123"),
        ("l", "4231", "1234"),
        ("t", "3412", "2143"),
        ("w", "2413", "1423"),
        ("none", "1234", "1234"),
        ("file.name", "1234", "4321"),
    ] {
        assert_eq!((sorted(property, "ASC"), sorted(property, "DESC")), (up.to_owned(), down.to_owned()), "{property}");
    }
    let grouped = |property: &str| {
        let base = format!("views: [{{type: table, name: A, groupBy: {{property: {property}, direction: ASC}}}}]\n");
        let answer = run(&base, &vault, None, None).unwrap();
        let groups = answer.groups.as_ref().unwrap();
        groups
            .iter()
            .map(|group| format!("{}:{:?}", answer.group_heading(group), group.rows))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(grouped("l"), ":[3] a:[1, 2] b:[0]");
    assert_eq!(grouped("t"), "a:[2] ä:[3] b:[0] B:[1]");
    assert_eq!(grouped("none"), "None:[0, 1, 2, 3]");
}

#[test]
fn a_text_for_readers_has_the_groups_and_the_summaries() {
    let base = |more: &str| {
        format!(
            "filters: 'file.inFolder(\"Books\")'\nviews:\n  - {{type: table, name: A, order: [file.name, rating], \
             summaries: {{rating: Sum, file.name: Unique}}{more}}}\n"
        )
    };
    let plain = run(&base(""), &vault(), None, None).unwrap().to_grouped_markdown();
    let header = "| file name | rating |\n| --- | --- |\n";
    let all = "rating Sum: 24; file.name Unique: 4\n";
    assert_eq!(plain, format!("{header}| Dune | 9 |\n| Emma | 7 |\n| Ubik | 8 |\n| Zeno |  |\n{all}"));
    let grouped = run(&base(", groupBy: {property: status, direction: DESC}"), &vault(), None, None).unwrap();
    assert_eq!(
        grouped.to_grouped_markdown(),
        format!(
            "open (2 rows; rating Sum: 8; file.name Unique: 2)\n{header}| Ubik | 8 |\n| Zeno |  |\n\
             done (2 rows; rating Sum: 16; file.name Unique: 2)\n| Dune | 9 |\n| Emma | 7 |\n{all}"
        )
    );
}

#[test]
fn a_view_without_rows_says_which_names_no_file_has() {
    for (filter, hints) in [
        ("file.hasTag(\"sff\")", vec!["no note has the tag #sff; did you mean #sf?"]),
        ("file.inFolder(\"Boks\")", vec!["there is no folder \"Boks\"; did you mean \"Books\"?"]),
        ("Ratng > 3 && status == 1", vec!["no note has the property ratng; did you mean rating?"]),
        ("rating > 99 || [1].map(value).contains(5)", vec![]),
    ] {
        let base = BaseFile::parse(&format!("filters: '{filter}'\nviews: [{{type: table, name: A}}]\n")).unwrap();
        let found = with_context(None, |context| base.unknown_names(None, &vault(), context)).unwrap();
        assert_eq!(found, hints, "{filter}");
    }
}

#[test]
fn a_grouped_view_is_written_with_its_groups_and_sums() {
    let base = "filters: 'file.inFolder(\"Books\")'\nviews: [{type: table, name: A, order: [file.name], sort: [{property: file.name, \
                direction: ASC}], groupBy: {property: status, direction: ASC}, summaries: {rating: Sum}}]\n";
    let answer = run(base, &vault(), None, None).unwrap();
    let groups = answer.groups.as_ref().unwrap();
    let csv = answer.to_grouped_csv();
    assert!(csv.starts_with("group,file name\r\n"), "{csv}");
    assert_eq!(csv.lines().count(), answer.rows.len() + 1);
    let markdown = answer.to_grouped_markdown();
    for group in groups {
        let heading = answer.group_heading(group).into_owned();
        let in_csv = if group.key.is_null() { ",".to_owned() } else { format!("{heading},") };
        let count = csv.lines().skip(1).filter(|line| line.starts_with(&in_csv)).count();
        assert_eq!(count, group.rows.len(), "{heading}: {csv}");
        assert!(markdown.lines().any(|line| line.starts_with(&format!("{heading} ("))), "{markdown}");
    }
    assert!(groups.len() > 1 && markdown.contains("rating Sum: "), "{markdown}");
    // What is not grouped has no such column.
    let plain = run("views: [{type: table, name: A, order: [file.name]}]\n", &vault(), None, None).unwrap();
    assert_eq!(plain.to_grouped_csv(), plain.to_csv());
}
