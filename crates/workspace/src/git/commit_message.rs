/// Makes a message that came from outside harmless: line endings are line feeds, and other
/// control characters go. Its words stay, also in lines that begin with `#`.
pub(super) fn clean_message(text: &str) -> String {
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let visible = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let clean: String = unified.chars().filter(visible).collect();
    clean.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_be_seen_goes() {
        assert_eq!(
            clean_message("\r\n feat(x): äö\r\n\r\n#1 stays\tso\0\u{1b}[31m\n-m too\n\n"),
            "feat(x): äö\n\n#1 stays\tso[31m\n-m too"
        );
        assert_eq!(clean_message(" \0\n"), "");
    }
}
