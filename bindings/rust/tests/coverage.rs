// SPDX-License-Identifier: MIT
//! Every function of the C library is declared, and reached by this crate or named in not_reached.txt.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use support::repository;

fn symbols() -> BTreeSet<String> {
    let text = fs::read_to_string(repository("tests/capi/polarquant_symbols.txt")).unwrap();
    text.split_whitespace().map(str::to_string).collect()
}

/// Names "polar_…" that stand after `before` in a text.
fn names_after(text: &str, before: &str) -> BTreeSet<String> {
    let name = |part: &str| {
        let is_of_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        part.chars().take_while(is_of_name).collect::<String>()
    };
    let names = text.split(before).skip(1).map(name);
    names.filter(|name| name.starts_with("polar_")).collect()
}

fn read_sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, text);
        } else {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_function_is_declared() {
    let bindings = repository("bindings/rust/polarquant-sys/src/bindings.rs");
    let declared = names_after(&fs::read_to_string(bindings).unwrap(), "pub fn ");
    assert_eq!(declared, symbols());
}

#[test]
fn every_function_is_reached_or_named() {
    let mut sources = String::new();
    read_sources(&repository("bindings/rust/src"), &mut sources);
    let mut reached = names_after(&sources, "sys::");
    // Tables name these, after the object or the struct.
    let in_tables = names_after(&sources, ": ").into_iter();
    let in_a_table = |name: &String| name.ends_with("_destroy") || name.ends_with("_init_sized");
    reached.extend(in_tables.filter(in_a_table));
    let named = fs::read_to_string(repository("bindings/rust/not_reached.txt")).unwrap();
    let named: BTreeSet<String> =
        named.lines().filter_map(|line| line.split(':').next()).map(str::to_string).collect();
    let missing: Vec<_> = symbols()
        .into_iter()
        .filter(|name| reached.contains(name) == named.contains(name))
        .collect();
    assert!(missing.is_empty(), "{:?}", missing);
}
