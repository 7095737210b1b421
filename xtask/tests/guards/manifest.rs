//! The dependencies in a Cargo.toml.

use toml::{Table, Value};

use crate::tree;

pub(crate) struct Manifest {
    table: Table,
}

/// One entry in a table of dependencies.
pub(crate) struct Dependency<'m> {
    pub(crate) name: &'m str,
    pub(crate) is_dev: bool,
    value: &'m Value,
}

impl Dependency<'_> {
    /// Whether it only refers to an entry in the root manifest's table.
    pub(crate) fn is_inherited(&self) -> bool {
        let is_true = |key| self.value.get(key).and_then(Value::as_bool) == Some(true);
        let own = ["version", "path", "git", "registry"];
        is_true("workspace") && own.iter().all(|key| self.value.get(key).is_none())
    }
}

impl Manifest {
    pub(crate) fn of(text: &str) -> Self {
        let table = text.parse().unwrap_or_else(|error| panic!("{error}"));
        Self { table }
    }

    pub(crate) fn of_crate(folder: &str) -> Self {
        Self::of(&tree::read(format!("crates/{folder}/Cargo.toml")))
    }

    pub(crate) fn package(&self) -> &Table {
        self.table["package"]
            .as_table()
            .expect("[package] is a table")
    }

    pub(crate) fn name(&self) -> &str {
        self.package()["name"]
            .as_str()
            .expect("a package has a name")
    }

    /// Returns every dependency: normal, build, dev, and target-specific.
    pub(crate) fn dependencies(&self) -> Vec<Dependency<'_>> {
        let targets = self.table.get("target").and_then(Value::as_table);
        let of_targets = targets.into_iter().flat_map(Table::values);
        let tables = of_targets.filter_map(Value::as_table).chain([&self.table]);
        tables.flat_map(dependencies_in).collect()
    }

    /// Returns the names of the packages that the crate itself is built from.
    pub(crate) fn built_from(&self) -> impl Iterator<Item = &str> {
        let dependencies = self.dependencies().into_iter();
        dependencies.filter(|d| !d.is_dev).map(|d| d.name)
    }
}

fn dependencies_in(table: &Table) -> impl Iterator<Item = Dependency<'_>> {
    let kinds = ["dependencies", "build-dependencies", "dev-dependencies"];
    kinds.into_iter().flat_map(move |kind| {
        let entries = table
            .get(kind)
            .and_then(Value::as_table)
            .into_iter()
            .flatten();
        entries.map(move |(name, value)| Dependency {
            name,
            is_dev: kind == "dev-dependencies",
            value,
        })
    })
}
