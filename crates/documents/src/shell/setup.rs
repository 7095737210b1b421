//! Commands that prepare the shell for those that follow: `cd app`, `export X=1`.

use super::{Joint, Simple, Stage, read};

/// Returns whether a text only prepares the shell for the commands after it. In a shell of its own
/// it would have no effect.
pub(crate) fn is_setup(text: &str) -> bool {
    let Some(list) = read(text) else {
        return false;
    };
    let mut pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
    !list.statements.is_empty()
        && pipelines.all(|(joint, pipeline)| {
            let [Stage::Simple(simple)] = pipeline.stages.as_slice() else {
                return false;
            };
            *joint != Joint::Or && !pipeline.is_negated && prepares(simple)
        })
}

fn prepares(simple: &Simple) -> bool {
    let Some((program, arguments)) = simple.argv().split_first() else {
        return !simple.words.is_empty();
    };
    let arguments: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    match (program.text.as_str(), arguments.as_slice()) {
        ("cd" | "pushd", [folder]) => !folder.starts_with('-'),
        ("export", [first, ..]) => first.contains('=') || is_name(first),
        // "source code" is prose.
        ("source" | ".", [script, ..]) => script.contains(['/', '.', '$']),
        ("set" | "shopt", [option, ..]) => option.starts_with(['-', '+']),
        ("unset", [name]) => is_name(name),
        ("umask", [mask]) => mask.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    }
}

/// Whether this is a variable name that isn't likely in prose.
fn is_name(word: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    !word.is_empty() && word.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_the_shell_itself_prepares_it() {
        for text in [
            "cd app",
            "export CI=1",
            "export CI",
            "CI=1",
            "source .venv/bin/activate",
            ". ./env.sh",
            "set -euo pipefail",
            "cd app && source env.sh",
            "cd a\ncd b",
        ] {
            assert!(is_setup(text), "{text}");
        }
        for text in [
            "",
            "cd",
            "cd app && make",
            "cd into the app",
            "CI=1 make",
            "source code",
            "set the value",
            "export data",
            "cd app || true",
            "! cd app",
            "cd app | cat",
        ] {
            assert!(!is_setup(text), "{text}");
        }
    }
}
