// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import "unsafe"

// CUDALayout is what each of several devices has of an index.
type CUDALayout int32

const (
	// Sharded: a part of the rows, which it searches for every query.
	Sharded CUDALayout = C.POLAR_CUDA_SHARDED
	// Replicated: all rows, which it searches for a part of the queries.
	Replicated CUDALayout = C.POLAR_CUDA_REPLICATED
)

// CUDAStream is a cudaStream_t of an object's device as a number; 0 is the default stream. Work is
// put on it, and it is waited for before a call returns.
type CUDAStream uintptr

// CUDAMemory is the address of memory of the host's or of a device's.
type CUDAMemory uintptr

// CUDAOptions say where an object is copied to. nil is the defaults.
type CUDAOptions struct {
	// Device is a number of [CUDADevices], read where Devices is empty.
	Device int
	// Devices are those of an index on several, at most 64; one may be there more than once, and is
	// then used as if it were more. For indexes alone.
	Devices []int
	// Layout of several devices.
	Layout CUDALayout
	// NumThreads of the host code rows that an index keeps as floats, and prepare the queries of a
	// [CUDACodec]; 0 is OpenMP's default.
	NumThreads int
}

// CUDADevice is a device of this machine.
type CUDADevice struct {
	// Name is its maker's name of it.
	Name string
	// ComputeMajor and ComputeMinor are the compute capability, as 9.0.
	ComputeMajor, ComputeMinor int
	// Multiprocessors is how many it has.
	Multiprocessors int
	// TotalBytes is the size of its memory, FreeBytes what of it is not in use now.
	TotalBytes, FreeBytes uint64
}

// CUDADevices lists the devices; a device's number is its place. The library's part for GPUs,
// libpolarquant_cuda, is loaded when one of the CUDA calls first needs it; without it, and without
// a device, they return [ErrUnsupported] with a text that says which.
func CUDADevices() ([]CUDADevice, error) {
	var count C.int32_t
	if err := errorOf(C.polargo_cuda_device_count(&count)); err != nil {
		return nil, err
	}
	devices := make([]CUDADevice, int(count))
	for i := range devices {
		var info C.polar_cuda_device_info
		info.struct_size = C.uint32_t(unsafe.Sizeof(info))
		if err := errorOf(C.polargo_cuda_get_device_info(C.int32_t(i), &info)); err != nil {
			return nil, err
		}
		devices[i] = CUDADevice{
			Name:            C.GoString(&info.name[0]),
			ComputeMajor:    int(info.compute_major),
			ComputeMinor:    int(info.compute_minor),
			Multiprocessors: int(info.multiprocessors),
			TotalBytes:      uint64(info.total_bytes),
			FreeBytes:       uint64(info.free_bytes),
		}
	}
	return devices, nil
}

// cudaOptions is how C takes the options.
func cudaOptions(options *CUDAOptions) (given C.polargo_cuda_options, err error) {
	if options == nil {
		return given, nil
	}
	if given.num_threads, err = asInt32("NumThreads", options.NumThreads); err != nil {
		return given, err
	}
	if given.device, err = asInt32("Device", options.Device); err != nil {
		return given, err
	}
	if given.num_devices, err = asInt32("Devices", len(options.Devices)); err != nil {
		return given, err
	}
	given.layout = C.polar_cuda_layout(options.Layout)
	devices := make([]C.int32_t, len(options.Devices))
	for i, device := range options.Devices {
		if devices[i], err = asInt32("Devices", device); err != nil {
			return given, err
		}
	}
	if len(devices) > 0 {
		given.devices = &devices[0]
	}
	return given, nil
}
