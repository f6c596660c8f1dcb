//! Moving and deleting, as the tools do it: whatever tools the owner has chosen for models.

use lapidary_operation::{CommitReport, Context, Declaration, Effect, Example, Reason, ToolPlan, WriteTool};
use lapidary_vault::View;

use crate::tools::edit::{file_delete, file_move};

pub(crate) struct RestMove;

impl WriteTool for RestMove {
    const DECLARATION: Declaration = Declaration {
        name: "rest/move",
        dotted: None,
        title: "REST: move a file",
        listed: false,
        ..file_move::FileMove::DECLARATION
    };
    const EFFECT: Effect = file_move::FileMove::EFFECT;
    const IN_BATCHES: bool = false;
    type Input = file_move::Input;
    type Output = file_move::Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<ToolPlan<Self::Output>, Reason> {
        file_move::FileMove.plan(context, view, input)
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}

pub(crate) struct RestDelete;

impl WriteTool for RestDelete {
    const DECLARATION: Declaration = Declaration {
        name: "rest/delete",
        dotted: None,
        title: "REST: delete a file",
        listed: false,
        ..file_delete::FileDelete::DECLARATION
    };
    const EFFECT: Effect = file_delete::FileDelete::EFFECT;
    const IN_BATCHES: bool = false;
    type Input = file_delete::Input;
    type Output = file_delete::Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<ToolPlan<Self::Output>, Reason> {
        file_delete::FileDelete.plan(context, view, input)
    }

    fn finish(&self, output: &mut Self::Output, learnt: &CommitReport<'_>) {
        file_delete::FileDelete.finish(output, learnt);
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}
