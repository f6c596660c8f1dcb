//! The description and the schemas of a tool, built on first use.

use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::schema;

/// What a client sees of a tool.
#[derive(Clone, Debug)]
pub(crate) struct ToolSchemas {
    pub(crate) description: String,
    pub(crate) input: Map<String, Value>,
    pub(crate) output: Map<String, Value>,
}

impl ToolSchemas {
    pub(crate) fn derived<I: JsonSchema>(output: Map<String, Value>) -> Self {
        let mut input = schema::input::<I>();
        // The doc comment of the input type is the tool's description.
        let description = match input.remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        Self { description, input, output }
    }

    fn parse(definition: &str) -> Option<Self> {
        let Ok(Value::Object(mut definition)) = serde_json::from_str(definition) else { return None };
        let mut take = |name: &str| definition.remove(name);
        // A definition with a part missing is not used at all, so that description and schemas always fit together.
        let (Some(Value::String(description)), Some(Value::Object(input)), Some(Value::Object(output))) =
            (take("description"), take("input"), take("output"))
        else {
            return None;
        };
        Some(Self { description, input, output })
    }
}

/// Schemas built on first use: most sessions use a few tools, and startup should not pay for all of them.
#[derive(Clone, Debug)]
pub(crate) struct LazySchemas {
    derive: fn() -> ToolSchemas,
    /// The reviewed definition of the tool, if it is used instead.
    pub(crate) definition: Option<&'static str>,
    /// The vaults that a caller can choose from, if there are several.
    pub(crate) vaults: Option<Arc<[String]>>,
    made: OnceLock<ToolSchemas>,
}

impl LazySchemas {
    pub(crate) fn new(derive: fn() -> ToolSchemas) -> Self {
        Self { derive, definition: None, vaults: None, made: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> &ToolSchemas {
        self.made.get_or_init(|| {
            let reviewed = self.definition.map(|definition| {
                let parsed = ToolSchemas::parse(definition);
                if parsed.is_none() {
                    // Logged only: deriving gives the same schemas, it merely takes longer.
                    tracing::error!("a built-in definition cannot be read and is derived instead");
                }
                parsed
            });
            let mut schemas = reviewed.flatten().unwrap_or_else(self.derive);
            // After either source: the names of vaults are only known at run time.
            if let Some(vaults) = &self.vaults {
                schema::require_choice(&mut schemas.input, "vault", "Which vault.", vaults);
            }
            schemas
        })
    }
}
