//! Draws a tree.

use lapidary_operation::quote::one_line;

/// One line of a tree: its depth, from 0, and its text.
pub(super) struct TreeBranch {
    pub(super) level: usize,
    pub(super) label: String,
}

/// Draws branches in line order.
pub(super) fn draw(branches: &[TreeBranch]) -> String {
    let last = last_of_their_kind(branches);
    // For each branch above the current one, whether it continues below.
    let mut above: Vec<bool> = Vec::new();
    let mut text = String::new();
    for (branch, last) in branches.iter().zip(last) {
        above.truncate(branch.level);
        for ended in &above {
            text += if *ended { "    " } else { "│   " };
        }
        text += if last { "└── " } else { "├── " };
        text += &one_line(&branch.label);
        text.push('\n');
        above.push(last);
    }
    text
}

/// For each branch, whether it is the last of its level under its parent. Going upwards this is known at once.
fn last_of_their_kind(branches: &[TreeBranch]) -> Vec<bool> {
    let mut followed: Vec<bool> = Vec::new();
    let mut last: Vec<bool> = Vec::new();
    for branch in branches.iter().rev() {
        followed.resize(branch.level + 1, false);
        last.push(!followed[branch.level]);
        followed[branch.level] = true;
    }
    last.reverse();
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_drawn_to_their_last() {
        let branches = [(0, "a/"), (1, "b/"), (2, "c.md"), (1, "d.md"), (0, "e/"), (1, "f\u{2028}.md")];
        let branches = branches.map(|(level, label)| TreeBranch { level, label: label.to_owned() });
        let expected = "├── a/\n│   ├── b/\n│   │   └── c.md\n│   └── d.md\n└── e/\n    └── f\\u2028.md\n";
        assert_eq!(draw(&branches), expected);
        assert_eq!(draw(&[]), "");
    }
}
