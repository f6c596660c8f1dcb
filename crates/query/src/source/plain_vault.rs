//! A vault of texts in memory, for the tests of the languages.

use super::{QueryVault, RowNumber, RowSelection, RowSet, VaultRow};
use crate::{Row, row::PlainRow};

/// A vault for tests: files with their texts, in path order. Links are resolved by path, then by name, in any case.
pub struct PlainVault {
    pub(crate) rows: Vec<PlainRow>,
}

impl PlainVault {
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut rows: Vec<PlainRow> = files
            .iter()
            .map(|(path, text)| match path.ends_with(".md") {
                true => PlainRow::parsed(path, text),
                false => PlainRow { path: (*path).to_owned(), text: (*text).to_owned(), ..PlainRow::default() },
            })
            .collect();
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        let paths: Vec<String> = rows.iter().map(|row| row.path.clone()).collect();
        for row in &mut rows {
            let targets = row.whole_links.iter().map(|link| &link.target).filter(|target| !target.is_empty());
            row.links = targets.map(|target| (target.clone(), found(&paths, target))).collect();
        }
        for path in &paths {
            let links_here = |row: &&PlainRow| row.links.iter().any(|(_, target)| target.as_ref() == Some(path));
            let backlinks: Vec<String> = rows.iter().filter(links_here).map(|row| row.path.clone()).collect();
            rows.iter_mut().filter(|row| row.path == *path).for_each(|row| row.backlinks.clone_from(&backlinks));
        }
        Self { rows }
    }

    fn number(&self, path: &str) -> Option<RowNumber> {
        let at = self.rows.iter().position(|row| row.path == path)?;
        u32::try_from(at).ok().map(RowNumber)
    }
}

fn found(paths: &[String], target: &str) -> Option<String> {
    let wanted = target.to_lowercase();
    let fits = |path: &&String| {
        let path = path.to_lowercase();
        let stem = path.strip_suffix(".md").unwrap_or(&path).to_owned();
        [path, stem].iter().any(|path| *path == wanted || path.ends_with(&format!("/{wanted}")))
    };
    paths.iter().filter(fits).min_by_key(|path| path.matches('/').count()).cloned()
}

impl QueryVault for PlainVault {
    fn select(&self, selection: &RowSelection<'_>) -> RowSet {
        let numbered = (0..).map(RowNumber).zip(&self.rows);
        numbered.filter(|(_, row)| selection.accepts(*row, self)).map(|(number, _)| number).collect()
    }

    fn row(&self, number: RowNumber) -> Option<VaultRow<'_>> {
        self.rows.get(number.0 as usize).map(|row| Box::new(row.clone()) as VaultRow<'_>)
    }

    fn find(&self, path: &str) -> Option<RowNumber> {
        self.number(path)
    }

    fn resolve(&self, target: &str, _from: Option<&str>) -> Option<RowNumber> {
        let paths: Vec<String> = self.rows.iter().map(|row| row.path.clone()).collect();
        self.number(&found(&paths, target)?)
    }

    fn has_folder(&self, path: &str) -> bool {
        let below = format!("{path}/");
        self.rows.iter().any(|row| row.path.starts_with(&below))
    }

    fn text(&self, path: &str) -> Option<String> {
        self.rows.iter().find(|row| row.path == path)?.content().map(std::borrow::Cow::into_owned)
    }

    fn served_by(&self, _selection: &RowSelection<'_>) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(vault: &PlainVault, selection: RowSelection<'_>) -> Vec<String> {
        vault.select(&selection).iter().map(|number| vault.row(number).unwrap().path().to_owned()).collect()
    }

    #[test]
    fn selections_mean_what_they_say() {
        let vault = PlainVault::of(&[
            ("a.md", "[[b]] #x/Y [[gone]]"),
            ("p/b.md", "---\ntags: [X]\nup: \"[[a]]\"\n---\n"),
            ("p/q/c.MD.png", ""),
            ("pp.md", "---\ntag: p, q/r\n---\n#xy"),
            ("old.markdown", ""),
        ]);
        let number = |path: &str| vault.find(path).unwrap();
        assert_eq!(paths(&vault, RowSelection::Pages), ["a.md", "old.markdown", "p/b.md", "pp.md"]);
        assert_eq!(paths(&vault, RowSelection::Tag("#X")), ["a.md", "p/b.md"]);
        assert_eq!(paths(&vault, RowSelection::Tag("x/y")), ["a.md"]);
        assert_eq!(paths(&vault, RowSelection::Tag("q")), [""; 0]);
        assert_eq!(paths(&vault, RowSelection::PageTag("#Q")), ["pp.md"]);
        assert_eq!(paths(&vault, RowSelection::PageTag("x")), ["a.md", "p/b.md"]);
        assert_eq!(paths(&vault, RowSelection::Folder("p")), ["p/b.md", "p/q/c.MD.png"]);
        assert_eq!(paths(&vault, RowSelection::Folder("")).len(), 5);
        assert_eq!(paths(&vault, RowSelection::Extension("PNG")), ["p/q/c.MD.png"]);
        assert_eq!(paths(&vault, RowSelection::LinksTo(number("p/b.md"))), ["a.md"]);
        assert_eq!(paths(&vault, RowSelection::LinkedFrom(number("p/b.md"))), ["a.md"]);
        assert_eq!(paths(&vault, RowSelection::LinksToMissing("gone")), ["a.md"]);
        assert_eq!(paths(&vault, RowSelection::LinksToMissing("b")), [""; 0]);
    }
}
