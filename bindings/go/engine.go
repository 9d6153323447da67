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

// Kinds of buffers.
const (
	// DeviceBuffer is memory of a GPU.
	DeviceBuffer = C.MLXROCM_BUFFER_DEVICE
	// PinnedBuffer is host memory that the GPU can reach.
	PinnedBuffer = C.MLXROCM_BUFFER_PINNED
)

// BufferInfo has facts about a buffer.
type BufferInfo struct {
	// DeviceBuffer or PinnedBuffer.
	Kind uint32
	// Bytes, as asked for.
	Size uint64
	// Where the GPU sees it; as a uint64 an argument of a kernel.
	Address uint64
	// Of a pinned buffer where the program reads and writes it, after it waited for queued work that uses it; else nil. It is
	// C's memory, which is there until the buffer is closed, or collected: keep the Buffer, not only this.
	Data unsafe.Pointer
}

// Info tells facts about the buffer.
func (b *Buffer) Info() (BufferInfo, error) {
	info := C.mlxrocm_buffer_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(b)
	if status := C.mlxrocm_buffer_get_info(b.c(), &info, &failure); status < 0 {
		return BufferInfo{}, taken(status, failure)
	}
	return BufferInfo{uint32(info.kind), uint64(info.size), uint64(info.address), info.data}, nil
}

// WriteAt copies bytes into the buffer, all of them or none, and waits until they are there. It does not wait for work that
// is queued; Stream.Write comes after that.
func (b *Buffer) WriteAt(bytes []byte, offset int64) (int, error) {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(b)
	status := C.mlxrocm_buffer_write(b.c(), C.uint64_t(offset), start(bytes), C.size_t(len(bytes)), &failure)
	if status < 0 {
		return 0, taken(status, failure)
	}
	return len(bytes), nil
}

// ReadAt copies bytes out of the buffer, all of them or none. It does not wait for work that is queued; Stream.Read does.
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
	return newModule(handle), nil
}

// LoadModule loads code that was compiled for a GPU: an ELF code object of its target (AMD), a cubin or PTX (NVIDIA).
func (d *Device) LoadModule(code []byte) (*Module, error) {
	var handle *C.mlxrocm_module
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_module_load(d.c(), start(code), C.size_t(len(code)), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	return newModule(handle), nil
}

func newModule(handle *C.mlxrocm_module) *Module {
	free := func(p unsafe.Pointer) { C.mlxrocm_module_free((*C.mlxrocm_module)(p)) }
	return &Module{owned(unsafe.Pointer(handle), free)}
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
	return newKernel(handle), nil
}

// Kernel finds one of the library's own kernels, like "mlxrocm_vector_add_f32"; what they take is in the comments of
// their sources.
func (d *Device) Kernel(name string) (*Kernel, error) {
	var memory arena
	defer memory.release()
	text, length := memory.text(name)
	var handle *C.mlxrocm_kernel
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_device_get_kernel(d.c(), text, length, &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	return newKernel(handle), nil
}

func newKernel(handle *C.mlxrocm_kernel) *Kernel {
	free := func(p unsafe.Pointer) { C.mlxrocm_kernel_free((*C.mlxrocm_kernel)(p)) }
	return &Kernel{owned(unsafe.Pointer(handle), free)}
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
