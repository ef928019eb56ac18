// SPDX-License-Identifier: MIT
//! Lengths of slices as the C library takes them, and memory for what it fills.

use crate::error::{Error, ErrorKind, Result};
use std::ffi::CString;
use std::fmt::Display;

pub(crate) fn not_allowed(name: &str, value: impl Display, allowed: impl Display) -> Error {
    Error::bad_argument(format!("{}: {} is not allowed; {}", name, value, allowed))
}

pub(crate) fn to_i64(name: &str, value: usize) -> Result<i64> {
    i64::try_from(value).map_err(|_| not_allowed(name, value, format_args!("at most {}", i64::MAX)))
}

pub(crate) fn to_i32(name: &str, value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|_| not_allowed(name, value, format_args!("at most {}", i32::MAX)))
}

/// A number of the library's that is never negative.
pub(crate) fn to_usize(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}

pub(crate) fn product(name: &str, a: usize, b: usize) -> Result<usize> {
    a.checked_mul(b)
        .ok_or_else(|| Error::bad_argument(format!("{}: {} times {} is too much", name, a, b)))
}

/// Rows of `width` numbers in a slice of `length`.
pub(crate) fn count_rows(name: &str, length: usize, width: usize) -> Result<usize> {
    if width == 0 || length % width != 0 {
        return Err(not_allowed(
            name,
            format_args!("length {}", length),
            format_args!("a multiple of {}", width),
        ));
    }
    Ok(length / width)
}

pub(crate) fn check_length(name: &str, length: usize, wanted: usize) -> Result<()> {
    if length != wanted {
        return Err(not_allowed(name, format_args!("length {}", length), wanted));
    }
    Ok(())
}

/// `count` zeros; an error where there is no memory for them.
pub(crate) fn zeros<T: Copy + Default>(count: usize) -> Result<Vec<T>> {
    let mut made = Vec::new();
    made.try_reserve_exact(count).map_err(|_| {
        let bytes = count.saturating_mul(std::mem::size_of::<T>());
        Error::new(ErrorKind::OutOfMemory, format!("no memory for {} bytes of results", bytes))
    })?;
    made.resize(count, T::default());
    Ok(made)
}

pub(crate) fn to_text(name: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        not_allowed(name, format_args!("{:?}", text), "a text without the character 0")
    })
}
