// SPDX-License-Identifier: MIT

package polarquant

import "sync/atomic"

// closedFlag is set in handle.users by close.
const closedFlag = 1 << 62

// handle is an object of the library that any number of calls use until it is closed. Who is last,
// close or a call that runs meanwhile, destroys it.
//
// It is no lock: nobody waits, so that a function of the caller's, which runs inside a call, can
// call the same object, or close it.
type handle struct {
	users     atomic.Int64
	destroyed atomic.Bool
	object    uintptr // its address, of C's memory
	destroy   func(uintptr)
}

func (h *handle) set(object uintptr, destroy func(uintptr)) {
	h.object, h.destroy = object, destroy
}

// acquire enters a user, who is to release it. Only then may object be read.
func (h *handle) acquire() error {
	if h.users.Add(1)&closedFlag != 0 || h.object == 0 {
		h.release()
		return ErrClosed
	}
	return nil
}

func (h *handle) release() {
	// A user who came too late may be the last one to go, after another who destroyed it.
	if h.users.Add(-1) == closedFlag && h.object != 0 && h.destroyed.CompareAndSwap(false, true) {
		h.destroy(h.object)
	}
}

// close reports whether this call was the one that closed it.
func (h *handle) close() bool {
	// The closer is a user until the flag is set, so that nobody else destroys the object.
	h.users.Add(1)
	defer h.release()
	for {
		users := h.users.Load()
		if users&closedFlag != 0 {
			return false
		}
		if h.users.CompareAndSwap(users, users|closedFlag) {
			return true
		}
	}
}
