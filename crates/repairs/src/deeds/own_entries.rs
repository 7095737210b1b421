use toml::{Table, Value};

/// Whether two versions of a Cargo.lock differ in entries of the project's own packages only:
/// those without a source.
pub(super) fn only_own_entries_differ(before: &[u8], after: &[u8]) -> bool {
    match (foreign(before), foreign(after)) {
        (Some(before), Some(after)) => before == after,
        _ => false,
    }
}

fn foreign(lock: &[u8]) -> Option<Vec<Value>> {
    let table: Table = std::str::from_utf8(lock).ok()?.parse().ok()?;
    let packages = table
        .get("package")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    Some(
        packages
            .into_iter()
            .filter(|package| package.get("source").is_some())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_source_must_stay_as_it_is() {
        let lock = |own: &str, other: &str| {
            format!("[[package]]\nname='a'\nversion='{own}'\n[[package]]\nname='b'\nversion='{other}'\nsource='r'\n").into_bytes()
        };
        assert!(only_own_entries_differ(&lock("1", "1"), &lock("2", "1")));
        assert!(!only_own_entries_differ(&lock("1", "1"), &lock("1", "2")));
        assert!(!only_own_entries_differ(&lock("1", "1"), b"no toml ["));
    }
}
