//! How file names are compared with the caller's text.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobMatcher};
use lapidary_operation::{Reason, clipped, quote::Prose};
use lapidary_query::{Pattern, PatternError, PatternKind, PatternOptions};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// `é` can be one character or two; callers should not have to care which one a disk uses.
pub fn composed(name: &str) -> Cow<'_, str> {
    if is_nfc(name) { Cow::Borrowed(name) } else { Cow::Owned(name.nfc().collect()) }
}

/// Longer patterns are not useful and cost too much to compile.
const LONGEST: usize = 1000;

/// A pattern for paths: `*` and `?` stay within a name, `**` spans folders, `{a,b}` and `[a-z]` are alternatives, and a
/// leading `!` negates it.
pub struct NameGlob {
    matcher: GlobMatcher,
    negated: bool,
}

impl NameGlob {
    pub fn parse(tool: &str, argument: &str, given: &str) -> Result<Self, Reason> {
        const EXTENDED: [&str; 5] = ["@(", "+(", "?(", "*(", "!("];
        let refused = |problem: Prose| Reason::bad_argument(tool, argument, problem);
        if given.chars().count() > LONGEST {
            return Err(refused(Prose::ours(format_args!("must have at most {LONGEST} characters"))));
        }
        // Globs of other tools would be taken for literal text and match nothing, silently.
        if EXTENDED.iter().any(|opening| given.contains(opening)) {
            return Err(refused("is not a pattern: write {a,b} instead of @(a|b)".into()));
        }
        let (pattern, negated) = given.strip_prefix('!').map_or((given, false), |rest| (rest, true));
        let pattern = composed(pattern).replace('\\', "/");
        // Paths have no leading slash, and people write one.
        let pattern = pattern.trim_start_matches("./").trim_start_matches('/');
        let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(false).build();
        let glob = glob.map_err(|error| {
            refused(Prose::ours(format_args!("is not a pattern: {}", Prose::of_others(error.kind()))))
        })?;
        Ok(Self { matcher: glob.compile_matcher(), negated })
    }

    pub fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(&*composed(path)) != self.negated
    }
}

/// A regular expression for names, matched anywhere in them. Those with lookaround have a limited number of steps.
pub struct NameRegex {
    argument: &'static str,
    written: String,
    /// `None` matches everything, as an empty expression does.
    pattern: Option<Pattern>,
}

impl NameRegex {
    pub fn parse(argument: &'static str, given: &str) -> Result<Self, Reason> {
        let options = PatternOptions { kind: PatternKind::Regex, nfc: true, ..PatternOptions::default() };
        let written = clipped(given);
        match Pattern::compile(given, &options) {
            Ok(pattern) => Ok(Self { argument, written, pattern: Some(pattern) }),
            Err(PatternError::Empty) => Ok(Self { argument, written, pattern: None }),
            Err(error) => Err(pattern_refusal(argument, given, &error)),
        }
    }

    /// As the note tools have always accepted it: short, and without nested repetitions where they cost time.
    pub fn guarded(argument: &'static str, given: &str) -> Result<Self, Reason> {
        guard_regex(argument, given, 256)?;
        Self::parse(argument, given)
    }

    pub fn matches(&self, name: &str) -> Result<bool, Reason> {
        let Some(pattern) = &self.pattern else { return Ok(true) };
        pattern.is_match(name).map_err(|undecided| Reason::RegexUnsafe {
            argument: self.argument,
            pattern: self.written.clone(),
            problem: Prose::ours(undecided),
        })
    }
}

/// Why an expression cannot be used, for the caller.
pub fn pattern_refusal(argument: &'static str, given: &str, error: &PatternError) -> Reason {
    let (pattern, problem) = (clipped(given), Prose::ours(error));
    match error {
        PatternError::TooLong { .. } | PatternError::TooLarge { .. } => {
            Reason::RegexUnsafe { argument, pattern, problem }
        }
        PatternError::Empty | PatternError::Refused { .. } => Reason::RegexInvalid { argument, pattern, problem },
    }
}

/// Refuses what the note tools have always refused: long expressions and nested repetitions. The latter only with
/// lookaround or backreferences: without them matching is linear.
pub fn guard_regex(argument: &'static str, given: &str, longest: usize) -> Result<(), Reason> {
    // A repetition of a group that ends with a repetition.
    let nested = |three: &[u8]| matches!(three, [b'+' | b'*' | b'}', b')', b'*' | b'+' | b'{']);
    let problem = if given.chars().count() > longest {
        Prose::ours(format_args!("pattern exceeds {longest}-character limit"))
    } else if given.as_bytes().windows(3).any(nested) && Pattern::backtracks(given) {
        "pattern contains nested quantifiers".into()
    } else {
        return Ok(());
    };
    Err(Reason::RegexUnsafe { argument, pattern: clipped(given), problem })
}

#[cfg(test)]
mod tests {
    use lapidary_operation::ReasonKind;

    use super::*;

    #[test]
    fn globs_match_paths() {
        for (pattern, found, not) in [
            ("*.md", &["a.md", "größe 石.md"][..], &["a/b.md", "a.txt", "a.MD"][..]),
            ("**/*.md", &["a.md", "a/b/c.md"], &["a.canvas"]),
            ("a/**", &["a/b", "a/b/c.md"], &["b"]),
            ("{a,b}?.[cm]d", &["a1.md", "bx.cd"], &["c1.md", "a.md"]),
            ("!*.md", &["a.png", "a/b.md"], &["a.md"]),
            ("./a\\*.md", &["a/b.md"], &["a/b/c.md"]),
            ("caf\u{e9}*", &["cafe\u{301}.md"], &["cafe.md"]),
        ] {
            let glob = NameGlob::parse("t", "glob", pattern).unwrap();
            assert!(found.iter().all(|path| glob.matches(path)), "{pattern}");
            assert!(!not.iter().any(|path| glob.matches(path)), "{pattern}");
        }
        for pattern in ["[a", "{a", "@(a|b)", &"a".repeat(1001)] {
            assert_eq!(
                NameGlob::parse("t", "glob", pattern).err().unwrap().kind(),
                ReasonKind::InvalidArguments,
                "{pattern}"
            );
        }
    }

    #[test]
    fn expressions_match_names() {
        for (pattern, name, found) in [
            (r"^\d{4}-\d\d", "2026-04-13.md", true),
            (r"^(?!Work).*\.md$", "Work.md", false),
            (r"^(?!Work).*\.md$", "Home.md", true),
            (r"a\/b", "x/a/b", true),
            ("(?<=2026-)04", "2026-04-13.md", true),
            ("\u{e9}", "cafe\u{301}", true),
            ("", "anything", true),
            ("^(ab+){2}$", "abbab", true),
            (r"^\d{2,}(,\d{3})*$", "12,345,678", true),
            ("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false),
        ] {
            assert_eq!(NameRegex::guarded("nameRegex", pattern).unwrap().matches(name).unwrap(), found, "{pattern}");
        }
    }

    #[test]
    fn an_expression_that_cannot_be_used_is_refused_by_kind() {
        let kind = |given: &str| NameRegex::guarded("nameRegex", given).err().unwrap().kind();
        for given in ["(?!b)(a+)+$", r"(a*)*\1", "(?<=x)(a{2}){3}", r"\w{9999999}", &"a".repeat(257)] {
            assert_eq!(kind(given), ReasonKind::RegexUnsafe, "{given}");
        }
        for given in ["(", "[a", "*", r"\p{Nope}"] {
            assert_eq!(kind(given), ReasonKind::RegexInvalid, "{given}");
        }
    }

    #[test]
    fn no_expression_runs_without_end() {
        let slow = NameRegex::parse("query", r"^(?:a|aa)+(?!c)c$").unwrap();
        assert_eq!(slow.matches(&format!("{}c", "a".repeat(200))).unwrap_err().kind(), ReasonKind::RegexUnsafe);
        let nested = NameRegex::parse("query", "(a+)+$").unwrap();
        assert!(!nested.matches(&format!("{}b", "a".repeat(250))).unwrap(), "a linear expression just runs");
    }
}
