package mlxrocm

// #include <mlxrocm.h>
import "C"

import (
	"context"
	"errors"
	"runtime"
	"time"
	"unsafe"
)

// Size is blocks or work items in x, y and z; 0 in y or z is 1.
type Size [3]uint32

// Launch says how many blocks of how many work items run, and how many bytes of local memory a block gets beyond what
// the kernel declares.
type Launch struct {
	Grid, Block Size
	DynamicLDS  uint32
}

// In is a buffer from an offset on that a kernel reads.
type In struct {
	Buffer *Buffer
	Offset uint64
}

// Out is a buffer from an offset on that a kernel writes.
type Out struct {
	Buffer *Buffer
	Offset uint64
}

func argument(value any) (C.mlxrocm_arg, error) {
	switch v := value.(type) {
	case *Buffer:
		return C.mlxrocm_arg_buffer(v.c(), 0), nil
	case In:
		return C.mlxrocm_arg_input(v.Buffer.c(), C.uint64_t(v.Offset)), nil
	case Out:
		return C.mlxrocm_arg_output(v.Buffer.c(), C.uint64_t(v.Offset)), nil
	case uint32:
		return C.mlxrocm_arg_u32(C.uint32_t(v)), nil
	case int32:
		return C.mlxrocm_arg_i32(C.int32_t(v)), nil
	case float32:
		return C.mlxrocm_arg_f32(C.float(v)), nil
	case uint64:
		return C.mlxrocm_arg_u64(C.uint64_t(v)), nil
	case int64:
		return C.mlxrocm_arg_i64(C.int64_t(v)), nil
	case float64:
		return C.mlxrocm_arg_f64(C.double(v)), nil
	}
	return C.mlxrocm_arg{}, invalid("an argument is a *Buffer, an In, an Out or a number of 32 or 64 bits, not %T", value)
}

func (a *arena) launch(how Launch, arguments []any) (*C.mlxrocm_launch, error) {
	launch := (*C.mlxrocm_launch)(a.bytes(unsafe.Sizeof(C.mlxrocm_launch{})))
	launch.struct_size = C.uint32_t(unsafe.Sizeof(*launch))
	launch.dynamic_lds = C.uint32_t(how.DynamicLDS)
	for i := range how.Grid {
		launch.grid[i], launch.block[i] = C.uint32_t(how.Grid[i]), C.uint32_t(how.Block[i])
	}
	launch.args = (*C.mlxrocm_arg)(a.bytes(uintptr(len(arguments)) * unsafe.Sizeof(*launch.args)))
	launch.arg_count = C.size_t(len(arguments))
	for i, value := range arguments {
		var err error
		if unsafe.Slice(launch.args, len(arguments))[i], err = argument(value); err != nil {
			return nil, err
		}
	}
	return launch, nil
}

// Stream is a queue of work that a GPU does in order. What fails while it runs comes out of the next Wait.
type Stream struct{ *object }

// NewStream makes a stream on a GPU.
func (d *Device) NewStream() (*Stream, error) {
	var handle *C.mlxrocm_stream
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_stream_new(d.c(), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_stream_free((*C.mlxrocm_stream)(p)) }
	return &Stream{owned(unsafe.Pointer(handle), free)}, nil
}

func (s *Stream) c() *C.mlxrocm_stream { return (*C.mlxrocm_stream)(s.get()) }

// Launch queues a kernel with its arguments in its order: a *Buffer (read and written), an In, an Out, a number (uint32,
// int32, float32, uint64, int64, float64).
func (s *Stream) Launch(kernel *Kernel, how Launch, arguments ...any) error {
	var memory arena
	defer memory.release()
	launch, err := memory.launch(how, arguments)
	if err != nil {
		return err
	}
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_launch(s.c(), (*C.mlxrocm_kernel)(kernel.get()), launch, &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(kernel)
	runtime.KeepAlive(arguments)
	return result(status, failure)
}

// Copy queues a copy of bytes between two buffers.
func (s *Stream) Copy(target *Buffer, targetOffset uint64, source *Buffer, sourceOffset, size uint64) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_copy(s.c(), target.c(), C.uint64_t(targetOffset), source.c(), C.uint64_t(sourceOffset),
		C.uint64_t(size), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(target)
	runtime.KeepAlive(source)
	return result(status, failure)
}

// Fill queues a fill of bytes of a buffer with a value.
func (s *Stream) Fill(buffer *Buffer, offset, size uint64, value byte) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_fill(s.c(), buffer.c(), C.uint64_t(offset), C.uint64_t(size), C.uint8_t(value), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(buffer)
	return result(status, failure)
}

// How long Wait waits before it looks at its context.
const look = 20 * time.Millisecond

// Wait waits for all queued work, or the end of the context; then the work goes on.
func (s *Stream) Wait(ctx context.Context) error {
	defer runtime.KeepAlive(s)
	timeout := C.int64_t(-1)
	if ctx.Done() != nil {
		timeout = C.int64_t(look)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var failure *C.mlxrocm_error
		status := C.mlxrocm_stream_wait(s.c(), timeout, &failure)
		if status >= 0 {
			return nil
		}
		if err := taken(status, failure); timeout < 0 || !errors.Is(err, Timeout) {
			return err
		}
	}
}

// Program is launches that are recorded once, ordered by what each reads and writes, and run often.
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

// End ends the recording; from then on the program can be run.
func (p *Program) End() error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(p)
	status := C.mlxrocm_program_end(p.c(), &failure)
	return result(status, failure)
}

// Run queues a run of a program.
func (s *Stream) Run(program *Program) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_program_run(program.c(), s.c(), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(program)
	return result(status, failure)
}

// Explain says how the next run goes and why.
func (p *Program) Explain() (string, error) {
	defer runtime.KeepAlive(p)
	return filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_program_explain(p.c(), text, capacity, needed, failure)
	})
}
