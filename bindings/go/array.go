package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

// Array is an n-dimensional array. Operations are lazy: elements are computed by Eval or when they are read. Arrays
// never change.
type Array struct{ *object }

// DType is the type of an array's elements.
type DType uint32

// DTypeNone in place of a dtype: the one that an operation gives by itself.
const DTypeNone DType = C.MLXROCM_DTYPE_NONE

// String names the dtype as MLX does.
func (d DType) String() string {
	if d == DTypeNone {
		return "none"
	}
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("DType(%d)", uint32(d))
}

var dtypeNames = [...]string{
	Bool: "bool", Uint8: "uint8", Uint16: "uint16", Uint32: "uint32", Uint64: "uint64", Int8: "int8", Int16: "int16",
	Int32: "int32", Int64: "int64", Float16: "float16", Float32: "float32", Float64: "float64", Bfloat16: "bfloat16",
	Complex64: "complex64",
}

func (d DType) orNone() C.int64_t {
	if d == DTypeNone {
		return -1
	}
	return C.int64_t(d)
}

// AxisNone in place of an axis: none, the operation is on the array made flat.
const AxisNone = math.MinInt64

// Element is what Go has of the dtypes.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64 | complex64
}

func dtypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	}
	return Complex64
}

// FromSlice makes an array of a copy of the elements, row after row; without sizes it is a vector.
func FromSlice[T Element](data []T, shape ...int) (*Array, error) {
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	count := 1
	for _, size := range shape {
		if size < 0 || (size > 0 && count > math.MaxInt/size) {
			return nil, invalid("FromSlice: %v is no shape", shape)
		}
		count *= size
	}
	if count != len(data) {
		return nil, invalid("FromSlice: %d elements do not fill the shape %v", len(data), shape)
	}
	copied := make([]T, len(data)+1) // which has a first element, whatever data has
	copy(copied, data)
	return fromPointer(unsafe.Pointer(&copied[0]), shape, dtypeOf[T]())
}

// Scalar makes an array without axes.
func Scalar[T Element](value T) *Array {
	// A scalar fails only for want of memory.
	return Must(fromPointer(unsafe.Pointer(&value), nil, dtypeOf[T]()))
}

func fromPointer(data unsafe.Pointer, shape []int, dtype DType) (*Array, error) {
	sizes := ints(append([]int{}, shape...))
	var handle *C.mlxrocm_array
	var failure *C.mlxrocm_error
	status := C.mlxrocm_array_from_data(data, pointer(sizes), C.size_t(len(shape)), C.uint32_t(dtype), &handle, &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return own(handle), nil
}

// ToSlice reads the elements, row after row; T must be the dtype's (use AsType first where it is not).
func ToSlice[T Element](x *Array) ([]T, error) {
	switch x.DType() {
	case dtypeOf[T]():
	case DTypeNone:
		return nil, invalid("ToSlice: the array is nil or was closed")
	default:
		return nil, invalid("ToSlice: the array's dtype is %v, not %v: convert it with Astype", x.DType(), dtypeOf[T]())
	}
	data := make([]T, x.Size()+1)
	var failure *C.mlxrocm_error
	status := C.mlxrocm_array_read(x.c(), unsafe.Pointer(&data[0]), C.mlxrocm_array_bytes(x.c()), &failure)
	runtime.KeepAlive(x)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return data[:len(data)-1], nil
}

// DType of the elements.
func (x *Array) DType() DType {
	defer runtime.KeepAlive(x)
	return DType(C.mlxrocm_array_dtype(x.c()))
}

// Size is the number of elements.
func (x *Array) Size() int {
	defer runtime.KeepAlive(x)
	return int(C.mlxrocm_array_size(x.c()))
}

// Shape has the sizes, outermost first.
func (x *Array) Shape() []int {
	defer runtime.KeepAlive(x)
	sizes := make([]int64, int(C.mlxrocm_array_rank(x.c()))+1)
	C.mlxrocm_array_shape(x.c(), pointer(sizes), C.size_t(len(sizes)-1), nil, nil)
	shape := make([]int, len(sizes)-1)
	for i := range shape {
		shape[i] = int(sizes[i])
	}
	return shape
}

// String tells the shape and the dtype: elements are computed by ToSlice.
func (x *Array) String() string { return fmt.Sprintf("Array(%v, %v)", x.Shape(), x.DType()) }

// Item is the only element as a number.
func (x *Array) Item() (float64, error) {
	var value C.double
	var failure *C.mlxrocm_error
	status := C.mlxrocm_array_item_f64(x.c(), &value, &failure)
	runtime.KeepAlive(x)
	if status < 0 {
		return 0, taken(status, failure)
	}
	return float64(value), nil
}

// ToDevice moves the array to a device: what is computed of it is computed there. Lazy; reading works wherever it is.
func (x *Array) ToDevice(device *Device) (*Array, error) {
	var handle *C.mlxrocm_array
	var failure *C.mlxrocm_error
	status := C.mlxrocm_array_to_device(x.c(), device.c(), &handle, &failure)
	runtime.KeepAlive(x)
	runtime.KeepAlive(device)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return own(handle), nil
}

// Eval computes the elements of arrays, all of them in one go.
func Eval(arrays ...*Array) error {
	list := handles(arrays)
	var failure *C.mlxrocm_error
	status := C.mlxrocm_array_eval(&list[0], C.size_t(len(arrays)), &failure)
	runtime.KeepAlive(arrays)
	if status < 0 {
		return taken(status, failure)
	}
	return nil
}

// c gives nil for a nil array: an operation takes that as "none", or refuses it.
func (x *Array) c() *C.mlxrocm_array {
	if x == nil {
		return nil
	}
	return (*C.mlxrocm_array)(x.get())
}

func own(handle *C.mlxrocm_array) *Array {
	free := func(p unsafe.Pointer) { C.mlxrocm_array_free((*C.mlxrocm_array)(p)) }
	return &Array{owned(unsafe.Pointer(handle), free)}
}

func ownAll(handles []*C.mlxrocm_array) []*Array {
	made := make([]*Array, len(handles))
	for i, handle := range handles {
		made[i] = own(handle)
	}
	return made
}

// handles has one element more than arrays, so that it always has a first one.
func handles(arrays []*Array) []*C.mlxrocm_array {
	list := make([]*C.mlxrocm_array, len(arrays)+1)
	for i, array := range arrays {
		list[i] = array.c()
	}
	return list
}

func room(count int) ([]*C.mlxrocm_array, error) {
	if count < 0 || count > 1<<24 {
		return nil, invalid("%d is no number of parts", count)
	}
	return make([]*C.mlxrocm_array, count+1), nil
}

// ints is nil for nil, which C takes as "not given"; an empty list stays one.
func ints(values []int) []int64 {
	if values == nil {
		return nil
	}
	list := make([]int64, len(values)+1)
	for i, value := range values {
		list[i] = int64(value)
	}
	return list
}

func pointer(list []int64) *C.int64_t {
	if list == nil {
		return nil
	}
	return (*C.int64_t)(unsafe.Pointer(&list[0]))
}

func flag(value bool) C.int32_t {
	if value {
		return 1
	}
	return 0
}
