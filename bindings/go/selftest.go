package mlxrocm

// #include <mlxrocm.h>
// extern int32_t mlxrocmGoReport(char *, size_t, void *);
import "C"

import (
	"context"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// SelftestOptions say how to test a GPU. Zero is each default.
type SelftestOptions struct {
	// Measure with small sizes and few rounds.
	Quick bool
	// Leave the measurements out.
	NoMeasurements bool
	// Seed of the random inputs; 0: a new one each time. The report names it.
	Seed uint64
	// Hears the report, plain text to attach to a bug report, line by line; an error ends the test, and comes out of Selftest.
	Report func(line string) error
}

// Selftest compares the built-in kernels of a GPU with plain forms on the processor, and graphs with direct launches, and
// measures copies, reads, launches and allocations; nil options are the usual ones. The error is SelftestFailed if the GPU
// computes wrong results, and names what failed. It takes up to a minute; the context's end ends it before the report's
// next line.
func (d *Device) Selftest(ctx context.Context, options *SelftestOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if options == nil {
		options = &SelftestOptions{}
	}
	var memory arena
	defer memory.release()
	how := (*C.mlxrocm_selftest_options)(memory.bytes(unsafe.Sizeof(C.mlxrocm_selftest_options{})))
	how.struct_size = C.uint32_t(unsafe.Sizeof(*how))
	how.seed = C.uint64_t(options.Seed)
	if options.Quick {
		how.flags |= C.MLXROCM_SELFTEST_QUICK
	}
	if options.NoMeasurements {
		how.flags |= C.MLXROCM_SELFTEST_NO_MEASUREMENTS
	}
	reader := &reportReader{ctx: ctx, line: options.Report}
	handle := cgo.NewHandle(reader)
	defer handle.Delete()
	place := (*cgo.Handle)(memory.bytes(unsafe.Sizeof(handle)))
	*place = handle
	how.report, how.user_data = C.mlxrocm_selftest_callback(C.mlxrocmGoReport), unsafe.Pointer(place)
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(d)
	if status := C.mlxrocm_device_selftest(d.c(), how, &failure); status < 0 {
		return reader.instead(taken(status, failure))
	}
	return nil
}

// reportReader is who hears a self-test's report.
type reportReader struct {
	hearing
	ctx  context.Context
	line func(line string) error
}

//export mlxrocmGoReport
func mlxrocmGoReport(line *C.char, length C.size_t, data unsafe.Pointer) (stop C.int32_t) {
	r := (*cgo.Handle)(data).Value().(*reportReader)
	// A panic must not go through the library: Selftest goes on with it.
	defer func() {
		if r.panicked = recover(); r.panicked != nil {
			stop = 1
		}
	}()
	if r.err = r.ctx.Err(); r.err == nil && r.line != nil {
		r.err = r.line(C.GoStringN(line, C.int(length)))
	}
	if r.err != nil {
		return 1
	}
	return 0
}
