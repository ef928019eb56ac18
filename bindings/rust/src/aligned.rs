// SPDX-License-Identifier: MIT
//! Memory on a 64-byte boundary.

use crate::error::{Error, ErrorKind, Result};
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ptr::NonNull;

const ALIGNMENT: usize = 64;

/// Bytes on a 64-byte boundary.
pub(crate) struct AlignedBytes {
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: bytes that this object alone owns.
unsafe impl Send for AlignedBytes {}
unsafe impl Sync for AlignedBytes {}

impl AlignedBytes {
    pub(crate) fn zeros(bytes: usize) -> Result<AlignedBytes> {
        let no_memory = || {
            Error::new(ErrorKind::OutOfMemory, format!("no memory for {} bytes of blocks", bytes))
        };
        if bytes == 0 {
            let data = NonNull::new(ALIGNMENT as *mut u8).ok_or_else(no_memory)?;
            return Ok(AlignedBytes { data, bytes });
        }
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| no_memory())?;
        // SAFETY: the layout has a size.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(no_memory)?;
        Ok(AlignedBytes { data, bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.data.as_ptr()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Moves to memory of `bytes`, with the first `kept` bytes.
    pub(crate) fn grow(&mut self, kept: usize, bytes: usize) -> Result<()> {
        let mut grown = AlignedBytes::zeros(bytes)?;
        let kept = kept.min(self.bytes).min(bytes);
        // SAFETY: both have so many bytes, and are apart.
        unsafe { std::ptr::copy_nonoverlapping(self.as_ptr(), grown.as_mut_ptr(), kept) };
        *self = grown;
        Ok(())
    }
}

impl Drop for AlignedBytes {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: made with this layout.
            unsafe {
                let layout = Layout::from_size_align_unchecked(self.bytes, ALIGNMENT);
                dealloc(self.data.as_ptr(), layout);
            }
        }
    }
}
