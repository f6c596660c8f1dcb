//! The periodic note of a day.

use jiff::civil::Date;
use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, RestPayload, RestPeriodic,
    ToolGroup, VaultChoice,
};
use lapidary_query::Period;
use lapidary_toolkit::periodic;
use serde_json::{Map, Value, json};

/// Finds a periodic note, or where it would be created and with which text.
pub struct FindPeriodic {
    pub vault: String,
    pub period: Period,
    /// Today without it.
    pub day: Option<Date>,
    /// Refuse a note that does not exist.
    pub must_exist: bool,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "rest/periodic", recorded: true };

impl ReadOperation for FindPeriodic {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        let day = self.day.map(|day| day.to_string());
        Map::from_iter([("period".to_owned(), json!(self.period.name())), ("day".to_owned(), json!(day))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let view = vaults.one()?;
        let note = periodic::find(DECLARATION.name, context, view, self.period, self.day)?;
        let found = match (note.is_there, self.must_exist) {
            // For a missing one, `required` is the refusal that says where it would be.
            (true, _) | (false, true) => RestPeriodic { path: note.required()?, template: None },
            (false, false) => {
                let template = note.template(context, view)?;
                RestPeriodic { path: note.path, template: Some(template) }
            }
        };
        Ok(ReadPayload::Rest(RestPayload::Periodic(found)))
    }
}
