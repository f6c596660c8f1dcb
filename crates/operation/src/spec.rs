//! A tool as the catalogue and the pipeline see it: its declaration with everything that its types say.

use std::sync::Arc;

use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_vault::VaultPath;
use serde_json::{Map, Value, json};

use crate::{
    ReasonKind,
    declaration::{Declaration, Effect, PathRole, RestoreReach, ToolGroup, ToolKind, ToolNeeds},
    lazy_schemas::{LazySchemas, ToolSchemas},
    listed,
};

/// The argument of tools that take a target.
const TARGET: &str = "target";

/// The declaration with everything derived from the types.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub declaration: Declaration,
    pub kind: ToolKind,
    pub effect: Effect,
    pub asks_first: bool,
    pub restores: RestoreReach,
    pub is_separable: bool,
    pub in_batches: bool,
    /// Whether it makes or changes recipes.
    pub keeps_recipes: bool,
    pub searches_by: &'static [&'static str],
    /// Arguments that are read as a language, such as queries.
    pub texts: &'static [TextArgument],
    /// JSON pointer to the time limit in milliseconds that a call may set.
    pub deadline: Option<&'static str>,
    pub takes_target: bool,
    /// The argument for showing a change without making it.
    pub dry_run: Option<&'static str>,
    /// The argument that names the hash that a file is expected to have.
    pub expected_hash: Option<&'static str>,
    /// An argument and the value that makes a call change nothing.
    pub only_looks: Option<(&'static str, &'static str)>,
    pub needs: ToolNeeds,
    /// Whether it belongs to the command palette of the app, which the owner has to open.
    pub is_command: bool,
    pub(crate) schemas: LazySchemas,
}

impl ToolSpec {
    /// What holds unless the kind of the tool says otherwise.
    pub(crate) fn new(declaration: Declaration, kind: ToolKind, effect: Effect, derive: fn() -> ToolSchemas) -> Self {
        Self {
            declaration,
            kind,
            effect,
            asks_first: false,
            restores: RestoreReach::Nothing,
            is_separable: false,
            in_batches: false,
            keeps_recipes: false,
            searches_by: &[],
            texts: &[],
            deadline: None,
            takes_target: false,
            dry_run: None,
            expected_hash: None,
            only_looks: None,
            needs: ToolNeeds::default(),
            is_command: false,
            schemas: LazySchemas::new(derive),
        }
    }

    pub fn name(&self) -> &'static str {
        self.declaration.name
    }

    pub fn description(&self) -> &str {
        &self.schemas.get().description
    }

    pub fn input(&self) -> &Map<String, Value> {
        &self.schemas.get().input
    }

    /// Its input schema as the list shows it, shortened or `whole`.
    pub fn listed_input(&self, whole: bool) -> Map<String, Value> {
        listed::input(self.input(), whole)
    }

    /// Its output schema as the list shows it.
    pub fn listed_output(&self) -> Map<String, Value> {
        listed::output(self.output())
    }

    pub fn output(&self) -> &Map<String, Value> {
        &self.schemas.get().output
    }

    /// Whether it has an argument of this name.
    pub fn takes(&self, argument: &str) -> bool {
        self.input().get("properties").is_some_and(|properties| properties.get(argument).is_some())
    }

    /// Whether a call with these arguments changes nothing: the tool only reads, or was told to.
    pub fn only_looks(&self, arguments: &Map<String, Value>) -> bool {
        // The arguments need not be checked yet, so a value of another type means nothing.
        let told = |(argument, value): (&str, &str)| arguments.get(argument).and_then(Value::as_str) == Some(value);
        self.effect == Effect::Read || self.only_looks.is_some_and(told)
    }

    /// Whether it may change a vault: by itself, or by what the app does for it.
    pub fn writes(&self) -> bool {
        // An action that only opens a note has no effect on files.
        self.kind.writes() || (matches!(self.kind, ToolKind::Action | ToolKind::Forward) && self.effect != Effect::Read)
    }

    /// Whether a caller who may only read can do nothing with it. A recipe may well only read.
    pub fn only_writes(&self) -> bool {
        self.writes() && self.kind != ToolKind::Steps
    }

    /// Whether it asks hosts of the web.
    pub fn reaches_web(&self) -> bool {
        self.declaration.group == ToolGroup::Web
    }

    /// Whether these arguments mean the note that is open in the app.
    pub fn means_active_note(&self, arguments: &Map<String, Value>) -> bool {
        let kind = arguments.get(TARGET).and_then(|target| target.get("type"));
        self.takes_target && kind.and_then(Value::as_str) == Some("active")
    }

    /// What the text of an argument is read as. `beside` gives the values of arguments next to it.
    pub fn language_at(&self, pointer: &str, beside: &dyn Fn(&str) -> Option<Value>) -> TextLanguage {
        match self.declaration.paths.iter().any(|path| path.pointer == pointer) {
            true => TextLanguage::Path,
            false => TextArgument::language_at(self.texts, pointer, beside),
        }
    }

    /// Puts a path into the arguments in place of a note that they do not name.
    pub fn put_path(&self, arguments: &mut Map<String, Value>, path: &VaultPath) {
        // In the form that a caller could have sent, so that the tool sees no difference.
        arguments.insert(TARGET.to_owned(), json!({ "type": "path", "path": path.as_str() }));
    }

    /// Uses the schemas of the reviewed definition instead of deriving them from the types.
    pub fn take_definition(&mut self, definition: &'static str) {
        self.schemas.definition = Some(definition);
    }

    /// Makes the caller choose one of several vaults.
    pub(crate) fn choose_vault(&mut self, vaults: &Arc<[String]>) {
        self.schemas.vaults = Some(Arc::clone(vaults));
    }

    /// All reasons that a call of this tool can be refused with.
    pub fn reasons(&self) -> Vec<ReasonKind> {
        let mut reasons = self.declaration.reasons.to_vec();
        reasons.extend(ReasonKind::EVERYWHERE);
        if self.kind.needs_vault() {
            reasons.extend(ReasonKind::IN_A_VAULT);
            // The vault may be behind the Obsidian app, whatever the tool does.
            reasons.extend(ReasonKind::WITH_THE_APP);
        }
        if !self.declaration.paths.is_empty() {
            reasons.extend(ReasonKind::WITH_A_PATH);
        }
        if self.declaration.paths.iter().any(|path| path.role != PathRole::List) {
            reasons.extend(ReasonKind::WITH_A_FILE);
        }
        if self.takes_target {
            reasons.extend(ReasonKind::WITH_A_TARGET);
        }
        // An action may have to create a note before the app can show it.
        if self.kind.writes() || matches!(self.kind, ToolKind::Action | ToolKind::Forward) {
            reasons.extend(ReasonKind::WHEN_WRITING);
        }
        // The reference prints them, and its order must not depend on the order of declarations.
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}
