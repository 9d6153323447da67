// Package mlxrocm runs quantized language models and lazy arrays on AMD GPUs, NVIDIA GPUs and the CPU, through
// libmlxrocm.
//
//	model, err := mlxrocm.LoadModel("model.gguf", nil)
//	session, err := model.NewSession(nil)
//	generation, err := session.Chat(ctx, []mlxrocm.Message{{Role: "user", Content: "Hello"}}, nil)
//	_, err = generation.WriteTo(os.Stdout)
//
// All types may be used by any goroutine. Objects are freed by Close, or by the garbage collector some time after
// the last use; what was made from them goes on working.
package mlxrocm

// #cgo LDFLAGS: -lmlxrocm
// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Status says what kind of failure an Error is.
type Status int32

// Error gives the status' name.
func (s Status) Error() string { return C.GoString(C.mlxrocm_status_name(C.mlxrocm_status(s), nil)) }

// Error is a failed call: errors.Is(err, mlxrocm.InvalidFile) asks for its status.
type Error struct {
	Status  Status
	Message string
	// The long form, like a compiler's log, or "".
	Details string
	// What HIP or CUDA said, or 0.
	VendorCode int
}

func (e *Error) Error() string { return "mlxrocm: " + e.Message }

// Unwrap gives the Status.
func (e *Error) Unwrap() error { return e.Status }

// taken makes an error of the library's, which it frees.
func taken(status C.mlxrocm_status, failure *C.mlxrocm_error) error {
	defer C.mlxrocm_error_free(failure)
	message := C.GoString(C.mlxrocm_error_message(failure, nil))
	if Status(status) == NullArgument {
		// What Go has that is NULL to C.
		message = strings.Replace(message, " must not be NULL", " is nil or was closed", 1)
	}
	return &Error{
		Status:     Status(status),
		Message:    message,
		Details:    C.GoString(C.mlxrocm_error_details(failure, nil)),
		VendorCode: int(C.mlxrocm_error_vendor_code(failure)),
	}
}

// result is nil unless the status is a failure's.
func result(status C.mlxrocm_status, failure *C.mlxrocm_error) error {
	if status < 0 {
		return taken(status, failure)
	}
	return nil
}

func invalid(format string, arguments ...any) error {
	return &Error{Status: InvalidArgument, Message: fmt.Sprintf(format, arguments...)}
}

// object is an owned handle.
type object struct {
	handle unsafe.Pointer
	free   func(unsafe.Pointer)
}

// owned makes sure that the handle is freed once.
func owned(handle unsafe.Pointer, free func(unsafe.Pointer)) *object {
	made := &object{handle, free}
	runtime.SetFinalizer(made, (*object).Close)
	return made
}

// Close frees the object. Any number of times; what was made from it goes on working.
func (o *object) Close() {
	if handle := atomic.SwapPointer(&o.handle, nil); handle != nil {
		runtime.SetFinalizer(o, nil)
		o.free(handle)
	}
}

// get gives nil, which the library refuses, once the object is closed.
func (o *object) get() unsafe.Pointer {
	if o == nil {
		return nil
	}
	return atomic.LoadPointer(&o.handle)
}

// filledText measures, then fills.
func filledText(fill func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status) (string, error) {
	var needed C.size_t
	var failure *C.mlxrocm_error
	if status := fill(nil, 0, &needed, &failure); status < 0 {
		return "", taken(status, failure)
	}
	text := make([]byte, int(needed)+1)
	if status := fill((*C.char)(unsafe.Pointer(&text[0])), needed, &needed, &failure); status < 0 {
		return "", taken(status, failure)
	}
	return string(text[:needed-1]), nil
}

// arena is C memory for structs that point to each other, which Go's own may not be while C reads it.
type arena struct{ blocks []unsafe.Pointer }

func (a *arena) release() {
	for _, block := range a.blocks {
		C.free(block)
	}
}

func (a *arena) bytes(size uintptr) unsafe.Pointer {
	block := C.calloc(1, C.size_t(size)+1)
	a.blocks = append(a.blocks, block)
	return block
}

// text copies a string, with a NUL behind it, and tells its length: it may hold NULs.
func (a *arena) text(s string) (*C.char, C.size_t) {
	block := a.bytes(uintptr(len(s)))
	copy(unsafe.Slice((*byte)(block), len(s)), s)
	return (*C.char)(block), C.size_t(len(s))
}

// optional is nil of "".
func (a *arena) optional(s string) (*C.char, C.size_t) {
	if s == "" {
		return nil, 0
	}
	return a.text(s)
}

func (a *arena) texts(all []string) (**C.char, *C.size_t) {
	first := (**C.char)(a.bytes(uintptr(len(all)) * unsafe.Sizeof(uintptr(0))))
	lengths := (*C.size_t)(a.bytes(uintptr(len(all)) * unsafe.Sizeof(C.size_t(0))))
	for i, s := range all {
		unsafe.Slice(first, len(all))[i], unsafe.Slice(lengths, len(all))[i] = a.text(s)
	}
	return first, lengths
}

func (a *arena) tokens(tokens []Token) *C.uint32_t {
	block := a.bytes(uintptr(len(tokens)) * 4)
	copy(unsafe.Slice((*Token)(block), len(tokens)), tokens)
	return (*C.uint32_t)(block)
}

// Version of the library that runs, like "0.1.0".
func Version() string { return C.GoString(C.mlxrocm_version_string(nil)) }

// BuildInfo is one line about how the library was built, for bug reports: version, target, devices and formats.
func BuildInfo() string { return C.GoString(C.mlxrocm_build_info(nil)) }

// Must gives the value of a call that cannot fail but by a mistake in the program, and panics otherwise.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
