//! Texts with `{name}` placeholders.

use std::collections::BTreeMap;

use regreen_model::RepairAction;

/// Replaces the placeholders; `None` if one of them has no value.
pub(crate) fn fill(template: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else {
            break;
        };
        text.push_str(before);
        text.push_str(values.get(name)?);
        rest = behind;
    }
    text.push_str(rest);
    Some(text)
}

/// A repair as written in a rule: an action whose arguments may contain `{capture}`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepairTemplate {
    action: &'static str,
    args: &'static [&'static str],
}

/// Longer arguments are neither names nor paths.
const MAX_ARGUMENT: usize = 200;

impl RepairTemplate {
    pub(crate) const fn new(action: &'static str, args: &'static [&'static str]) -> Self {
        Self { action, args }
    }

    /// Creates the action for one case; `None` if a value from the text is missing or could be
    /// anything but a name or a path.
    pub(crate) fn fill(self, captures: &BTreeMap<String, String>) -> Option<RepairAction> {
        let args = self.args.iter().map(|text| argument(text, captures));
        RepairAction::from_parts(self.action, args.collect::<Option<Vec<_>>>()?)
    }
}

/// Fills in one argument. Our own text may be an option (`--write`); values from the output may
/// not.
fn argument(template: &str, captures: &BTreeMap<String, String>) -> Option<String> {
    if !template.contains('{') {
        return Some(template.to_owned());
    }
    let value = fill(template, captures)?;
    let is_plain = value
        .chars()
        .all(|c| c.is_alphanumeric() || "@/._-+:=~[],".contains(c));
    let is_argument = !value.is_empty() && value.len() <= MAX_ARGUMENT && !value.starts_with('-');
    (is_plain && is_argument).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_and_unknown_ones_refused() {
        let values = BTreeMap::from([("a".to_owned(), "{b}".to_owned())]);
        assert_eq!(fill("x {a} y", &values).as_deref(), Some("x {b} y"));
        assert_eq!(fill("no names }{", &values).as_deref(), Some("no names }{"));
        assert_eq!(fill("{b}", &values), None);
    }

    fn filled(value: &str) -> Option<RepairAction> {
        let template = RepairTemplate::new("pip_install", &["{name}"]);
        template.fill(&BTreeMap::from([("name".to_owned(), value.to_owned())]))
    }

    #[test]
    fn only_names_and_paths_become_arguments() {
        assert!(filled("PyYAML").is_some());
        assert!(filled("@scope/name").is_some());
        for bad in [
            "",
            "-r",
            "--index-url=x",
            "a b",
            "a;b",
            "$(x)",
            "`x`",
            "a\nb",
            "\"a\"",
        ] {
            assert_eq!(filled(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_missing_value_gives_no_repair() {
        let template = RepairTemplate::new("mkdir", &["{folder}"]);
        assert_eq!(template.fill(&BTreeMap::new()), None);
    }
}
