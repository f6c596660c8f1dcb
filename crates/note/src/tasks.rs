//! Tasks.

use std::ops::Range;

use crate::{
    span::{line_end, trim},
    tags::is_space,
};

mod fields;
mod task_line;

pub use fields::{TaskField, TaskFieldKind};
pub use task_line::{TaskFieldStyle, TaskLine, TaskPriority};

/// A list item with a box: `- [x] text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its list item, which has nesting, marker and spans.
    pub item: usize,
    /// The character in the box. A space means open. Obsidian's search treats every other one as done, people and plugins only `x`:
    /// `/`, `>` and `-` are in progress, moved and cancelled.
    pub status: char,
    /// `[x]`
    pub checkbox: Range<usize>,
    /// The rest of the line, including fields and block id.
    pub text: Range<usize>,
    /// What the Tasks plugin reads from the end of the line, in the order of the text.
    pub fields: Vec<TaskField>,
}

/// What a box means to people and to the Tasks plugin, which knows others by its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Also in progress, moved, important: whatever is neither of the others.
    Open,
    Done,
    Cancelled,
}

impl TaskState {
    pub fn of(status: char) -> Self {
        match status {
            'x' | 'X' => Self::Done,
            '-' => Self::Cancelled,
            _ => Self::Open,
        }
    }
}

impl Task {
    pub fn is_completed(&self) -> bool {
        TaskState::of(self.status) == TaskState::Done
    }
}

/// The task in the content of a list item, if it starts with a box.
pub(crate) fn task(text: &str, content: usize, end: usize) -> Option<Task> {
    let inner = text.get(content..end.max(content))?.strip_prefix('[')?;
    let mut characters = inner.chars();
    let status = characters.next().filter(|c| *c != '\n')?;
    characters.as_str().starts_with(']').then_some(())?;
    let checkbox = content..content + 2 + status.len_utf8();
    text[checkbox.end..].starts_with(is_space).then_some(())?;
    let words = trim(text, checkbox.end..line_end(text, checkbox.end).min(end.max(checkbox.end)));
    let fields = fields::task_fields(text, words.clone());
    Some(Task { item: 0, status, checkbox, text: words, fields })
}
