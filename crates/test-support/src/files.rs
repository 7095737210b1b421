use std::fs;
use std::path::Path;

/// Returns the paths of all files below a folder, relative to it and sorted.
pub fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found.sort();
    found
}

fn collect(top: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(top, &path, found);
        } else {
            let inside = path.strip_prefix(top).unwrap();
            found.push(inside.display().to_string());
        }
    }
}
