// The shortest texts that a pattern matches. Included by the build script, which ensures that a
// rule is tried on every line it can match, and by the test for that.

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};

/// A piece of a text: fixed, or any character of a class.
#[derive(Clone, Debug)]
enum Piece {
    Fixed(String),
    Any(char),
}

/// Returns the shortest texts that a pattern matches, such that every branch is taken once.
fn shortest_texts(hir: &Hir) -> Vec<Vec<Piece>> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![Vec::new()],
        HirKind::Literal(literal) => {
            vec![vec![Piece::Fixed(
                String::from_utf8_lossy(&literal.0).to_lowercase(),
            )]]
        }
        HirKind::Class(class) => vec![vec![member(class)]],
        HirKind::Capture(capture) => shortest_texts(&capture.sub),
        HirKind::Alternation(branches) => branches.iter().flat_map(shortest_texts).collect(),
        HirKind::Repetition(repetition) => {
            let times = usize::try_from(repetition.min).unwrap_or(0);
            let texts = shortest_texts(&repetition.sub).into_iter();
            // An optional part is present in other lines.
            let missing = (times == 0).then(Vec::new);
            let there = texts.map(|text| vec![text; times.max(1)].concat());
            missing.into_iter().chain(there).collect()
        }
        HirKind::Concat(parts) => one_after_another(parts),
    }
}

/// Takes every branch of every part once, instead of all combinations.
fn one_after_another(parts: &[Hir]) -> Vec<Vec<Piece>> {
    let parts: Vec<Vec<Vec<Piece>>> = parts.iter().map(shortest_texts).collect();
    let most = parts.iter().map(Vec::len).max().unwrap_or(0);
    let nth = |n: usize| parts.iter().flat_map(move |texts| texts[n % texts.len()].clone());
    (0..most).map(|n| nth(n).collect()).collect()
}

/// Returns texts such that every match contains at least one; `None` if the pattern guarantees no
/// text worth searching for. `worth` returns `None` for worthless texts, and lower values for rarer
/// ones.
fn cover(hir: &Hir, worth: &dyn Fn(&str) -> Option<u32>) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => {
            let run = fixed_text(hir)?;
            worth(&run).map(|_| vec![run])
        }
        HirKind::Capture(capture) => cover(&capture.sub, worth),
        HirKind::Repetition(repetition) if repetition.min > 0 => cover(&repetition.sub, worth),
        HirKind::Empty | HirKind::Look(_) | HirKind::Repetition(_) => None,
        HirKind::Alternation(branches) => {
            let covers: Option<Vec<_>> = branches.iter().map(|one| cover(one, worth)).collect();
            covers.map(|covers| covers.concat())
        }
        HirKind::Concat(parts) => rarest_cover(parts, worth),
    }
}

/// Returns the rarest cover among the parts of a sequence: a match contains all of them, so one is
/// enough.
fn rarest_cover(parts: &[Hir], worth: &dyn Fn(&str) -> Option<u32>) -> Option<Vec<String>> {
    let mut covers = Vec::new();
    let mut run = String::new();
    for part in parts {
        if matches!(part.kind(), HirKind::Look(_)) {
            continue;
        }
        if let Some(text) = fixed_text(part) {
            run.push_str(&text);
            continue;
        }
        covers.push(vec![std::mem::take(&mut run)]);
        covers.extend(cover(part, worth));
    }
    covers.push(vec![run]);
    let most = |texts: &Vec<String>| {
        let each: Option<Vec<u32>> = texts.iter().map(|text| worth(text)).collect();
        each.and_then(|each| each.into_iter().max())
    };
    let useful = covers.into_iter().filter_map(|texts| Some((most(&texts)?, texts)));
    useful
        .min_by_key(|(most, texts)| (*most, texts.len()))
        .map(|(_, texts)| texts)
}

/// Returns the fixed text of a literal, or of a letter in either case.
fn fixed_text(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            Some(String::from_utf8_lossy(&literal.0).to_lowercase())
        }
        HirKind::Class(class) => match member(class) {
            Piece::Fixed(text) => Some(text),
            Piece::Any(_) => None,
        },
        _ => None,
    }
}

/// Chooses a letter that no rule looks for, if the class has one; a letter in either case is fixed.
fn member(class: &Class) -> Piece {
    let Class::Unicode(class) = class else {
        return Piece::Any('x');
    };
    let first = class.iter().next().map_or('x', ClassUnicodeRange::start);
    let small: Vec<char> = first.to_lowercase().collect();
    let is_same = |c: char| small == c.to_lowercase().collect::<Vec<_>>() || "ſ\u{212a}".contains(c);
    let few = class.iter().map(ClassUnicodeRange::len).sum::<usize>() <= 3;
    if few && class.iter().all(|range| (range.start()..=range.end()).all(is_same)) {
        return Piece::Fixed(small.into_iter().collect());
    }
    let has = |c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(c));
    Piece::Any(['x', 'X', '7', ' '].into_iter().find(has).unwrap_or(first))
}

fn as_text(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Fixed(text) => text.clone(),
        Piece::Any(c) => c.to_lowercase().to_string(),
    };
    pieces.iter().map(text).collect()
}

/// Returns the fixed parts of a text.
fn fixed_runs(pieces: &[Piece]) -> Vec<String> {
    let mut runs = vec![String::new()];
    for piece in pieces {
        match piece {
            Piece::Fixed(text) => {
                if let Some(run) = runs.last_mut() {
                    run.push_str(text);
                }
            }
            Piece::Any(_) => runs.push(String::new()),
        }
    }
    runs
}

/// Words that are common in logs. A rule without anything rarer must name the texts it needs.
const EVERYWHERE: [&str; 14] = [
    "error", "errors", "failed", "fail", "fatal", "test", "tests", "passed", "warning", "info",
    "line", "note", "file", "from",
];

fn is_distinctive(run: &str, at_least: usize) -> bool {
    let word = run.trim_matches([' ', ':', '[', ']']);
    run.len() >= at_least && !word.is_empty() && !EVERYWHERE.contains(&word)
}

/// Returns the fixed parts that are distinctive enough to search for.
fn distinctive_runs(pieces: &[Piece], at_least: usize) -> Vec<String> {
    let runs = fixed_runs(pieces).into_iter();
    runs.filter(|run| is_distinctive(run, at_least)).collect()
}
