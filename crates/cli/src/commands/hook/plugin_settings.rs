/// Whether the plugin's settings turn it off: `enabled: false` in their front matter.
pub(super) fn turn_off(settings: &str) -> bool {
    let mut lines = settings.lines().map(str::trim_end);
    if lines.next() != Some("---") {
        return false;
    }
    let front_matter = lines.take_while(|line| *line != "---");
    let mut values = front_matter.filter_map(|line| line.strip_prefix("enabled:"));
    values.next().is_some_and(|value| {
        let value = value.split('#').next().unwrap_or_default();
        let value = value.trim().trim_matches(['"', '\'']);
        value.eq_ignore_ascii_case("false")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_false_in_the_front_matter_turns_it_off() {
        for off in [
            "---\nenabled: false\n---\n",
            "---\nspecs: [a]\nenabled:  \"False\"  # for now\n---\ntext\n",
            "---\r\nenabled: 'FALSE'\r\n---\r\n",
        ] {
            assert!(turn_off(off), "{off:?}");
        }
        for on in [
            "",
            "enabled: false\n",
            "---\nenabled: true\n---\n",
            "---\nname: x\n---\nenabled: false\n",
            "---\n  enabled: false\n---\n",
            "---\nenabled: true\nenabled: false\n---\n",
        ] {
            assert!(!turn_off(on), "{on:?}");
        }
    }
}
