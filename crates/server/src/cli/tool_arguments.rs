//! Commands about tools and their refusals.

use std::str::FromStr;

use clap::Args;

/// One call through the same pipeline as from a client; prints JSON
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct CallArguments {
    /// The tool's name, dotted or not
    pub(crate) tool: String,
    /// The arguments as a JSON object, or `-` to read it from standard input
    #[arg(value_name = "JSON|-", default_value = "{}", hide_default_value = true)]
    pub(crate) input: CallInput,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallInput {
    Stdin,
    Json(serde_json::Map<String, serde_json::Value>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ToolsArguments {
    /// One tool, with its arguments and examples
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExplainArguments {
    /// The reason, like `note_missing`; all if none is given
    pub(crate) reason: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CallInputError {
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the arguments of a tool are a JSON object, like '{{\"path\": \"Note.md\"}}'")]
    NotAnObject,
}

impl FromStr for CallInput {
    type Err = CallInputError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        match serde_json::from_str(text)? {
            serde_json::Value::Object(arguments) => Ok(Self::Json(arguments)),
            _ => Err(CallInputError::NotAnObject),
        }
    }
}
