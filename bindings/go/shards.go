// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import "context"

// MergeFiles merges the index files at paths, one or more, into one at out, which may be one of
// them, but on Windows ([ErrIO] there, and nothing changes): the bytes, after equal training, that
// one index has which was given all rows in this order. Memory does not grow with the rows: files
// are mapped and read through.
//
// Ids of the caller's stay and must differ, [ErrBadArgument] names one that comes twice; other rows
// are numbered on. Codes must be made alike: [ErrStateMismatch] names the file and the part that
// differs (train once, and give all shards that state by Clone). For the kinds of index that
// [NewBuilder] takes; [ErrUnsupported] for others. out appears whole or not at all. NumThreads of
// the options is not used.
func MergeFiles(ctx context.Context, paths []string, out string, options *WorkOptions) error {
	texts, err := closedTexts("paths", paths)
	if err != nil {
		return err
	}
	target, err := closedText("out", out)
	if err != nil {
		return err
	}
	var c call
	work, err := c.startWork(ctx, options)
	if err != nil {
		return err
	}
	return c.end(C.polargo_merge_files(C.int64_t(len(paths)), texts, target, work))
}

// OpenShards returns the index files at paths, one or more, as one index, with the answers, to the
// bit, of the file that [MergeFiles] makes of them.
//
// They are mapped, and must stay as MemoryMap of [LoadOptions] says; the index cannot be changed, but
// saved and cloned. Rows are verified when they are first used; ids that two files have are found by
// Verify, and by Save. Errors are those of MergeFiles; besides, flat codes of the published codecs
// are not searched.
func OpenShards(paths []string) (*Index, error) {
	texts, err := closedTexts("paths", paths)
	if err != nil {
		return nil, err
	}
	var out C.polargo_index
	if err := errorOf(C.polargo_index_open_shards(C.int64_t(len(paths)), texts, &out)); err != nil {
		return nil, err
	}
	return adoptIndex(out)
}

// LoadEmpty returns an index without rows, in memory, that codes as the one in the file at path does:
// for shards whose rows mix with the file's, which are not read. For the kinds of index that
// [NewBuilder] takes; [ErrUnsupported] for others.
func LoadEmpty(path string) (*Index, error) {
	text, err := closedText("path", path)
	if err != nil {
		return nil, err
	}
	var out C.polargo_index
	if err := errorOf(C.polargo_index_load_empty(text, &out)); err != nil {
		return nil, err
	}
	return adoptIndex(out)
}
