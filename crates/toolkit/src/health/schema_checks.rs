//! Findings about notes that do not fit the schemas of their types, and schemas that cannot be used.

use lapidary_operation::{Reason, ShapeProblem, quote::quoted_path};
use lapidary_vault::VaultPath;

use super::{CheckedVault, FindingFix, FindingKind};
use crate::schema::{self, NoteFacts, NoteSchema, PropertyRule, is_checked};

impl CheckedVault<'_, '_, '_> {
    pub(super) fn broken_schemas(&mut self) -> Result<(), Reason> {
        for broken in schema::in_force(self.context, self.view)?.broken {
            // Its name is only for those who may read it.
            if self.view.shows(&broken.path) {
                let says = format!(
                    "{} is not a schema, so it holds for nothing: {}",
                    quoted_path(&broken.path),
                    broken.problem
                );
                let fix = Err("what was meant cannot be known: correct its property `schema`");
                self.add(FindingKind::BrokenSchema, &[broken.path.as_str()], &[&broken.path], says, fix);
            }
        }
        Ok(())
    }

    /// One finding for each note and property, so that each can be mended alone.
    pub(super) fn schema_mismatches(&mut self) -> Result<(), Reason> {
        let schemas = schema::in_force(self.context, self.view)?.schemas;
        if schemas.is_empty() {
            return Ok(());
        }
        for path in self.note_paths() {
            self.context.check()?;
            let Some(entry) = self.notes.get(path).filter(|_| is_checked(self.context, path)) else { continue };
            let facts = NoteFacts::of_entry(self.notes, &entry);
            let mut told: Vec<ShapeProblem> = Vec::new();
            for schema in &schemas {
                for problem in schema.problems(path, &facts) {
                    // Two schemas may ask for the same.
                    if !told.contains(&problem) {
                        let fix = self.mended(path, &facts, schema, &problem);
                        let says = format!("{}: {}", quoted_path(path), problem.says());
                        let about = problem.says();
                        self.add(FindingKind::SchemaMismatch, &[path.as_str(), &about], &[path], says, fix);
                        told.push(problem);
                    }
                }
            }
        }
        Ok(())
    }

    /// A value that can surely become the wanted type is converted; everything else is for people.
    fn mended(
        &self,
        path: &VaultPath,
        facts: &NoteFacts,
        schema: &NoteSchema,
        problem: &ShapeProblem,
    ) -> Result<FindingFix, &'static str> {
        let (property, rule) = match problem {
            ShapeProblem::WrongType { property, .. } => {
                let is_meant = |rule: &&PropertyRule| rule.name == *property;
                (property, schema.properties.iter().find(is_meant))
            }
            ShapeProblem::MissingProperty { .. } => return Err("what it should be is not known"),
            ShapeProblem::NotAllowed { .. } => return Err("which of the values is meant is a choice"),
            ShapeProblem::MissingHeading { .. } => return Err("what belongs under it is not known"),
        };
        let to = rule.and_then(|rule| rule.kind).filter(|kind| facts.is_convertible(property, *kind));
        let Some(to) = to else { return Err("the value cannot be converted without losing something") };
        match self.view.may_write(path) {
            Ok(()) => Ok(FindingFix::Convert { property: property.clone(), to, notes: vec![path.clone()] }),
            Err(_) => Err("the note may not be changed"),
        }
    }
}
