package mlxrocm

// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Buffer is memory of a GPU, or pinned host memory that it can reach. It is an io.ReaderAt and an io.WriterAt.
type Buffer struct {
	*object
	size int
}

// NewBuffer allocates memory of a GPU; its content is undefined.
func (d *Device) NewBuffer(size int) (*Buffer, error) {
	return d.newBuffer(C.MLXROCM_BUFFER_DEVICE, size)
}

// NewPinnedBuffer allocates host memory that the GPU can reach, for copies that go on while the program does something
// else.
func (d *Device) NewPinnedBuffer(size int) (*Buffer, error) {
	return d.newBuffer(C.MLXROCM_BUFFER_PINNED, size)
}

func (d *Device) newBuffer(kind C.uint32_t, size int) (*Buffer, error) {
	if size < 0 {
		return nil, invalid("there is no buffer of %d bytes", size)
	}
	var handle *C.mlxrocm_buffer
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_buffer_new(d.c(), kind, C.uint64_t(size), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_buffer_free((*C.mlxrocm_buffer)(p)) }
	return &Buffer{owned(unsafe.Pointer(handle), free), size}, nil
}

// c gives nil for a nil buffer.
func (b *Buffer) c() *C.mlxrocm_buffer {
	if b == nil {
		return nil
	}
	return (*C.mlxrocm_buffer)(b.get())
}

// Size in bytes.
func (b *Buffer) Size() int { return b.size }

// WriteAt copies bytes into the buffer, all of them or none, and waits until they are there.
func (b *Buffer) WriteAt(bytes []byte, offset int64) (int, error) {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(b)
	status := C.mlxrocm_buffer_write(b.c(), C.uint64_t(offset), start(bytes), C.size_t(len(bytes)), &failure)
	if status < 0 {
		return 0, taken(status, failure)
	}
	return len(bytes), nil
}

// ReadAt copies bytes out of the buffer, all of them or none. It does not wait for work that is queued.
func (b *Buffer) ReadAt(bytes []byte, offset int64) (int, error) {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(b)
	status := C.mlxrocm_buffer_read(b.c(), C.uint64_t(offset), start(bytes), C.size_t(len(bytes)), &failure)
	if status < 0 {
		return 0, taken(status, failure)
	}
	return len(bytes), nil
}

// start is nil for no bytes; cgo pins what it points to for the call, and checks that it holds no pointers.
func start(bytes []byte) unsafe.Pointer {
	if len(bytes) == 0 {
		return nil
	}
	return unsafe.Pointer(&bytes[0])
}

// Numeric is what kernels and buffers have in common with Go.
type Numeric interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// Bytes gives the memory of numbers, to be written to a buffer or read from it.
func Bytes[T Numeric](numbers []T) []byte {
	if len(numbers) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&numbers[0])), uintptr(len(numbers))*unsafe.Sizeof(numbers[0]))
}

// Module is code on a GPU.
type Module struct{ *object }

// CompileOptions say how to compile a source.
type CompileOptions struct {
	// The compiler's, like "-DROWS=4".
	Flags []string
	// What the source is called in messages.
	Name string
}

// Compile compiles kernels from a source in HIP's language, extern "C"; nil options are the usual ones. If it does not
// compile, the Error's Details have the compiler's log.
func (d *Device) Compile(source string, options *CompileOptions) (*Module, error) {
	if options == nil {
		options = &CompileOptions{}
	}
	var memory arena
	defer memory.release()
	code, length := memory.text(source)
	how := (*C.mlxrocm_compile_options)(memory.bytes(unsafe.Sizeof(C.mlxrocm_compile_options{})))
	how.struct_size = C.uint32_t(unsafe.Sizeof(*how))
	if options.Name != "" {
		how.name, how.name_length = memory.text(options.Name)
	}
	how.flags, how.flag_lengths = memory.texts(options.Flags)
	how.flag_count = C.uint32_t(len(options.Flags))
	var handle *C.mlxrocm_module
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_module_compile(d.c(), code, length, how, &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_module_free((*C.mlxrocm_module)(p)) }
	return &Module{owned(unsafe.Pointer(handle), free)}, nil
}

// Kernel is a function that a GPU runs.
type Kernel struct{ *object }

// Kernel finds a kernel of the module.
func (m *Module) Kernel(name string) (*Kernel, error) {
	var memory arena
	defer memory.release()
	text, length := memory.text(name)
	var handle *C.mlxrocm_kernel
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(m)
	status := C.mlxrocm_module_get_kernel((*C.mlxrocm_module)(m.get()), text, length, &handle, &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_kernel_free((*C.mlxrocm_kernel)(p)) }
	return &Kernel{owned(unsafe.Pointer(handle), free)}, nil
}

// KernelInfo has facts about a kernel.
type KernelInfo struct {
	Name string
	// Vector registers, and bytes of private memory, of a work item.
	Registers, ScratchBytes int
	// Of a block: bytes of local memory that it declares, and work items that it may have.
	LDSBytes, MaxBlockThreads int
	// Work items of a wave.
	WaveSize int
}

// Info tells facts about the kernel.
func (k *Kernel) Info() (KernelInfo, error) {
	info := C.mlxrocm_kernel_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(k)
	if status := C.mlxrocm_kernel_get_info((*C.mlxrocm_kernel)(k.get()), &info, &failure); status < 0 {
		return KernelInfo{}, taken(status, failure)
	}
	return KernelInfo{
		Name: C.GoString(info.name), Registers: int(info.registers), ScratchBytes: int(info.scratch_bytes),
		LDSBytes: int(info.lds_bytes), MaxBlockThreads: int(info.max_block_threads), WaveSize: int(info.wave_size),
	}, nil
}
