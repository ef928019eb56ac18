// SPDX-License-Identifier: MIT
//! Objects of the C library, freed exactly once.

use crate::error::{check, Result};
use polarquant_sys as sys;
use std::ptr::{self, NonNull};

/// An object of the C library that has a function to free it.
pub(crate) trait Object {
    /// # Safety
    /// `object` was made by the library, is not used by any other call, and never will be again.
    unsafe fn destroy(object: *mut Self);
}

macro_rules! objects {
    ($($object:ident: $destroy:ident;)*) => {$(
        impl Object for sys::$object {
            unsafe fn destroy(object: *mut Self) {
                sys::$destroy(object)
            }
        }
    )*};
}

objects! {
    polar_index: polar_index_destroy;
    polar_builder: polar_builder_destroy;
    polar_codec: polar_codec_destroy;
    polar_query: polar_query_destroy;
    polar_prepared_filter: polar_prepared_filter_destroy;
    polar_advice: polar_advice_destroy;
    polar_cuda_index: polar_cuda_index_destroy;
    polar_cuda_encoder: polar_cuda_encoder_destroy;
    polar_cuda_codec: polar_cuda_codec_destroy;
}

/// Sole owner of an object.
pub(crate) struct Handle<T: Object>(NonNull<T>);

// SAFETY: no object of the library is bound to a thread. Calls that take a const pointer may run at
// the same time; those that need sole use of an object are behind `&mut self`, but for changes of
// an index, which the library has wait for one another.
unsafe impl<T: Object> Send for Handle<T> {}
unsafe impl<T: Object> Sync for Handle<T> {}

impl<T: Object> Handle<T> {
    /// What `create` makes through the pointer that it is given.
    pub(crate) fn create(create: impl FnOnce(*mut *mut T) -> sys::polar_status) -> Result<Self> {
        let mut made = ptr::null_mut();
        check(create(&mut made))?;
        Ok(Handle(NonNull::new(made).expect("the library made an object")))
    }

    /// For calls that may run at the same time.
    pub(crate) fn shared(&self) -> *const T {
        self.0.as_ptr()
    }

    /// For calls that need sole use.
    pub(crate) fn sole(&mut self) -> *mut T {
        self.0.as_ptr()
    }
}

impl Handle<sys::polar_index> {
    /// For changes of an index, which wait for one another in the library.
    pub(crate) fn changing(&self) -> *mut sys::polar_index {
        self.0.as_ptr()
    }
}

impl<T: Object> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: nothing borrows this handle any more, so no call uses the object.
        unsafe { T::destroy(self.0.as_ptr()) }
    }
}
