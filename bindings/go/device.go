package mlxrocm

// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Device is an open device.
type Device struct{ *object }

// DeviceCount counts the devices of this machine: the CPU, then GPUs.
func DeviceCount() (int, error) {
	var count C.size_t
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_device_count(&count, &failure); status < 0 {
		return 0, taken(status, failure)
	}
	return int(count), nil
}

// OpenDevice opens a device: 0 is the CPU, GPUs follow from 1.
func OpenDevice(index int) (*Device, error) {
	if index < 0 {
		return nil, invalid("there is no device %d: the CPU is 0, GPUs follow", index)
	}
	var handle *C.mlxrocm_device
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_device_open(C.size_t(index), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_device_free((*C.mlxrocm_device)(p)) }
	return &Device{owned(unsafe.Pointer(handle), free)}, nil
}

// c gives nil for a nil device.
func (d *Device) c() *C.mlxrocm_device {
	if d == nil {
		return nil
	}
	return (*C.mlxrocm_device)(d.get())
}

// Kinds of devices.
const (
	CPU  = C.MLXROCM_DEVICE_CPU
	HIP  = C.MLXROCM_DEVICE_HIP
	CUDA = C.MLXROCM_DEVICE_CUDA
)

// WhyNoGPU says why there is no GPU of a kind (HIP or CUDA), and what to do about it; "" if there is one.
func WhyNoGPU(kind uint32) (string, error) {
	return filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_device_why_none(C.uint32_t(kind), text, capacity, needed, failure)
	})
}

// DeviceInfo has facts about a device. The last two lines are 0 or "" of the CPU.
type DeviceInfo struct {
	// CPU, HIP or CUDA.
	Kind uint32
	// ISA is like "avx2", "gfx1151" or "sm_90".
	Name, ISA               string
	ComputeUnits            int
	MemoryTotal, MemoryFree uint64
	Target, PCIID           string
	// Of a block: bytes of local memory, and work items; of a wave: work items.
	LDSBytes, MaxBlockThreads, WaveSize int
}

// Info tells facts about the device.
func (d *Device) Info() (DeviceInfo, error) {
	info := C.mlxrocm_device_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_device_get_info(d.c(), &info, &failure); status < 0 {
		return DeviceInfo{}, taken(status, failure)
	}
	return DeviceInfo{
		Kind: uint32(info.kind), Name: C.GoString(info.name), ISA: C.GoString(info.isa),
		ComputeUnits: int(info.compute_units), MemoryTotal: uint64(info.memory_total), MemoryFree: uint64(info.memory_free),
		Target: C.GoString(info.target), PCIID: C.GoString(info.pci_id), LDSBytes: int(info.lds_bytes),
		MaxBlockThreads: int(info.max_block_threads), WaveSize: int(info.wave_size),
	}, nil
}

// DeviceMemory has a GPU's counters, in bytes.
type DeviceMemory struct {
	// Held by buffers that are alive, and the most that ever was.
	Active, Peak uint64
	// Freed and kept for reuse.
	Cache uint64
	// The most that Active and Cache may be together.
	Limit uint64
	// Of the device, and what the driver says is free now.
	Total, Free uint64
	// Pinned host memory.
	PinnedActive, PinnedCache uint64
}

// Memory reads a GPU's counters.
func (d *Device) Memory() (DeviceMemory, error) {
	memory := C.mlxrocm_device_memory{}
	memory.struct_size = C.uint32_t(unsafe.Sizeof(memory))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_device_get_memory(d.c(), &memory, &failure); status < 0 {
		return DeviceMemory{}, taken(status, failure)
	}
	return DeviceMemory{
		Active: uint64(memory.active), Peak: uint64(memory.peak), Cache: uint64(memory.cache), Limit: uint64(memory.limit),
		Total: uint64(memory.total), Free: uint64(memory.free), PinnedActive: uint64(memory.pinned_active),
		PinnedCache: uint64(memory.pinned_cache),
	}, nil
}

// SetMemoryLimit sets the most memory of a GPU that this process uses through the library.
func (d *Device) SetMemoryLimit(bytes uint64) error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	status := C.mlxrocm_device_set_memory_limit(d.c(), C.uint64_t(bytes), &failure)
	return result(status, failure)
}

// ResetPeakMemory sets the counter Peak to what is in use now.
func (d *Device) ResetPeakMemory() error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	status := C.mlxrocm_device_reset_peak_memory(d.c(), &failure)
	return result(status, failure)
}

// Graphs says when programs run as graphs on a GPU.
type Graphs uint32

// What SetGraphs chooses from.
const (
	// GraphsAuto: where graphs were found right and faster on this device; the default, unless the environment variable
	// MLXROCM_GRAPHS is on or off.
	GraphsAuto Graphs = C.MLXROCM_GRAPHS_AUTO
	// GraphsOn: always, where the driver builds them.
	GraphsOn Graphs = C.MLXROCM_GRAPHS_ON
	// GraphsOff: never; one kernel is launched after another.
	GraphsOff Graphs = C.MLXROCM_GRAPHS_OFF
)

// SetGraphs sets when programs run as graphs on a GPU; Program.Info tells what was chosen.
func (d *Device) SetGraphs(when Graphs) error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	status := C.mlxrocm_device_set_graphs(d.c(), C.uint32_t(when), &failure)
	return result(status, failure)
}

// Trim gives a GPU's freed memory back to the driver.
func (d *Device) Trim() error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	status := C.mlxrocm_device_trim(d.c(), &failure)
	return result(status, failure)
}
