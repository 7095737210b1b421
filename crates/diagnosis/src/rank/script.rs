//! `env` names the interpreter that a broken script asks for, never the script: only the
//! command does.

use regreen_model::{Evidence, FailureKind, RepairAction};

use super::compose::Diagnosis;

pub(crate) fn named_by_command(diagnosis: Diagnosis, evidence: &Evidence) -> Diagnosis {
    let is_open = diagnosis.repair.is_none() && diagnosis.kind == FailureKind::CrlfScript;
    let script = evidence
        .command
        .as_deref()
        .and_then(script)
        .filter(|_| is_open);
    match script {
        Some(path) => Diagnosis {
            repair: Some(RepairAction::CrlfToLf { path }),
            ..diagnosis
        },
        None => diagnosis,
    }
}

/// The path that a plain command runs.
fn script(command: &str) -> Option<String> {
    let first = command.split_whitespace().next()?;
    let is_path = first.contains('/')
        && first
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"./_-".contains(&b));
    is_path.then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_a_plain_command_is_known() {
        assert_eq!(script("./t.py --fast").as_deref(), Some("./t.py"));
        assert_eq!(script("python t.py"), None);
        assert_eq!(script("$(x)/t.py"), None);
        assert_eq!(script(""), None);
    }
}
