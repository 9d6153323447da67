package mlxrocm

// #include <mlxrocm.h>
import "C"

import (
	"context"
	"runtime"
	"time"
	"unsafe"
)

// GPUEvent is a mark in a stream's queue, set by Stream.Record. (An Event is one of a generation.)
type GPUEvent struct{ *object }

// NewEvent makes an event on a GPU, which marks nothing yet.
func (d *Device) NewEvent() (*GPUEvent, error) {
	var handle *C.mlxrocm_gpu_event
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_gpu_event_new(d.c(), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_gpu_event_free((*C.mlxrocm_gpu_event)(p)) }
	return &GPUEvent{owned(unsafe.Pointer(handle), free)}, nil
}

// c gives nil for a nil event.
func (e *GPUEvent) c() *C.mlxrocm_gpu_event {
	if e == nil {
		return nil
	}
	return (*C.mlxrocm_gpu_event)(e.get())
}

// Wait waits until the work before the mark is done, or for the end of the context; then the work goes on. It does not
// wait for an event that marks nothing.
func (e *GPUEvent) Wait(ctx context.Context) error {
	defer runtime.KeepAlive(e)
	return waited(ctx, func(timeout C.int64_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_gpu_event_wait(e.c(), timeout, failure)
	})
}

// Done says whether the work before the mark is done; of an event that marks nothing it is.
func (e *GPUEvent) Done() (bool, error) {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(e)
	status := C.mlxrocm_gpu_event_query(e.c(), &failure)
	return status == C.MLXROCM_OK, result(status, failure)
}

// Since gives the GPU's time between two events of it, which it must have passed.
func (e *GPUEvent) Since(earlier *GPUEvent) (time.Duration, error) {
	var milliseconds C.double
	var failure *C.mlxrocm_error
	status := C.mlxrocm_gpu_event_elapsed(earlier.c(), e.c(), &milliseconds, &failure)
	runtime.KeepAlive(e)
	runtime.KeepAlive(earlier)
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), result(status, failure)
}
