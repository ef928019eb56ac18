// SPDX-License-Identifier: MIT
//! README.md has the example as it is, and the example prints what every language's does.

mod support;

use std::process::Command;
use support::repository;

const SPDX: &str = "// SPDX-License-Identifier: MIT\n";

#[test]
fn the_readme_has_the_example() {
    let readme = std::fs::read_to_string(repository("bindings/rust/README.md")).unwrap();
    let example = std::fs::read_to_string(repository("bindings/rust/examples/first_search.rs"));
    let code = example.unwrap().replacen(SPDX, "", 1);
    let code = code.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    let block = format!("```rust\n{}\n```\n", code.trim());
    assert!(readme.contains(&block), "README.md lacks\n{}", block);
}

#[test]
fn the_example_prints_its_five_lines() {
    // Examples are built beside the folder of the tests.
    let test = std::env::current_exe().unwrap();
    let example = test.parent().unwrap().parent().unwrap().join("examples/first_search");
    let printed = Command::new(example).output().unwrap();
    assert!(printed.status.success(), "{:?}", printed);
    let text = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(text, "142 1.001\n852 1.001\n519 0.948\n852 1.001\nrows 999\n");
}
