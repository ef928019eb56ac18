// SPDX-License-Identifier: MIT
//! Paths as the C library takes them.

use crate::error::Result;
use crate::sizes::not_allowed;
use std::ffi::CString;
use std::path::Path;

pub(crate) fn to_path(path: &Path) -> Result<CString> {
    let refused = || not_allowed("path", path.display(), "one without the character 0");
    CString::new(to_bytes(path)?).map_err(|_| refused())
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
