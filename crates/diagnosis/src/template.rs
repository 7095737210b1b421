//! Texts with `{name}` in them.

use std::collections::BTreeMap;

/// The text with its names replaced; `None` if there is no value for one of them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_unknown_ones_make_it_useless() {
        let values = BTreeMap::from([("a".to_owned(), "{b}".to_owned())]);
        assert_eq!(fill("x {a} y", &values).as_deref(), Some("x {b} y"));
        assert_eq!(fill("no names }{", &values).as_deref(), Some("no names }{"));
        assert_eq!(fill("{b}", &values), None);
    }
}
