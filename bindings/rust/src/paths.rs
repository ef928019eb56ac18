// SPDX-License-Identifier: MIT
//! Paths as the C library takes them.

use crate::error::Result;
use crate::sizes::{not_allowed, to_i64};
use std::ffi::CString;
use std::os::raw::c_char;
use std::path::Path;

pub(crate) fn to_path(path: &Path) -> Result<CString> {
    let refused = || not_allowed("path", path.display(), "one without the character 0");
    CString::new(to_bytes(path)?).map_err(|_| refused())
}

/// Several paths as an array of C texts.
pub(crate) struct PathList {
    // The pointers point to these texts, which do not move with the list.
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl PathList {
    pub(crate) fn new(paths: &[impl AsRef<Path>]) -> Result<PathList> {
        let texts =
            paths.iter().map(|path| to_path(path.as_ref())).collect::<Result<Vec<CString>>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).collect();
        Ok(PathList { _texts: texts, pointers })
    }

    pub(crate) fn count(&self) -> Result<i64> {
        to_i64("paths", self.pointers.len())
    }

    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

/// The system's own bytes.
#[cfg(unix)]
fn to_bytes(path: &Path) -> Result<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    Ok(path.as_os_str().as_bytes().to_vec())
}

#[cfg(not(unix))]
fn to_bytes(path: &Path) -> Result<Vec<u8>> {
    let text = path.to_str().ok_or_else(|| not_allowed("path", path.display(), "Unicode"))?;
    Ok(text.as_bytes().to_vec())
}
