package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

// SaveState gives what was computed of the tokens, to go on after them in another session of the model.
func (s *Session) SaveState(tokens []Token) ([]byte, error) {
	handle := (*C.mlxrocm_session)(s.get())
	defer runtime.KeepAlive(s)
	given, count := list(tokens), C.size_t(len(tokens))
	var needed C.size_t
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_session_save_state(handle, given, count, nil, 0, &needed, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	state := make([]byte, int(needed)+1)
	place := (*C.uint8_t)(unsafe.Pointer(&state[0]))
	if status := C.mlxrocm_session_save_state(handle, given, count, place, needed, &needed, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	return state[:needed], nil
}

// SaveStateFile is SaveState to a file, which is there whole or not at all.
func (s *Session) SaveStateFile(tokens []Token, path string) error {
	var memory arena
	defer memory.release()
	defer runtime.KeepAlive(s)
	name, length := memory.text(path)
	var failure *C.mlxrocm_error
	handle := (*C.mlxrocm_session)(s.get())
	status := C.mlxrocm_session_save_state_file(handle, list(tokens), C.size_t(len(tokens)), name, length, &failure)
	return result(status, failure)
}

// LoadState keeps a state for prompts that begin with its tokens.
func (s *Session) LoadState(state []byte) error {
	defer runtime.KeepAlive(s)
	var failure *C.mlxrocm_error
	handle := (*C.mlxrocm_session)(s.get())
	return result(C.mlxrocm_session_load_state(handle, (*C.uint8_t)(start(state)), C.size_t(len(state)), &failure), failure)
}

// LoadStateFile is LoadState from a file.
func (s *Session) LoadStateFile(path string) error {
	var memory arena
	defer memory.release()
	defer runtime.KeepAlive(s)
	name, length := memory.text(path)
	var failure *C.mlxrocm_error
	return result(C.mlxrocm_session_load_state_file((*C.mlxrocm_session)(s.get()), name, length, &failure), failure)
}

// StateTokens gives the tokens of a saved state.
func StateTokens(state []byte) ([]Token, error) {
	bytes, size := (*C.uint8_t)(start(state)), C.size_t(len(state))
	var needed C.size_t
	var failure *C.mlxrocm_error
	if status := C.mlxrocm_state_get_tokens(bytes, size, nil, 0, &needed, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	tokens := make([]Token, int(needed)+1)
	place := (*C.uint32_t)(unsafe.Pointer(&tokens[0]))
	if status := C.mlxrocm_state_get_tokens(bytes, size, place, needed, &needed, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	return tokens[:needed], nil
}

// Fork goes on after the tokens whose events were taken, beside the generation.
func (g *Generation) Fork(ctx context.Context, options *Options) (*Generation, error) {
	defer runtime.KeepAlive(g)
	return submit(ctx, nil, options, func(request *C.mlxrocm_request, handle **C.mlxrocm_generation, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_generation_fork((*C.mlxrocm_generation)(g.get()), request, handle, failure)
	})
}
