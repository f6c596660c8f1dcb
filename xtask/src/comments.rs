//! Counts the comments inside functions, which say why the code is as it is, and the long functions that have none.
//!
//! Reads the source as text. Doc comments say what a thing is and are not counted, and neither is code of tests or the
//! examples of tools, which run as tests.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    ops::AddAssign,
    path::{Path, PathBuf},
};

use crate::names::{crates, sources};

/// The first line of the method that holds the examples of a tool.
const EXAMPLES: &str = "fn examples(&self) -> Vec<Example> {";

/// A function of this many lines decides something that a reader may ask about.
const LONG: usize = 25;

/// Lines of code, lines of `//` comments among them, and long functions without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommentCount {
    pub(crate) code: usize,
    pub(crate) comments: usize,
    pub(crate) bare: usize,
}

impl CommentCount {
    /// In the text of one file.
    fn of_text(text: &str) -> Self {
        let mut count = Self::default();
        let mut in_examples = false;
        // The end of the function that the line is in, its first line and the comments before it.
        let mut function: Option<(String, usize, usize)> = None;
        // Tests are the last thing in a file.
        for line in text.lines().take_while(|line| !line.starts_with("mod tests {")) {
            // The formatter ends a method with a brace at the depth of its first line.
            if in_examples {
                in_examples = line != "    }";
                continue;
            }
            match &function {
                // Code and comments alone are counted, so that a blank line makes no function longer.
                Some((end, first, before)) if line == end => {
                    let lines = count.code + count.comments - first + 1;
                    count.bare += usize::from(lines >= LONG && count.comments == *before);
                    function = None;
                }
                // A declaration without a body, over several lines.
                Some((end, ..)) if line.ends_with(';') && line.starts_with(&end.replace('}', ")")) => function = None,
                None if is_function(line) => {
                    let indent = line.len() - line.trim_start().len();
                    let end = format!("{:indent$}}}", "");
                    function = Some((end, count.code + count.comments, count.comments));
                }
                _ => {}
            }
            let line = line.trim_start();
            match line {
                EXAMPLES => in_examples = true,
                "" => {}
                _ if line.starts_with("///") || line.starts_with("//!") => {}
                _ if line.starts_with("//") => count.comments += 1,
                _ => count.code += 1,
            }
        }
        count
    }

    /// In all files of a crate.
    fn of_crate(folder: &Path) -> Self {
        let files: Vec<(PathBuf, String)> = sources(folder)
            .into_iter()
            .map(|file| {
                let text = std::fs::read_to_string(&file).expect("a source file");
                (file, text)
            })
            .collect();
        let for_tests: BTreeSet<PathBuf> = files.iter().flat_map(|(file, text)| test_modules(file, text)).collect();
        // The folder of a module that is only for tests belongs to it.
        let is_test = |file: &Path| file.ancestors().any(|path| for_tests.contains(&path.with_extension("")));
        let mut count = Self::default();
        files.iter().filter(|(file, _)| !is_test(file)).for_each(|(_, text)| count += Self::of_text(text));
        count
    }

    /// How many lines of code there are for one line of comment.
    fn ratio(self) -> usize {
        self.code.checked_div(self.comments).unwrap_or(self.code)
    }
}

impl AddAssign for CommentCount {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.comments += other.comments;
        self.bare += other.bare;
    }
}

/// Whether a function with a body begins here. The formatter puts the end of a short declaration on the same line.
fn is_function(line: &str) -> bool {
    let words: Vec<&str> =
        line.split_whitespace().take_while(|word| !word.contains('(') || word.starts_with("pub(")).collect();
    let begins = words.contains(&"fn") || line.trim_start().starts_with("fn ");
    begins && !line.ends_with(';') && !line.ends_with("{}")
}

/// The modules that a file declares only for tests: their paths without extension.
fn test_modules(file: &Path, text: &str) -> Vec<PathBuf> {
    let is_root = file.file_stem().is_some_and(|stem| stem == "lib" || stem == "main");
    let folder = if is_root { file.with_file_name("") } else { file.with_extension("") };
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]").filter_map(|pair| {
        let (_, module) = pair[1].rsplit_once("mod ")?;
        module.strip_suffix(';')
    });
    declared.map(|module| folder.join(module)).collect()
}

/// A table with one row for each crate.
pub(crate) fn table(root: &Path) -> String {
    let mut table = format!(
        "{:<12}{:>8}{:>10}{:>20}{:>24}\n",
        "crate", "code", "comments", "lines per comment", "long functions without"
    );
    let mut all = CommentCount::default();
    let mut put = |name: &str, count: CommentCount| {
        // Writing into a `String` cannot fail.
        let CommentCount { code, comments, bare } = count;
        writeln!(table, "{name:<12}{code:>8}{comments:>10}{:>20}{bare:>24}", count.ratio()).unwrap_or_default();
    };
    for folder in crates(root) {
        let name = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let count = CommentCount::of_crate(&folder);
        put(&name, count);
        all += count;
    }
    put("all", all);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_in_code_count() {
        let text = "//! A file.\n\n/// A function.\nfn f() {\n    // Why.\n    let url = \"http://x\"; // not counted\n}\n\
                    #[cfg(test)]\nmod tests {\n    // A test.\n    fn t() {}\n}\n";
        assert_eq!(CommentCount::of_text(text), CommentCount { code: 4, comments: 1, bare: 0 });
    }

    #[test]
    fn long_functions_without_a_comment_are_counted() {
        let body = "        step();\n".repeat(LONG);
        let text = format!(
            "impl A {{\n    pub(crate) fn f(&self) {{\n{body}    }}\n\n    fn g(&self) {{\n        // Why.\n{body}    }}\n\n    fn h();\n}}\n"
        );
        assert_eq!(CommentCount::of_text(&text).bare, 1);
    }

    #[test]
    fn examples_of_tools_do_not_count() {
        let text = "impl T {\n    fn examples(&self) -> Vec<Example> {\n        vec![]\n    }\n\n    // Why.\n    fn f() {}\n}\n";
        assert_eq!(CommentCount::of_text(text), CommentCount { code: 3, comments: 1, bare: 0 });
    }

    #[test]
    fn modules_for_tests_are_known_by_their_declaration() {
        let text = "mod a;\n#[cfg(test)]\nmod examples;\n#[cfg(test)]\npub(crate) mod testing;\n#[cfg(unix)]\nmod b;\n";
        let found = test_modules(Path::new("crates/x/src/lib.rs"), text);
        assert_eq!(found, [Path::new("crates/x/src/examples"), Path::new("crates/x/src/testing")]);
        let found = test_modules(Path::new("crates/x/src/scope.rs"), text);
        assert_eq!(found[0], Path::new("crates/x/src/scope/examples"));
    }

    #[test]
    fn every_crate_has_a_row() {
        let table = table(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        assert!(table.lines().count() > 15, "{table}");
        assert!(table.contains("\npipeline ") && table.contains("\nall "), "{table}");
    }
}
