use std::process::Command;

use crate::check::testchild;

const MEGABYTE: u64 = 1 << 20;

/// Returns the bytes seen and the peak memory in kB.
fn read(bytes: u64, how: &str) -> (u64, u64) {
    let output = Command::new(testchild())
        .args(["read", &bytes.to_string(), how])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<u64> = text
        .split_ascii_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    (numbers[0], numbers[1])
}

fn assert_small(bytes: u64) {
    for how in ["plain", "masked"] {
        let (seen, peak) = read(bytes, how);
        assert_eq!(seen, bytes);
        assert!(peak < 16 * 1024, "{how}: {peak} kB");
    }
}

#[test]
fn a_lot_of_output_needs_little_memory() {
    assert_small(256 * MEGABYTE);
}

#[test]
#[ignore = "takes a while without optimisation"]
fn a_gigabyte_of_output_needs_little_memory() {
    assert_small(1024 * MEGABYTE);
}
