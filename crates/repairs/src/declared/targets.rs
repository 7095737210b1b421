//! Targets of make and just: what they make is what they are called after, or what their
//! recipe writes.

use super::{Says, Target};
use crate::names::is_target;

pub(super) fn makefile(text: &str) -> Says {
    let mut targets: Vec<Target> = Vec::new();
    let joined = text.replace("\\\n", " ");
    let mut open = Vec::new();
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            add_recipe(&mut targets, &open, recipe);
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            open = rule_names(line);
            let needs = needs(line);
            targets.extend(open.iter().map(|name| named(name, needs.clone())));
            let inline = line.split_once(';').map(|(_, recipe)| recipe);
            add_recipe(&mut targets, &open, inline.unwrap_or_default());
        }
    }
    saying(targets)
}

/// The targets that a line opens; none for variables and conditionals.
fn rule_names(line: &str) -> Vec<String> {
    let Some((names, rest)) = line.split_once(':') else {
        return Vec::new();
    };
    let is_variable = rest.starts_with('=') || names.contains('=') || rest.starts_with(":=");
    if is_variable || line.starts_with([' ', '.']) {
        return Vec::new();
    }
    let names = names.split_ascii_whitespace();
    names
        .filter(|name| is_target(name))
        .map(str::to_owned)
        .collect()
}

/// What stands after the colon, up to a recipe.
fn needs(line: &str) -> Vec<String> {
    let after = line.split_once(':').map_or("", |(_, rest)| rest);
    let names = after
        .split(';')
        .next()
        .unwrap_or_default()
        .split_ascii_whitespace();
    names
        .filter(|name| is_target(name))
        .map(str::to_owned)
        .collect()
}

fn named(name: &str, needs: Vec<String>) -> Target {
    let is_file = name.contains(['/', '.']);
    Target {
        name: name.to_owned(),
        makes: is_file.then(|| name.to_owned()).into_iter().collect(),
        needs,
        grave: None,
    }
}

fn add_recipe(targets: &mut [Target], names: &[String], line: &str) {
    for target in targets
        .iter_mut()
        .filter(|target| names.contains(&target.name))
    {
        target.makes.extend(written_by(line));
        target.makes.dedup();
        target.grave = target.grave.take().or_else(|| grave_word(line));
    }
}

pub(super) fn justfile(text: &str) -> Says {
    let mut targets: Vec<Target> = Vec::new();
    let mut open = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            add_recipe(&mut targets, &open, line.trim_start());
        } else if let Some((head, rest)) = line.split_once(':')
            && !rest.starts_with('=')
            && !line.starts_with('#')
        {
            // Recipes with parameters need values that nobody has.
            let mut words = head.trim_start_matches('@').split_ascii_whitespace();
            let name = words.next().filter(|name| is_target(name));
            open = name
                .filter(|_| words.next().is_none())
                .map(str::to_owned)
                .into_iter()
                .collect();
            targets.extend(open.iter().map(|name| Target {
                name: name.clone(),
                makes: Vec::new(),
                needs: needs(line),
                grave: None,
            }));
        }
    }
    saying(targets)
}

fn saying(targets: Vec<Target>) -> Says {
    Says {
        targets,
        ..Says::default()
    }
}

/// Words that do more than make a file.
const GRAVE: [&str; 16] = [
    "sudo",
    "rm -r",
    "rm -fr",
    "git push",
    "git reset",
    "git clean",
    "publish",
    "deploy",
    "curl",
    "wget",
    "ssh ",
    "scp ",
    "kubectl",
    "terraform",
    "docker",
    "DROP ",
];

pub(super) fn grave_word(recipe: &str) -> Option<String> {
    let word = GRAVE.iter().find(|word| recipe.contains(**word));
    word.map(|word| word.trim().to_owned())
}

/// What a recipe writes, as far as it says so: after `>`, `-o`, `--output`, `tee`, `touch`.
pub(super) fn written_by(recipe: &str) -> Vec<String> {
    let spaced = recipe.replace(">>", " > ").replace('>', " > ");
    let words: Vec<&str> = spaced
        .split(|c: char| c.is_whitespace() || ";&|()".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let writes = |word: &str| matches!(word, ">" | "-o" | "--output" | "--out" | "tee" | "touch");
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [before, path] if writes(before) => Some(*path),
        _ => None,
    });
    let assigned = words.iter().filter_map(|word| {
        word.strip_prefix("--output=")
            .or_else(|| word.strip_prefix("--outfile="))
    });
    let is_path = |word: &&str| is_target(word) && !word.starts_with('/');
    pairs
        .chain(assigned)
        .map(|word| word.trim_matches(['\'', '"']))
        .filter(is_path)
        .map(|word| word.trim_start_matches("./").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn makes(says: &Says) -> Vec<(&str, Vec<&str>)> {
        says.targets
            .iter()
            .map(|target| {
                (
                    target.name.as_str(),
                    target.makes.iter().map(String::as_str).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn a_rule_makes_the_file_it_is_called_after() {
        let says = makefile(
            "V := 1\nX = a:b\n.PHONY: gen\ngen: gen/version.py\ngen/version.py: version.txt\n\
             \tmkdir -p gen; echo x > $@\nschema:\n\tprotoc -o api/s.bin x.proto\n",
        );
        assert_eq!(
            makes(&says),
            [
                ("gen", vec![]),
                ("gen/version.py", vec!["gen/version.py"]),
                ("schema", vec!["api/s.bin"])
            ]
        );
    }

    #[test]
    fn a_recipe_makes_what_it_writes() {
        let says = justfile(
            "set shell := ['x']\nv := '1'\ngen:\n    node gen.js > src/v.js\nrelease tag:\n    x\n",
        );
        assert_eq!(makes(&says), [("gen", vec!["src/v.js"])]);
    }
}
