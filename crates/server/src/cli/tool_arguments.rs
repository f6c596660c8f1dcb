//! Commands about tools and their refusals.

use std::str::FromStr;

use clap::Args;

use crate::completing;

/// Call one tool and print the answer as JSON
///
/// The call goes through the same stages as a client's: policy, approval, checkpoint and log.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_long_help = "Examples:
  lapidary call outline '{\"file\": \"Roof.md\"}'
  lapidary call file_move '{\"from\": \"a.md\", \"to\": \"b.md\", \"dry_run\": true}'
  lapidary call bulk_apply - < edits.json")]
pub(crate) struct CallArguments {
    /// The tool's name, dotted or not
    #[arg(add = completing::tools())]
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

/// Print the available tools, or one of them with its arguments and examples
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary tools
  lapidary tools str_replace
  lapidary tools --read-only --json")]
pub(crate) struct ToolsArguments {
    /// One tool, with its arguments and examples
    #[arg(add = completing::tools())]
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say what a reason for refusal means
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary explain
  lapidary explain note_missing")]
pub(crate) struct ExplainArguments {
    /// The reason, like `note_missing`; all if none is given
    #[arg(add = completing::reasons())]
    pub(crate) reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
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
