package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
// extern void mlxrocmGoLog(uint32_t, char *, size_t, void *);
// extern void mlxrocmGoLogFree(void *);
// extern int32_t mlxrocmGoProgress(uint64_t, uint64_t, void *);
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// LogLevel is how severe a log line is.
type LogLevel uint32

// What SetLog listens to: lines of a level and more severe ones.
const (
	LogError LogLevel = C.MLXROCM_LOG_ERROR
	LogWarn  LogLevel = C.MLXROCM_LOG_WARN
	LogInfo  LogLevel = C.MLXROCM_LOG_INFO
	LogDebug LogLevel = C.MLXROCM_LOG_DEBUG
)

// SetLog sends the process' log lines of a level and more severe ones to a function; nil restores the default. It is
// called by goroutines that are in a call of this package, by several at once, and must not panic.
func SetLog(level LogLevel, line func(level LogLevel, message string)) error {
	var failure *C.mlxrocm_error
	if line == nil {
		status := C.mlxrocm_log_set_callback(C.uint32_t(level), nil, nil, nil, &failure)
		return result(status, failure)
	}
	// C keeps a handle of the function, not its address, in memory of its own.
	place := (*cgo.Handle)(C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0)))))
	*place = cgo.NewHandle(line)
	status := C.mlxrocm_log_set_callback(C.uint32_t(level), C.mlxrocm_log_callback(C.mlxrocmGoLog),
		unsafe.Pointer(place), C.mlxrocm_user_data_free(C.mlxrocmGoLogFree), &failure)
	return result(status, failure) // a failure has freed the handle
}

//export mlxrocmGoLog
func mlxrocmGoLog(level C.uint32_t, message *C.char, length C.size_t, data unsafe.Pointer) {
	line := (*cgo.Handle)(data).Value().(func(LogLevel, string))
	line(LogLevel(level), C.GoStringN(message, C.int(length)))
}

//export mlxrocmGoLogFree
func mlxrocmGoLogFree(data unsafe.Pointer) {
	(*cgo.Handle)(data).Delete()
	C.free(data)
}

// hearing is who hears how far loading or quantizing is, and what that ended with.
type hearing struct {
	progress func(done, total uint64) error
	err      error
	panicked any
}

// listen gives a callback that reports to it, with its data; `done` is to be called after the call.
func (h *hearing) listen(memory *arena) (progress C.mlxrocm_progress_callback, data unsafe.Pointer, done func()) {
	if h.progress == nil {
		return nil, nil, func() {}
	}
	handle := cgo.NewHandle(h)
	place := (*cgo.Handle)(memory.bytes(unsafe.Sizeof(handle)))
	*place = handle
	return C.mlxrocm_progress_callback(C.mlxrocmGoProgress), unsafe.Pointer(place), handle.Delete
}

// instead gives what the callback failed with in place of the library's error, or panics as it did.
func (h *hearing) instead(err error) error {
	if h.panicked != nil {
		panic(h.panicked)
	}
	if h.err != nil {
		return h.err
	}
	return err
}

//export mlxrocmGoProgress
func mlxrocmGoProgress(done, total C.uint64_t, data unsafe.Pointer) (stop C.int32_t) {
	h := (*cgo.Handle)(data).Value().(*hearing)
	// A panic must not go through the library: LoadModel goes on with it.
	defer func() {
		if h.panicked = recover(); h.panicked != nil {
			stop = 1
		}
	}()
	if h.err = h.progress(uint64(done), uint64(total)); h.err != nil {
		return 1
	}
	return 0
}
