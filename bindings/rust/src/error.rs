// SPDX-License-Identifier: MIT
//! What a call returns that failed: its cause and the library's text.

use polarquant_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::io;
use std::os::raw::c_char;

/// What calls of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed: one kind for each status of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is outside what is allowed: a name, a length, a number that is not finite.
    BadArgument,
    /// This build, or this codec or index, cannot do it.
    Unsupported,
    /// `train` must come first.
    NotTrained,
    /// No row has this id.
    NotFound,
    /// Codes, queries or codecs of different states met, or training came after the first rows.
    StateMismatch,
    /// An allocation failed.
    OutOfMemory,
    /// Stored bytes are damaged, or not polarquant's.
    CorruptData,
    /// Stored bytes are of a newer format than this library reads.
    NewerFormat,
    /// Reading or writing failed.
    Io,
    /// A CUDA call failed.
    Cuda,
    /// A progress closure or a [`CancelToken`](crate::CancelToken) stopped the call.
    Cancelled,
    /// A bug in the library; please report it.
    Internal,
    /// A status that this crate does not know, of a newer library.
    Unknown(i32),
}

const STATUSES: [(sys::polar_status, ErrorKind); 12] = [
    (sys::POLAR_ERROR_BAD_ARGUMENT, ErrorKind::BadArgument),
    (sys::POLAR_ERROR_UNSUPPORTED, ErrorKind::Unsupported),
    (sys::POLAR_ERROR_NOT_TRAINED, ErrorKind::NotTrained),
    (sys::POLAR_ERROR_NOT_FOUND, ErrorKind::NotFound),
    (sys::POLAR_ERROR_STATE_MISMATCH, ErrorKind::StateMismatch),
    (sys::POLAR_ERROR_OUT_OF_MEMORY, ErrorKind::OutOfMemory),
    (sys::POLAR_ERROR_CORRUPT_DATA, ErrorKind::CorruptData),
    (sys::POLAR_ERROR_NEWER_FORMAT, ErrorKind::NewerFormat),
    (sys::POLAR_ERROR_IO, ErrorKind::Io),
    (sys::POLAR_ERROR_CUDA, ErrorKind::Cuda),
    (sys::POLAR_ERROR_CANCELLED, ErrorKind::Cancelled),
    (sys::POLAR_ERROR_INTERNAL, ErrorKind::Internal),
];

impl ErrorKind {
    /// The C library's number for it.
    pub fn status(self) -> i32 {
        match self {
            ErrorKind::Unknown(status) => status,
            _ => STATUSES.iter().find(|pair| pair.1 == self).map_or(0, |pair| pair.0),
        }
    }

    fn from_status(status: sys::polar_status) -> ErrorKind {
        let known = STATUSES.iter().find(|pair| pair.0 == status);
        known.map_or(ErrorKind::Unknown(status), |pair| pair.1)
    }
}

/// The library's name of the status: "bad argument", "not trained", …
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: takes any number and gives a static string.
        let name = unsafe { CStr::from_ptr(sys::polar_status_name(self.status())) };
        f.write_str(&name.to_string_lossy())
    }
}

/// A call that failed. After a failure nothing has changed, unless the call says otherwise.
///
/// Its text names the argument that was wrong, its value and what is allowed.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    text: Box<str>,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<Box<str>>) -> Error {
        let text = text.into();
        Error { kind, text, source: None }
    }

    pub(crate) fn bad_argument(text: impl Into<Box<str>>) -> Error {
        Error::new(ErrorKind::BadArgument, text)
    }

    /// Adds what a reader or a writer of the caller's returned.
    pub(crate) fn with_source(self, source: io::Error) -> Error {
        let text = format!("{}: {}", self.text, source).into();
        Error { kind: self.kind, text, source: Some(source) }
    }

    /// The cause.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The C library's number for the cause.
    pub fn status(&self) -> i32 {
        self.kind.status()
    }

    /// Which argument was wrong, its value and what is allowed; or what happened.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// The error of a status, with the text of this thread's last failed call.
pub(crate) fn check(status: sys::polar_status) -> Result<()> {
    if status == sys::POLAR_OK {
        Ok(())
    } else {
        Err(last_error(status))
    }
}

#[cold]
fn last_error(status: sys::polar_status) -> Error {
    // SAFETY: `buffer` has room for `cap` bytes.
    let text = read_text(|buffer, cap| unsafe { sys::polar_last_error(buffer, cap) });
    Error::new(ErrorKind::from_status(status), text)
}

/// A text of the library's: `copy` writes it to a buffer and returns its whole length without the 0.
pub(crate) fn read_text(mut copy: impl FnMut(*mut c_char, usize) -> usize) -> String {
    let mut buffer = vec![0u8; 256];
    loop {
        let length = copy(buffer.as_mut_ptr().cast(), buffer.len());
        if length < buffer.len() {
            buffer.truncate(length);
            return String::from_utf8(buffer)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
        buffer.resize(length + 1, 0);
    }
}
