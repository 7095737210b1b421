//! The text of a field, taken apart into code and lines.

use crate::markdown::{FenceMark, Line, LineKind, scan};

/// A part of a field, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Fenced code: the first word behind the fence, in lower case, and the lines without
    /// their common indent.
    Code { language: String, code: String },
    /// A line outside of code and comments.
    Line {
        whole: &'t str,
        /// Without its list marker.
        content: &'t str,
    },
}

pub(crate) fn pieces(field: &str) -> Vec<Piece<'_>> {
    let lines = scan(field).lines;
    let mut pieces = Vec::new();
    let mut open: Option<(String, String)> = None;
    for (at, line) in lines.iter().enumerate() {
        let whole = &field[line.start..line.end];
        match &line.kind {
            LineKind::FenceOpen => open = Some(opened(&field[line.first..line.end])),
            LineKind::FenceBody => {
                if let Some((_, code)) = &mut open {
                    code.push_str(whole);
                    code.push('\n');
                }
            }
            LineKind::FenceClose => pieces.extend(open.take().map(closed)),
            LineKind::Comment => {}
            LineKind::Item(item) if opens_fence(lines.get(at + 1)) => {
                open = Some(opened(&field[item.content..line.end]));
            }
            kind => {
                let from = match kind {
                    LineKind::Item(item) => item.content,
                    _ => line.first,
                };
                let content = &field[from..line.end];
                pieces.push(Piece::Line { whole, content });
            }
        }
    }
    pieces
}

/// Code may start on the line of a list item, which is an item then.
fn opens_fence(next: Option<&Line>) -> bool {
    next.is_some_and(|next| matches!(next.kind, LineKind::FenceBody | LineKind::FenceClose))
}

fn opened(mark: &str) -> (String, String) {
    let info = FenceMark::opening(mark).map_or("", |(_, info)| info);
    let language = info.split_whitespace().next().unwrap_or_default();
    (language.to_ascii_lowercase(), String::new())
}

fn closed<'t>((language, code): (String, String)) -> Piece<'t> {
    Piece::Code {
        language,
        code: dedented(&code),
    }
}

/// A script without the indent that all of its lines have.
fn dedented(script: &str) -> String {
    let lines = || script.lines().filter(|line| !line.trim().is_empty());
    let common = lines()
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min();
    let common = common.unwrap_or_default();
    let cut = |line: &str| line.get(common..).unwrap_or_default().to_owned();
    script
        .lines()
        .map(cut)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}
