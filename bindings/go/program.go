package mlxrocm

// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// Program is launches, copies and fills that are recorded once, ordered by what each reads and writes, and run often.
type Program struct{ *object }

// NewProgram begins to record a program.
func (d *Device) NewProgram() (*Program, error) {
	var handle *C.mlxrocm_program
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_program_new(d.c(), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_program_free((*C.mlxrocm_program)(p)) }
	return &Program{owned(unsafe.Pointer(handle), free)}, nil
}

func (p *Program) c() *C.mlxrocm_program { return (*C.mlxrocm_program)(p.get()) }

// Launch records a kernel with its arguments, as Stream.Launch queues one.
func (p *Program) Launch(kernel *Kernel, how Launch, arguments ...any) error {
	var memory arena
	defer memory.release()
	launch, err := memory.launch(how, arguments)
	if err != nil {
		return err
	}
	var failure *C.mlxrocm_error
	status := C.mlxrocm_program_launch(p.c(), (*C.mlxrocm_kernel)(kernel.get()), launch, &failure)
	runtime.KeepAlive(p)
	runtime.KeepAlive(kernel)
	runtime.KeepAlive(arguments)
	return result(status, failure)
}

// Copy records a copy of bytes between two buffers in device memory.
func (p *Program) Copy(target *Buffer, targetOffset uint64, source *Buffer, sourceOffset, size uint64) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_program_copy(p.c(), target.c(), C.uint64_t(targetOffset), source.c(), C.uint64_t(sourceOffset),
		C.uint64_t(size), &failure)
	runtime.KeepAlive(p)
	runtime.KeepAlive(target)
	runtime.KeepAlive(source)
	return result(status, failure)
}

// Fill records a fill of bytes of a buffer in device memory with a value.
func (p *Program) Fill(buffer *Buffer, offset, size uint64, value byte) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_program_fill(p.c(), buffer.c(), C.uint64_t(offset), C.uint64_t(size), C.uint8_t(value), &failure)
	runtime.KeepAlive(p)
	runtime.KeepAlive(buffer)
	return result(status, failure)
}

// Barrier records that everything after it runs after everything before it.
func (p *Program) Barrier() error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(p)
	status := C.mlxrocm_program_barrier(p.c(), &failure)
	return result(status, failure)
}

// End ends the recording; from then on the program can be run.
func (p *Program) End() error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(p)
	status := C.mlxrocm_program_end(p.c(), &failure)
	return result(status, failure)
}

// How a program runs.
const (
	// ProgramDirect: one launch after another.
	ProgramDirect = C.MLXROCM_PROGRAM_DIRECT
	// ProgramGraph: the driver replays the whole program as a graph.
	ProgramGraph = C.MLXROCM_PROGRAM_GRAPH
)

// Why a program runs as it does.
const (
	// ReasonSetting: Device.SetGraphs or the environment variable MLXROCM_GRAPHS.
	ReasonSetting = C.MLXROCM_REASON_SETTING
	// ReasonCompared: graphs were compared with direct launches on this device, bit for bit and in time.
	ReasonCompared = C.MLXROCM_REASON_COMPARED
	// ReasonNotCompared: graphs were not compared on this device yet; the first run of a program of 8 launches or more,
	// all of which say what they write, does it.
	ReasonNotCompared = C.MLXROCM_REASON_NOT_COMPARED
	// ReasonNotBuilt: the driver does not build a graph of this program.
	ReasonNotBuilt = C.MLXROCM_REASON_NOT_BUILT
)

// ProgramInfo has facts about a recorded program.
type ProgramInfo struct {
	// How the next run goes, ProgramDirect or ProgramGraph, and why: ReasonSetting …
	Mode, Reason uint32
	// Launches, copies and fills; and pairs of them of which one must wait for the other, without those that others imply.
	Nodes, Edges uint64
	// Of ReasonCompared: whether replays gave the same bits as direct launches, and how long a direct run and a replay of
	// the program that was compared took.
	SameBits      bool
	Direct, Graph time.Duration
}

// Info tells facts about the program, whose recording must have ended.
func (p *Program) Info() (ProgramInfo, error) {
	info := C.mlxrocm_program_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(p)
	if status := C.mlxrocm_program_get_info(p.c(), &info, &failure); status < 0 {
		return ProgramInfo{}, taken(status, failure)
	}
	return ProgramInfo{
		Mode: uint32(info.mode), Reason: uint32(info.reason), Nodes: uint64(info.nodes), Edges: uint64(info.edges),
		SameBits: info.same_bits != 0, Direct: time.Duration(info.direct_ns), Graph: time.Duration(info.graph_ns),
	}, nil
}

// Explain says how the next run goes and why.
func (p *Program) Explain() (string, error) {
	defer runtime.KeepAlive(p)
	return filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_program_explain(p.c(), text, capacity, needed, failure)
	})
}
