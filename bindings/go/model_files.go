package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import "unsafe"

// TensorInfo is what a model file says about a tensor.
type TensorInfo struct {
	Name string
	// As the file spells it: "Q4_K", "BF16", "U32" …
	Format string
	// Outermost first.
	Shape []int
	Bytes uint64
}

// ListTensors gives the tensors of a GGUF file, a safetensors file or a model folder, in its order. Nothing is loaded:
// models that do not run here can be looked at.
func ListTensors(path string) ([]TensorInfo, error) {
	var memory arena
	defer memory.release()
	name, length := memory.text(path)
	var file *C.mlxrocm_model_file
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_model_file_open(name, length, &file, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	defer C.mlxrocm_model_file_free(file)
	tensors := make([]TensorInfo, int(C.mlxrocm_model_file_tensor_count(file)))
	for i := range tensors {
		info := C.mlxrocm_tensor_info{}
		info.struct_size = C.uint32_t(unsafe.Sizeof(info))
		if status := C.mlxrocm_model_file_get_tensor(file, C.size_t(i), &info, &failure); status < 0 {
			return nil, taken(status, failure)
		}
		shape := make([]int, int(info.rank))
		for axis, size := range unsafe.Slice((*int64)(unsafe.Pointer(info.shape)), len(shape)) {
			shape[axis] = int(size)
		}
		tensors[i] = TensorInfo{C.GoString(info.name), C.GoString(info.format), shape, uint64(info.bytes)}
	}
	return tensors, nil
}

// QuantizeOptions say how to quantize a model; zero is each default: affine, 4 bits in groups of 64.
type QuantizeOptions struct {
	Bits uint32
	// Weights that share a scale.
	GroupSize uint32
	// "affine", "mxfp4", "mxfp8" or "nvfp4".
	Mode string
	// One of mlx-lm's, like "mixed_4_6".
	Recipe string
	// The type of scales and of what is not quantized: "float16", "bfloat16" or "float32".
	DType string
	// What modules become by their paths, like "*.v_proj=6" or "lm_head=8:32"; the first that matches counts.
	Rules []string
	// CPU threads; 0: one for each CPU.
	Threads uint32
	// Hears how far it is, in bytes of the source; an error ends it, and comes out of Quantize.
	Progress func(done, total uint64) error
}

// Quantized is what Quantize made.
type Quantized struct {
	// Files of tensors.
	Files int
	// Numbers, and bytes, of all tensors; bytes of the source that an interrupted run had done before.
	Parameters, Bytes, ResumedBytes uint64
}

// Quantize makes a new folder in MLX's format of a model folder or GGUF file of 16- or 32-bit floats, as mlx-lm does; nil
// options are the usual ones. After an interrupted call the same one goes on.
func Quantize(source, destination string, options *QuantizeOptions) (Quantized, error) {
	if options == nil {
		options = &QuantizeOptions{}
	}
	var memory arena
	defer memory.release()
	how := (*C.mlxrocm_quantize_options)(memory.bytes(unsafe.Sizeof(C.mlxrocm_quantize_options{})))
	how.struct_size = C.uint32_t(unsafe.Sizeof(*how))
	how.bits, how.group_size, how.threads = C.uint32_t(options.Bits), C.uint32_t(options.GroupSize), C.uint32_t(options.Threads)
	how.mode, how.mode_length = memory.optional(options.Mode)
	how.recipe, how.recipe_length = memory.optional(options.Recipe)
	how.dtype, how.dtype_length = memory.optional(options.DType)
	how.rules, how.rules_lengths = memory.texts(options.Rules)
	how.rules_count = C.size_t(len(options.Rules))
	hears := hearing{progress: options.Progress}
	progress, data, done := hears.listen(&memory)
	defer done()
	how.progress, how.user_data = progress, data
	from, fromLength := memory.text(source)
	to, toLength := memory.text(destination)
	made := C.mlxrocm_quantize_result{}
	made.struct_size = C.uint32_t(unsafe.Sizeof(made))
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_model_quantize(from, fromLength, to, toLength, how, &made, &failure); status < 0 {
		return Quantized{}, hears.instead(taken(status, failure))
	}
	return Quantized{int(made.files), uint64(made.parameters), uint64(made.bytes), uint64(made.resumed_bytes)}, nil
}
