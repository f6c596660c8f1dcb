//! Tests of changes of tasks.

use proptest::prelude::*;

use super::*;

fn today() -> Date {
    "2026-04-15".parse().unwrap()
}

fn plugin() -> TaskSettings {
    TaskSettings {
        in_dataview_fields: false,
        sets_done_date: true,
        sets_cancelled_date: true,
        sets_created_date: false,
        next_is_below: false,
    }
}

fn after(note: &str, line: usize, change: &TaskChange, settings: Option<TaskSettings>) -> String {
    let document = Document::open(note.to_owned()).unwrap();
    let place = tasks_of(&document).into_iter().find(|task| task.line == line).unwrap();
    let edited = edited(&document, &place, change, settings, today()).unwrap();
    edited.document.raw().to_owned()
}

fn status(status: char) -> TaskChange {
    TaskChange { status: Some(status), ..TaskChange::default() }
}

#[test]
fn a_tick_is_written_in_the_way_of_the_note() {
    for (note, settings, expected) in [
        ("- [ ] a\n", None, "- [x] a\n"),
        ("- [ ] a\n", Some(plugin()), "- [x] a ✅ 2026-04-15\n"),
        ("- [ ] a\n", Some(TaskSettings { sets_done_date: false, ..plugin() }), "- [x] a\n"),
        ("- [ ] a 📅 2026-04-01\n", None, "- [x] a 📅 2026-04-01 ✅ 2026-04-15\n"),
        ("- [ ] a [due:: 2026-04-01]\n", Some(plugin()), "- [x] a [due:: 2026-04-01]  [completion:: 2026-04-15]\n"),
        (
            "- [ ] a\n- [ ] b [due:: 2026-04-01]\n",
            None,
            "- [x] a  [completion:: 2026-04-15]\n- [ ] b [due:: 2026-04-01]\n",
        ),
        ("> 1) [/] a ⏳ 2026-04-01 ^id  \r\n", None, "> 1) [x] a ⏳ 2026-04-01 ✅ 2026-04-15 ^id  \r\n"),
        ("- [-] a ❌ 2026-04-01", None, "- [x] a ✅ 2026-04-15"),
    ] {
        assert_eq!(after(note, 1, &status('x'), settings), expected, "{note}");
    }
}

#[test]
fn a_recurring_task_comes_back_as_the_plugin_writes_it() {
    for (note, settings, expected) in [
        (
            "- [ ] water 🔁 every 3 days 📅 2026-04-14\n",
            plugin(),
            "- [ ] water 🔁 every 3 days 📅 2026-04-17\n- [x] water 🔁 every 3 days 📅 2026-04-14 ✅ 2026-04-15\n",
        ),
        (
            "- [ ] pay 🆔 a1 🔁 every month on the 1st 🛫 2026-03-25 📅 2026-04-01 ^b1",
            plugin(),
            "- [ ] pay 🔁 every month on the 1st 🛫 2026-04-24 📅 2026-05-01\n\
             - [x] pay 🆔 a1 🔁 every month on the 1st 🛫 2026-03-25 📅 2026-04-01 ✅ 2026-04-15 ^b1",
        ),
        (
            "- [ ] call  [repeat:: every week when done]  [due:: 2026-04-01]\n  - [ ] inner\n",
            TaskSettings { next_is_below: true, sets_created_date: true, ..plugin() },
            "- [x] call  [repeat:: every week when done]  [due:: 2026-04-01]  [completion:: 2026-04-15]\n\
             - [ ] call  [repeat:: every week when done]  [created:: 2026-04-15]  [due:: 2026-04-22]\n  - [ ] inner\n",
        ),
        ("- [ ] once 🏁 delete\n- b\n", plugin(), "- b\n"),
        (
            "- [ ] often 🔁 every day 🏁 delete 📅 2026-04-15\n",
            plugin(),
            "- [ ] often 🔁 every day 🏁 delete 📅 2026-04-16\n",
        ),
    ] {
        assert_eq!(after(note, 1, &status('x'), Some(settings)), expected, "{note}");
    }
}

#[test]
fn unknown_rules_are_named() {
    let document = Document::open("- [ ] a 🔁 every January 📅 2026-04-14\n".to_owned()).unwrap();
    let place = tasks_of(&document).remove(0);
    let refused = edited(&document, &place, &status('x'), None, today()).err();
    assert_eq!(refused, Some(TaskEditError::Rule("every January".to_owned())));
    let change = TaskChange { without_next: true, ..status('x') };
    assert!(edited(&document, &place, &change, None, today()).is_ok());
}

#[test]
fn other_parts_change_alone() {
    let day = |date: &str| Some(date.parse().unwrap());
    let change = TaskChange {
        dates: vec![(TaskFieldKind::Due, day("2026-05-01")), (TaskFieldKind::Start, None)],
        priority: Some(Some(TaskPriority::High)),
        description: Some("new words".to_owned()),
        ..TaskChange::default()
    };
    let note = "# H\r\n* [?] old words 🛫 2026-04-01 📅 2026-04-02 ^x\r\n\r\nrest\r\n";
    let expected = "# H\r\n* [?] new words ⏫ 📅 2026-05-01 ^x\r\n\r\nrest\r\n";
    assert_eq!(after(note, 2, &change, None), expected);
}

proptest! {
    #[test]
    fn a_task_that_is_ticked_and_ticked_back_is_the_same(
        marker in "(- |\\* |1\\. |> - |  - )",
        text in "[a-z \\[\\]()#^:é📅⏳🛫⏫🆔0-9-]{0,40}",
        around in "[a-z]{0,5}",
        end in "(\n|\r\n|)",
        with_plugin in any::<bool>(),
        dataview in any::<bool>(),
    ) {
        let settings = with_plugin.then(|| TaskSettings { in_dataview_fields: dataview, ..plugin() });
        let note = format!("{around}\n\n{marker}[ ] {text}{end}");
        let document = Document::open(note.clone()).unwrap();
        let tasks = tasks_of(&document);
        prop_assume!(tasks.len() == 1);
        let line = tasks[0].text(&document);
        // A done date is removed when it is ticked back, also one that was there before.
        prop_assume!(line.value(TaskFieldKind::Done).is_none() && line.value(TaskFieldKind::Cancelled).is_none());
        let ticked = edited(&document, &tasks[0], &status('x'), settings, today()).unwrap();
        let place = tasks_of(&ticked.document).remove(0);
        prop_assert_eq!(place.status, 'x');
        let back = edited(&ticked.document, &place, &status(' '), settings, today()).unwrap();
        prop_assert_eq!(back.document.raw(), note);
    }
}
