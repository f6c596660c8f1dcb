//! Random rule files, compared with git itself.

#![expect(clippy::disallowed_methods, reason = "git reads them from a disk")]

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::{FoldedPath, PatternFile, RuleProblem};

/// Cases where git deviates from our documentation are left out: bytes instead of characters in `?` and classes, and
/// single capital letters in classes or after a backslash, which it compares case-sensitively even when it ignores
/// case.
const PIECES: &[&str] = &[
    "a",
    "b",
    "c",
    "a",
    "b",
    "ab",
    "x",
    "A",
    "B",
    ".md",
    ".",
    "-",
    "1",
    " ",
    "{",
    "}",
    "{a,b}",
    ",",
    "!",
    "#",
    "$",
    "(",
    "+",
    "^",
    "]",
    "|",
    "~",
    "*",
    "*",
    "*",
    "**",
    "**",
    "***",
    "?",
    "?",
    "/",
    "/",
    "/",
    "/",
    "/**/",
    "**/",
    "/**",
    "a/**",
    "a**/x",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[A-C]",
    "[A-_]",
    "[]a]",
    "[!]a]",
    "[a-]",
    "[-a]",
    "[[:alpha:]]",
    "[[:digit:]a]",
    "[![:alpha:]]",
    "[[:upper:]]",
    "[[:punct:]]",
    "[[:]a]",
    "[[a]",
    "[a[:]",
    "[a/b]",
    "[\\]a]",
    "[\\a-c]",
    "[a-\\c]",
    "[a-b-c]",
    "[*]",
    "[?x]",
    "\\a",
    "\\*",
    "\\?",
    "\\[",
    "\\ ",
    "\\!",
    "\\#",
    "\\\\",
    "\\/",
    "[b",
    "[[:nope:]]",
    "[c-a]",
    "\\",
];
const NAMES: &[&str] = &[
    "a", "b", "c", "x", "ab", "abx", "A", "B", "Ab", "a.md", "b.md", "x.md", "A.MD", "1", "a1", "a b", "a ", " a",
    "{a,b}", "{", "a{b}", "a]", "[b", "-", "a-b", "!a", "#a", "*", "a*", "?", "\\", "a\\", "$", "^b", "_", "~", "(",
    "|", "+",
];
/// Of more than one byte; git has no trouble with them beside `*`.
const ACCENTED: &[&str] = &["é", "日本", "aé", "é.md", "ñ/", "*é"];

/// Pseudo-random numbers, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

fn line(dice: &mut Dice, accented: bool) -> String {
    if accented {
        let mut line = ["", "", "/", "!"][dice.below(4)].to_owned();
        for _ in 0..1 + dice.below(3) {
            line += if dice.below(2) == 0 { dice.one_of(ACCENTED) } else { dice.one_of(&["a", "/", "*", "**/", "x"]) };
        }
        return line;
    }
    let mut line = ["", "", "", "", "/", "!", "!", "!/", " ", "#"][dice.below(10)].to_owned();
    // Plain names match more often than random combinations.
    if dice.below(3) == 0 {
        line += dice.one_of(NAMES);
        line += ["", "/", "*", "/*", "/**", "/b", "/a", "/x"][dice.below(8)];
    } else {
        for _ in 0..1 + dice.below(5) {
            line += dice.one_of(PIECES);
        }
    }
    line + ["", "", "", "", "/", "/", " ", "  ", "\t", "\\ "][dice.below(10)]
}

fn path(dice: &mut Dice, accented: bool) -> String {
    let names = 1 + dice.below(4);
    let mut names = (0..names).map(|_| match accented && dice.below(2) == 0 {
        true => dice.one_of(ACCENTED).trim_matches(['*', '/']),
        false => dice.one_of(NAMES),
    });
    let first = names.next().unwrap_or("a").to_owned();
    names.fold(first, |path, name| path + "/" + name)
}

/// Capital letters where git compares case-sensitively.
fn has_case(line: &str) -> bool {
    let rest = line.replace("[A-C]", "").replace("[A-_]", "");
    let is_large = |letter: char| letter.is_ascii_uppercase();
    rest.contains(is_large) && rest.contains(['[', '\\'])
}

struct Set {
    rules: String,
    patterns: PatternFile,
    paths: Vec<String>,
}

/// Sets that we can read; git must match nothing with those that we refuse.
fn sets(dice: &mut Dice, count: usize, dead: &mut Vec<String>) -> Vec<Set> {
    let mut sets = Vec::new();
    while sets.len() < count {
        let accented = dice.below(8) == 0;
        let lines: Vec<String> = (0..1 + dice.below(5)).map(|_| line(dice, accented)).collect();
        let rules = lines.join(["\n", "\n", "\r\n"][dice.below(3)]) + ["", "\n", "\r\n", "\n\n"][dice.below(4)];
        if lines.iter().any(|line| has_case(line)) {
            continue;
        }
        match PatternFile::parse(&rules) {
            Ok(patterns) => {
                let paths = (0..6).map(|_| path(dice, accented)).collect();
                sets.push(Set { rules, patterns, paths });
            }
            Err(RuleProblem::Pattern { line }) => dead.push(lines[line - 1].clone()),
            Err(problem) => panic!("{rules:?}: {problem}"),
        }
    }
    sets
}

/// The result of `git check-ignore` for each path of each set, as a file and as a folder. `None` without git.
fn asked_of_git(sets: &[Set]) -> Option<Vec<Vec<[bool; 2]>>> {
    // Thousands of small folders: in memory if possible.
    let in_memory = Path::new("/dev/shm");
    let folder = if in_memory.is_dir() { tempfile::tempdir_in(in_memory) } else { tempfile::tempdir() }.unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).env_clear().args(["-c", "core.ignorecase=true", "-c", "core.excludesfile="]);
        git.env("PATH", env!("PATH")).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", folder.path());
        git.args(arguments);
        git
    };
    if !git(&["init", "--quiet", "."]).status().is_ok_and(|status| status.success()) {
        return None;
    }
    let mut questions = String::new();
    for (number, set) in sets.iter().enumerate() {
        // Git treats a missing path as a file, and as a folder only if it is one.
        for kind in ["file", "folder"] {
            let around = folder.path().join(format!("{number}-{kind}"));
            fs::create_dir(&around).unwrap();
            fs::write(around.join(".gitignore"), &set.rules).unwrap();
            for path in &set.paths {
                if kind == "folder" {
                    fs::create_dir_all(around.join(path)).unwrap();
                }
                write!(questions, "{number}-{kind}/{path}\0").unwrap();
            }
        }
    }
    fs::write(folder.path().join("questions"), questions).unwrap();
    let questions = fs::File::open(folder.path().join("questions")).unwrap();
    let answered = git(&["check-ignore", "-z", "--stdin", "--no-index"])
        .stdin(Stdio::from(questions))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let answer = String::from_utf8(answered.stdout).unwrap();
    let ignored: std::collections::HashSet<&str> = answer.split_terminator('\0').collect();
    let said = |number: usize, kind, path: &str| ignored.contains(&*format!("{number}-{kind}/{path}"));
    let answers = sets.iter().enumerate().map(|(number, set)| {
        set.paths.iter().map(|path| [said(number, "file", path), said(number, "folder", path)]).collect()
    });
    Some(answers.collect())
}

fn compare(seed: u64, count: usize) {
    let mut dice = Dice(seed);
    let mut dead = Vec::new();
    let sets = sets(&mut dice, count, &mut dead);
    let Some(answers) = asked_of_git(&sets) else {
        println!("skipped: there is no git here to compare with");
        return;
    };
    let mut hits = 0;
    for (set, answers) in sets.iter().zip(answers) {
        for (path, git) in set.paths.iter().zip(answers) {
            let folded = FoldedPath::new(path);
            let ours = [false, true].map(|is_folder| set.patterns.cover_as(&folded, is_folder));
            assert_eq!(ours, git, "{path:?} as a file and as a folder, under {:?}", set.rules);
            hits += git.iter().filter(|hit| **hit).count();
        }
    }
    assert!(hits > count, "only {hits} of the paths are covered at all");
    // Git reads a reversed range as empty and continues.
    let backwards = |line: &str| line.contains('-');
    let nothing = PatternFile::default();
    let alone = dead.into_iter().filter(|line| !backwards(line)).map(|line| Set {
        paths: (0..6).map(|_| path(&mut dice, false)).collect(),
        rules: line.trim_start_matches('!').to_owned(),
        patterns: nothing.clone(),
    });
    let alone: Vec<Set> = alone.collect();
    for (set, answers) in alone.iter().zip(asked_of_git(&alone).unwrap_or_default()) {
        assert!(!answers.concat().contains(&true), "refused, but git makes something of {:?}", set.rules);
    }
}

#[test]
fn rule_files_mean_what_git_takes_them_for() {
    for seed in [0x1a91_da27, 0x2c3b_5e11, 0x47f0_9d03, 0x6b2e_11f5] {
        compare(seed, 500);
    }
}

/// For `make soak`: some minutes.
#[test]
#[ignore = "a hundred thousand sets take minutes"]
fn a_hundred_thousand_rule_files_mean_what_git_takes_them_for() {
    for round in 1..=200 {
        compare(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(round), 500);
    }
}
