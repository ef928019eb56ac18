// SPDX-License-Identifier: MIT
//! What several tests share.
#![allow(dead_code)] // no test uses all of it

pub mod json;
pub mod vectors;

use polarquant::{Error, ErrorKind};
use std::path::PathBuf;

/// A file or folder of the repository; none beside a packaged crate.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// A path for one file of one test, which is removed in the end.
pub struct TemporaryFile(pub PathBuf);

impl TemporaryFile {
    pub fn new(name: &str) -> TemporaryFile {
        let name = format!("polarquant-{}-{}", std::process::id(), name);
        TemporaryFile(std::env::temp_dir().join(name))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The call failed for this cause, and its text has this part.
#[track_caller]
pub fn check_failed<T>(result: Result<T, Error>, kind: ErrorKind, part: &str) {
    match result {
        Ok(_) => panic!("the call succeeded; expected {}: {}", kind, part),
        Err(error) => {
            assert_eq!(error.kind(), kind, "{}", error);
            assert!(error.text().contains(part), "{}: expected {}", error, part);
        }
    }
}
