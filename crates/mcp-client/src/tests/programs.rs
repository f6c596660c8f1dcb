//! Programs of strangers.

use std::sync::atomic::{AtomicBool, Ordering};

use lapidary_operation::FailedCall;
use rustix::process::{Pid, test_kill_process};

use super::*;

/// A program that shakes hands, lists its tools by one part of a script and answers calls by another; `$id` is that of the
/// request.
fn script(list: &str, call: &str) -> String {
    format!(
        r#"while read -r line; do
             id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
             case "$line" in
               *'"method":"initialize"'*) answer '{}';;
               *'"method":"tools/list"'*) {list};;
               *'"method":"tools/call"'*) {call};;
             esac
           done"#,
        welcome()
    )
}

const ANSWER: &str = r#"answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
"#;
const TWELVE: &str = r#"answer '{"content":[{"type":"text","text":"12"}]}'"#;

fn program(script: &str) -> ServerPlace {
    let args = vec!["-c".to_owned(), format!("{ANSWER}{script}")];
    ServerPlace::Program { command: "sh".to_owned(), args, variables: environment() }
}

fn running(script: &str) -> ConfiguredServers {
    ConfiguredServers::new(vec![settings(program(script))])
}

fn lists_count() -> String {
    format!("answer '{}'", listed(&["count"]))
}

fn honest() -> String {
    script(&lists_count(), TWELVE)
}

#[test]
fn an_honest_program_is_started_once_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let servers = running(&format!("echo x >> '{}'\n{}", starts.display(), honest()));
    assert!(servers.servers()[0].offer.is_none(), "nothing is started before it is needed");
    assert_eq!(names(&servers), ["count"]);
    for _ in 0..3 {
        assert_eq!(called(&servers).as_ref().map(text), Ok("12"));
    }
    assert!(servers.servers()[0].offer.is_some());
    #[expect(clippy::disallowed_methods, reason = "the test looks at what the program wrote")]
    let started = std::fs::read_to_string(starts).unwrap();
    assert_eq!(started, "x\n");
    let unknown = servers.tools("other", LONG);
    assert_eq!(unknown, Err(ServerFault::Unknown { known: vec![NAME.to_owned()] }));
}

#[test]
fn a_program_gets_no_variable_but_those_of_its_own() {
    let shows =
        r#"answer "{\"content\":[{\"type\":\"text\",\"text\":\"$(env | sed 's/=.*//' | sort | tr '\n' ' ') $OWN\"}]}""#;
    let ServerPlace::Program { command, args, mut variables } = program(&script(&lists_count(), shows)) else {
        panic!("not a program")
    };
    variables.insert("OWN".to_owned(), "value".to_owned());
    let servers = ConfiguredServers::new(vec![settings(ServerPlace::Program { command, args, variables })]);
    let reply = called(&servers).unwrap();
    // The shell adds a few.
    let theirs: Vec<&str> = reply.text.split_whitespace().collect();
    let known = ["OWN", "PATH", "PWD", "OLDPWD", "SHLVL", "_", "value"];
    assert!(theirs.contains(&"value") && theirs.iter().all(|name| known.contains(name)), "{theirs:?}");
}

#[test]
fn a_program_that_cannot_be_started_or_is_no_server_is_named_as_such() {
    let missing = ServerPlace::Program {
        command: "/nowhere/at-all".to_owned(),
        args: vec!["--token=sekret".to_owned()],
        variables: environment(),
    };
    let servers = ConfiguredServers::new(vec![settings(missing)]);
    assert_eq!(failed(&servers), (ServerFault::NotStarted, false));
    for (script, fault) in [
        ("exit 3", ServerFault::Ended),
        ("echo 'Welcome to my shell!'; read -r line; exit 0", ServerFault::NotMcp),
        ("while :; do echo garbage; done", ServerFault::NotMcp),
        (r#"read -r line; echo '{"id":1,"result":{}}'; cat"#, ServerFault::NotMcp),
        (r#"read -r line; echo '{"id":1,"result":{"protocolVersion":"9999-01-01"}}'; cat"#, ServerFault::NotMcp),
        (
            r#"read -r line; echo '{"id":1,"error":{"code":-32600,"message":"sekret"}}'; cat"#,
            ServerFault::Refused { code: -32600 },
        ),
    ] {
        assert_eq!(failed(&running(script)), (fault, false), "{script}");
    }
}

#[test]
fn a_banner_is_forgiven() {
    let servers = running(&format!("echo 'Secure server running'; echo; {}", honest()));
    assert_eq!(called(&servers).as_ref().map(text), Ok("12"));
}

#[test]
fn a_flood_ends_the_program_and_not_this_one() {
    let endless_line = "while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done";
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}"#;
    let endless_notes = format!("yes '{note}'");
    let requests = r#"yes '{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{}}'"#;
    let servers = running(&script(&lists_count(), endless_line));
    let (fault, is_sent) = failed(&servers);
    assert!(matches!(fault, ServerFault::TooMuch { .. }) && is_sent, "{fault:?}");
    for flood in [&endless_notes, requests] {
        let servers = running(&script(&lists_count(), flood));
        assert_eq!(failed(&servers), (ServerFault::Flood { limit: 2 << 20, seconds: 10 }, true), "{flood}");
    }
    let values = script(
        &lists_count(),
        r#"printf '{"id":%s,"result":[1' "$id"; yes ,1 | head -n 300000 | tr -d '\n'; echo ']}'"#,
    );
    assert!(matches!(failed(&running(&values)).0, ServerFault::TooMuch { .. }));
}

#[test]
fn a_reply_over_the_owners_limit_is_refused() {
    let large = format!("answer '{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}'", "x".repeat(5_000));
    let mut small = settings(program(&script(&lists_count(), &large)));
    small.max_reply_bytes = 1_000;
    let servers = ConfiguredServers::new(vec![small]);
    assert_eq!(failed(&servers), (ServerFault::TooMuch { limit: 1_000 }, true));
    assert_eq!(names(&servers), ["count"], "and the program goes on");
}

#[test]
fn a_program_that_dies_in_the_middle_is_started_again_but_not_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("died");
    let once = format!("if [ -e '{0}' ]; then {TWELVE}; else touch '{0}'; exit 1; fi", mark.display());
    let servers = running(&script(&lists_count(), &once));
    assert_eq!(failed(&servers), (ServerFault::Ended, true), "the call is not made a second time");
    assert_eq!(called(&servers).as_ref().map(text), Ok("12"));
    let always = running(&script(&lists_count(), "exit 1"));
    assert_eq!(failed(&always), (ServerFault::Ended, true));
    assert_eq!(failed(&always), (ServerFault::Ended, true));
    assert!(matches!(failed(&always), (ServerFault::Resting { .. }, false)));
}

#[test]
fn a_call_that_is_never_answered_ends_in_time_and_the_program_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let silent = format!(
        r#"{ANSWER}while read -r line; do
             id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
             case "$line" in
               *'"method":"initialize"'*) answer '{}';;
               *'notifications/cancelled'*) echo "$line" > '{}';;
             esac
           done"#,
        welcome(),
        told.display()
    );
    let servers = running(&silent);
    let timed = servers.call(&call_of("count"), Duration::from_millis(1_500), &|| true);
    assert_eq!(timed, Err(FailedCall { fault: ServerFault::TimedOut, is_sent: true }));
    #[expect(clippy::disallowed_methods, reason = "the test looks at what the program wrote")]
    let is_told = || std::fs::read_to_string(&told).is_ok_and(|line| line.contains(r#""requestId":2"#));
    for _ in 0..500 {
        if is_told() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_told());
    // A caller that goes away is not waited for, and no one is blamed.
    let is_wanted = AtomicBool::new(true);
    let looks = || is_wanted.swap(false, Ordering::Relaxed);
    let taken = servers.call(&call_of("count"), LONG, &looks);
    assert!(matches!(taken, Err(FailedCall { fault: ServerFault::TakenBack, .. })), "{taken:?}");
}

#[test]
fn what_a_server_wants_from_us_is_refused_and_its_call_goes_on() {
    let asks = format!(
        r#"echo '{{"jsonrpc":"2.0","id":77,"method":"roots/list"}}'; read -r refused
           case "$refused" in *'"id":77'*'-32601'*) {TWELVE};; *) exit 1;; esac"#
    );
    assert_eq!(called(&running(&script(&lists_count(), &asks))).as_ref().map(text), Ok("12"));
}

#[test]
fn a_list_is_bounded_and_has_only_names_that_can_be_shown() {
    let odd = [
        "count",
        "count",
        "obsidian_get_note",
        "",
        "two words",
        "run\\u001b[2J",
        "\\u202egnp",
        "`undo`",
        "ns/tool.x-1",
    ];
    let odd: Vec<String> = odd.iter().map(|name| format!(r#"{{"name":"{name}","inputSchema":[]}}"#)).collect();
    let list = format!(r#"answer '{{"tools":[{},7,null]}}'"#, odd.join(","));
    let servers = running(&script(&list, TWELVE));
    let offer = servers.tools(NAME, LONG).unwrap();
    assert_eq!(names(&servers), ["count", "obsidian_get_note", "ns/tool.x-1"]);
    assert_eq!(offer.left_out, 8);

    let many = r#"printf '{"id":%s,"result":{"tools":[{"name":"t0"}' "$id"; i=1
        while [ $i -lt 10000 ]; do printf ',{"name":"t%s","description":"d"}' $i; i=$((i+1)); done; echo ']}}'"#;
    let offer = running(&script(many, TWELVE)).tools(NAME, LONG).unwrap();
    assert_eq!((offer.tools.len(), offer.left_out), (500, 9_500));

    let same =
        format!(r#"answer '{{"tools":[{{"name":"a","description":"{}"}}],"nextCursor":"x"}}'"#, "é".repeat(9_000));
    let offer = running(&script(&same, TWELVE)).tools(NAME, LONG).unwrap();
    assert_eq!((offer.tools.len(), offer.tools[0].description.len()), (1, 4_000), "a list that goes in circles ends");

    let wide = format!(r#"answer '{{"tools":[{{"name":"a","inputSchema":{{"x":"{}"}}}}]}}'"#, "x".repeat(40_000));
    assert_eq!(running(&script(&wide, TWELVE)).tools(NAME, LONG).unwrap().tools[0].input, None);
    let deep = format!(
        r#"answer '{{"tools":[{{"name":"a","inputSchema":{}1{}}}]}}'"#,
        r#"{"a":"#.repeat(200),
        "}".repeat(200)
    );
    assert_eq!(running(&script(&deep, TWELVE)).tools(NAME, LONG), Err(ServerFault::NotMcp));
}

#[test]
fn the_owner_says_which_tools_there_are_and_which_only_read() {
    let all = listed(&["read_file", "read_secret", "write_file", "list"]);
    let mut chosen = settings(program(&script(&format!("answer '{all}'"), TWELVE)));
    chosen.allow = patterns(&["read_*", "write_*"]);
    chosen.deny = patterns(&["*secret*"]);
    chosen.read_only = patterns(&["read_*"]);
    let servers = ConfiguredServers::new(vec![chosen]);
    let offer = servers.tools(NAME, LONG).unwrap();
    let standing: Vec<_> =
        offer.tools.iter().map(|tool| (tool.name.as_str(), tool.standing.only_reads, tool.standing.is_asked)).collect();
    assert_eq!(standing, [("read_file", true, false), ("write_file", false, true)]);
    assert_eq!(offer.left_out, 0, "what the owner closed is not counted either");
}

#[test]
fn a_list_that_changed_is_asked_for_again() {
    let once = format!("answer '{}'", listed(&["one"]));
    let twice = format!("answer '{}'", listed(&["one", "two"]));
    let list = format!("if [ -z \"$n\" ]; then n=1; {once}; else {twice}; fi");
    let changes = format!("echo '{{\"method\":\"notifications/tools/list_changed\"}}'; {TWELVE}");
    let servers = running(&script(&list, &changes));
    assert_eq!(names(&servers), ["one"]);
    assert_eq!(names(&servers), ["one"], "it is kept");
    assert!(called(&servers).is_ok());
    assert_eq!(names(&servers), ["one", "two"]);
}

#[test]
fn nothing_that_a_server_started_is_left_when_we_stop() {
    let shows = r#"sleep 1000 & answer "{\"content\":[{\"type\":\"text\",\"text\":\"$$ $!\"}]}""#;
    // It ignores the end of its input.
    let stubborn = format!("{}\nexec sleep 1000", script(&lists_count(), shows));
    let servers = running(&stubborn);
    let reply = called(&servers).unwrap();
    let processes: Vec<Pid> =
        reply.text.split(' ').map(|number| Pid::from_raw(number.parse().unwrap()).unwrap()).collect();
    assert!(processes.iter().all(|process| test_kill_process(*process).is_ok()));
    servers.stop();
    assert!(test_kill_process(processes[0]).is_err(), "it has ended, and was waited for");
    // Its child is adopted by another process, which reaps it in its own time.
    let is_gone = || test_kill_process(processes[1]).is_err() || is_zombie(processes[1]);
    for _ in 0..500 {
        if is_gone() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_gone());
    assert_eq!(failed(&servers), (ServerFault::Ended, false), "no call starts it again");
}

#[expect(clippy::disallowed_methods, reason = "the test asks the system about a process")]
fn is_zombie(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()));
    status.is_ok_and(|status| status.contains("State:\tZ"))
}

#[test]
fn its_words_for_people_are_kept_short_and_are_in_no_answer() {
    let talks = format!(
        "i=0; while [ $i -lt 50 ]; do echo \"word $i\" >&2; i=$((i+1)); done; printf 'no end' >&2; head -c 300000 /dev/zero >&2; echo >&2; {}",
        honest()
    );
    let servers = running(&talks);
    assert_eq!(called(&servers).as_ref().map(text), Ok("12"));
    let words = servers.last_words(NAME);
    assert!(words.len() <= 8 && words.iter().all(|line| line.len() < 3_000), "{words:?}");
}

#[test]
fn slow_calls_do_not_take_all_places() {
    let slow = script(&lists_count(), "sleep 1000");
    let servers = running(&slow);
    let is_wanted = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| servers.call(&call_of("count"), LONG, &|| is_wanted.load(Ordering::Relaxed)));
        }
        let mut refused = None;
        for _ in 0..500 {
            match servers.call(&call_of("count"), LONG, &|| false) {
                Err(FailedCall { fault: ServerFault::Busy, is_sent }) => {
                    refused = Some(is_sent);
                    break;
                }
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        is_wanted.store(false, Ordering::Relaxed);
        assert_eq!(refused, Some(false));
    });
}
