// SPDX-License-Identifier: MIT

//go:build !polarquant_checkout

package main

// An installed library, found by pkg-config.

// #cgo pkg-config: polarquant
import "C"
