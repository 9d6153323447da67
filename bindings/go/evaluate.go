package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Pooling says how the hidden states of a text's tokens become one embedding.
type Pooling uint32

// What Embed does with the tokens.
const (
	// PoolingNone: a row for each token.
	PoolingNone Pooling = C.MLXROCM_POOLING_NONE
	PoolingMean Pooling = C.MLXROCM_POOLING_MEAN
	// PoolingCLS: the first token.
	PoolingCLS Pooling = C.MLXROCM_POOLING_CLS
	// PoolingLast: the last token.
	PoolingLast Pooling = C.MLXROCM_POOLING_LAST
)

// list has one element more than values, so that it always has a first one.
func list(values []uint32) *C.uint32_t {
	copied := append(append([]uint32{}, values...), 0)
	return (*C.uint32_t)(unsafe.Pointer(&copied[0]))
}

// rows measures, then fills.
func (s *Session) rows(
	fill func(session *C.mlxrocm_session, rows *C.float, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status,
) ([]float32, error) {
	handle := (*C.mlxrocm_session)(s.get())
	defer runtime.KeepAlive(s)
	var needed C.size_t
	var failure *C.mlxrocm_error
	if status := fill(handle, nil, 0, &needed, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	numbers := make([]float32, int(needed)+1)
	if status := fill(handle, (*C.float)(unsafe.Pointer(&numbers[0])), needed, &needed, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	return numbers[:needed], nil
}

// Logits gives a row of vocabulary size for each token: row i is about the token that follows the first i + 1.
func (s *Session) Logits(tokens []Token) ([]float32, error) {
	given, count := list(tokens), C.size_t(len(tokens))
	return s.rows(func(session *C.mlxrocm_session, rows *C.float, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_session_logits(session, given, count, rows, capacity, needed, failure)
	})
}

// LogitsAt gives the rows of some positions, which rise; of none: the last token's.
func (s *Session) LogitsAt(tokens []Token, positions []uint32) ([]float32, error) {
	given, count := list(tokens), C.size_t(len(tokens))
	at, places := list(positions), C.size_t(len(positions))
	return s.rows(func(session *C.mlxrocm_session, rows *C.float, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_session_logits_at(session, given, count, at, places, rows, capacity, needed, failure)
	})
}

// Embed gives the embedding of a text's tokens: their hidden states, pooled; normalize: of length 1.
func (s *Session) Embed(tokens []Token, pooling Pooling, normalize bool) ([]float32, error) {
	given, count := list(tokens), C.size_t(len(tokens))
	how := C.mlxrocm_embed_options{pooling: C.uint32_t(pooling)}
	how.struct_size = C.uint32_t(unsafe.Sizeof(how))
	if normalize {
		how.flags = C.MLXROCM_EMBED_NORMALIZE
	}
	return s.rows(func(session *C.mlxrocm_session, rows *C.float, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_session_embed(session, given, count, &how, rows, capacity, needed, failure)
	})
}
