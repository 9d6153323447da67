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

// Write queues a write of bytes to a buffer in device memory, from an offset on. They are taken before it returns: the
// caller may change them then.
func (s *Stream) Write(buffer *Buffer, offset uint64, bytes []byte) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_write(s.c(), buffer.c(), C.uint64_t(offset), start(bytes), C.size_t(len(bytes)), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(buffer)
	return result(status, failure)
}

// Read fills bytes with those of a buffer in device memory, from an offset on, after the work that is queued, for which
// it waits: they are there when it returns, and nothing is kept of them. What that work failed with comes out, as of
// Wait. The end of the context ends the wait; then nothing is read, and the work goes on.
func (s *Stream) Read(ctx context.Context, buffer *Buffer, offset uint64, bytes []byte) error {
	if err := s.Wait(ctx); err != nil {
		return err
	}
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_read(s.c(), buffer.c(), C.uint64_t(offset), start(bytes), C.size_t(len(bytes)), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(buffer)
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

// Record marks this point of the queue with an event; an earlier mark of the event is forgotten.
func (s *Stream) Record(event *GPUEvent) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_record(s.c(), event.c(), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(event)
	return result(status, failure)
}

// WaitFor lets what is queued from now on start after the work before the event's last mark, on whatever stream that
// was. It does not wait itself. An event that marks nothing is not waited for.
func (s *Stream) WaitFor(event *GPUEvent) error {
	var failure *C.mlxrocm_error
	status := C.mlxrocm_stream_wait_for(s.c(), event.c(), &failure)
	runtime.KeepAlive(s)
	runtime.KeepAlive(event)
	return result(status, failure)
}

// Done says whether all queued work is done. What it failed with is kept for the next Wait.
func (s *Stream) Done() (bool, error) {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(s)
	status := C.mlxrocm_stream_query(s.c(), &failure)
	return status == C.MLXROCM_OK, result(status, failure)
}

// Wait waits for all queued work, or the end of the context; then the work goes on.
func (s *Stream) Wait(ctx context.Context) error {
	defer runtime.KeepAlive(s)
	return waited(ctx, func(timeout C.int64_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_stream_wait(s.c(), timeout, failure)
	})
}

// How long a wait waits before it looks at its context, which cannot end it in C.
const look = 20 * time.Millisecond

// waited waits in C, or for the end of the context.
func waited(ctx context.Context, wait func(timeout C.int64_t, failure **C.mlxrocm_error) C.mlxrocm_status) error {
	timeout := C.int64_t(-1)
	if ctx.Done() != nil {
		timeout = C.int64_t(look)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var failure *C.mlxrocm_error
		status := wait(timeout, &failure)
		if status >= 0 {
			return nil
		}
		if err := taken(status, failure); timeout < 0 || !errors.Is(err, Timeout) {
			return err
		}
	}
}
