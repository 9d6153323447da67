package mlxrocm

// #include <mlxrocm.h>
import "C"

import "unsafe"

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
