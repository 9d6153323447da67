package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"runtime"
)

// LoadArrays gives the arrays of a safetensors or GGUF file by their names, and its metadata as far as that is texts.
// Elements stay in the file until they are needed: do not truncate it meanwhile.
func LoadArrays(path string) (map[string]*Array, map[string]string, error) {
	var memory arena
	defer memory.release()
	name, length := memory.text(path)
	var all *C.mlxrocm_array_map
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_array_map_load(name, length, &all, &failure); status < 0 {
		return nil, nil, taken(status, failure)
	}
	defer C.mlxrocm_array_map_free(all)
	arrays := make(map[string]*Array)
	for i := C.size_t(0); i < C.mlxrocm_array_map_count(all); i++ {
		var handle *C.mlxrocm_array
		name := C.mlxrocm_array_map_name(all, i, &length)
		if status := C.mlxrocm_array_map_get(all, name, length, &handle, &failure); status < 0 {
			return nil, nil, taken(status, failure)
		}
		arrays[C.GoStringN(name, C.int(length))] = own(handle)
	}
	metadata := make(map[string]string)
	for i := C.size_t(0); i < C.mlxrocm_array_map_metadata_count(all); i++ {
		key := C.mlxrocm_array_map_metadata_key(all, i, &length)
		if C.mlxrocm_array_map_metadata_kind(all, key, length) != C.MLXROCM_METADATA_TEXT {
			continue
		}
		keyLength := length
		text := C.mlxrocm_array_map_metadata_text(all, key, keyLength, 0, &length)
		metadata[C.GoStringN(key, C.int(keyLength))] = C.GoStringN(text, C.int(length))
	}
	return arrays, metadata, nil
}

// SaveSafetensors writes arrays and metadata (nil: none) to a file, which is there whole or not at all.
func SaveSafetensors(path string, arrays map[string]*Array, metadata map[string]string) error {
	return saveArrays(path, arrays, metadata, func(all *C.mlxrocm_array_map, path *C.char, length C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_array_map_save_safetensors(all, path, length, failure)
	})
}

// SaveGGUF is SaveSafetensors to a GGUF file.
func SaveGGUF(path string, arrays map[string]*Array, metadata map[string]string) error {
	return saveArrays(path, arrays, metadata, func(all *C.mlxrocm_array_map, path *C.char, length C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_array_map_save_gguf(all, path, length, failure)
	})
}

func saveArrays(
	path string, arrays map[string]*Array, metadata map[string]string,
	save func(all *C.mlxrocm_array_map, path *C.char, length C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status,
) error {
	var memory arena
	defer memory.release()
	var all *C.mlxrocm_array_map
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_array_map_new(&all, &failure); status < 0 {
		return taken(status, failure)
	}
	defer C.mlxrocm_array_map_free(all)
	for name, array := range arrays {
		if array.c() == nil {
			return invalid("the array %q is nil or was closed", name)
		}
		text, length := memory.text(name)
		status := C.mlxrocm_array_map_set(all, text, length, array.c(), &failure)
		runtime.KeepAlive(array)
		if status < 0 {
			return taken(status, failure)
		}
	}
	for key, value := range metadata {
		name, nameLength := memory.text(key)
		text, length := memory.text(value)
		if status := C.mlxrocm_array_map_set_metadata(all, name, nameLength, text, length, &failure); status < 0 {
			return taken(status, failure)
		}
	}
	name, length := memory.text(path)
	return result(save(all, name, length, &failure), failure)
}
