//! Why the files of a model cannot be used.

/// Why the files of a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A file, or a part of one, is not what it should be.
    #[error("{part}: {problem}")]
    Malformed { part: String, problem: String },
    /// The files are sound, but made for another kind of program.
    #[error("{0} is not supported")]
    Unsupported(String),
}

impl ModelError {
    pub(crate) fn malformed(part: &str, problem: impl Into<String>) -> Self {
        Self::Malformed { part: part.to_owned(), problem: problem.into() }
    }
}
