//! The Do field of a task: which of its steps are commands.

use super::pieces::{Piece, pieces};
use super::row_box::RowBox;
use super::span::spans;

/// The commands that a Do field consists of, in order: code blocks that say that they are
/// for a shell, and steps that are one code span and nothing else. Words between them are
/// for people and agents.
#[must_use]
pub fn shell_steps(field: &str) -> Vec<String> {
    pieces(field)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Code { language, code } => is_shell(&language).then_some(code),
            Piece::Line { content, .. } => only_span(content),
        })
        .filter(|step| !step.trim().is_empty())
        .collect()
}

/// A block without a language is as often a file's content or a program's output.
fn is_shell(language: &str) -> bool {
    ["sh", "bash", "shell"].contains(&language)
}

fn only_span(content: &str) -> Option<String> {
    let from = RowBox::parse(content).map_or(0, |row_box| row_box.length);
    let text = content.get(from..)?;
    let [span] = <[_; 1]>::try_from(spans(text)).ok()?;
    span.is_whole(text).then_some(span.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(field: &str, expected: &[&str]) {
        assert_eq!(shell_steps(field), expected, "{field}");
    }

    #[test]
    fn blocks_and_steps_that_are_one_span_run_in_order() {
        check(
            "`make`\n1. `make test`.\n2. Look at `out.txt`\n```sh\n  a\n    b\n```\n- [ ] `c`\n* ``echo `date` ``",
            &["make", "make test", "a\n  b", "c", "echo `date`"],
        );
        check(
            "Build it:\n```bash\nmake\n\n# all\nmake all\n```",
            &["make\n\n# all\nmake all"],
        );
        check("1. ```sh\n   make\n   ```\n2. `x`", &["make", "x"]);
        check("```sh\r\nmake\r\n```\r\n`x`\r\n", &["make", "x"]);
    }

    #[test]
    fn words_and_other_code_are_no_steps() {
        check("", &[]);
        check("Run `make`", &[]);
        check("`make` and `make test`", &[]);
        check("`make` builds it", &[]);
        check("```\nmake\n```\n```python\nx\n```\n~~~json\n{}\n~~~", &[]);
        check("<!--\n`make`\n-->", &[]);
        check("```sh\n\n```\n``", &[]);
        check("```sh\nnever closed", &[]);
    }
}
