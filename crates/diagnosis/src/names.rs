//! Names that tools use and the packages that have them, from `rules/names/`.

include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// The package of a name in one of these tables.
pub(crate) fn look_up(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let found = table.binary_search_by(|(known, _)| (*known).cmp(name));
    found.ok().map(|at| table[at].1)
}
