package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

// Session runs several requests at once over one KV cache.
type Session struct{ *object }

// SessionOptions are the limits of a session; zero is each default.
type SessionOptions struct {
	// Tokens of context of a request, its prompt included.
	Context uint32
	// Requests that run at once; more wait for their turn.
	MaxRequests uint32
	// Prompt tokens that are run at once.
	PrefillChunk uint32
	// Tokens of KV cache that all requests share.
	KVTokens uint64
	// KVF16, KVQ8 or KVQ4.
	KVType uint64
	// What a request gives never depends on what runs beside it, on GPUs too (slower with more than 16 requests or
	// prompts beside them).
	BatchInvariant bool
	// Next tokens are guessed from what followed the same few earlier: the same text, sooner where guesses are right.
	PromptLookup bool
	// A smaller model with the same tokens that guesses; nil: none.
	DraftModel *Model
}

// How the KV cache keeps keys and values.
const (
	KVF16 = C.MLXROCM_KV_F16
	KVQ8  = C.MLXROCM_KV_Q8
	KVQ4  = C.MLXROCM_KV_Q4
)

// NewSession makes a session; nil options are the usual ones.
func (m *Model) NewSession(options *SessionOptions) (*Session, error) {
	if options == nil {
		options = &SessionOptions{}
	}
	how := C.mlxrocm_session_options{
		context: C.uint32_t(options.Context), max_requests: C.uint32_t(options.MaxRequests),
		prefill_chunk: C.uint32_t(options.PrefillChunk), kv_tokens: C.uint64_t(options.KVTokens),
		kv_type: C.uint64_t(options.KVType),
	}
	if options.BatchInvariant {
		how.batch_invariant = 1
	}
	if options.PromptLookup {
		how.prompt_lookup = 1
	}
	if options.DraftModel != nil {
		how.draft_model = (*C.mlxrocm_model)(options.DraftModel.get())
		defer runtime.KeepAlive(options.DraftModel)
	}
	how.struct_size = C.uint32_t(unsafe.Sizeof(how))
	var handle *C.mlxrocm_session
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(m)
	if status := C.mlxrocm_session_new((*C.mlxrocm_model)(m.get()), &how, &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_session_free((*C.mlxrocm_session)(p)) }
	return &Session{owned(unsafe.Pointer(handle), free)}, nil
}

// SessionInfo tells what a session is and does right now.
type SessionInfo struct {
	// Tokens of context of a request, its prompt included.
	Context uint32
	// Requests.
	Running, Waiting uint64
	// Tokens that the KV cache holds; of these, those of running requests, and those kept for prompts that begin alike.
	KVTokens, KVUsed, KVCached uint64
	KVBytes                    uint64
}

// Info tells what the session is and does right now.
func (s *Session) Info() (SessionInfo, error) {
	info := C.mlxrocm_session_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(s)
	if status := C.mlxrocm_session_get_info((*C.mlxrocm_session)(s.get()), &info, &failure); status < 0 {
		return SessionInfo{}, taken(status, failure)
	}
	return SessionInfo{
		Context: uint32(info.context), Running: uint64(info.running), Waiting: uint64(info.waiting),
		KVTokens: uint64(info.kv_tokens), KVUsed: uint64(info.kv_used), KVCached: uint64(info.kv_cached),
		KVBytes: uint64(info.kv_bytes),
	}, nil
}

// Chat lets the model answer a chat.
func (s *Session) Chat(ctx context.Context, messages []Message, options *Options) (*Generation, error) {
	if len(messages) == 0 {
		return nil, invalid("Chat: there is no message")
	}
	return s.Submit(ctx, Prompt{Messages: messages}, options)
}

// Submit queues a request and returns at once. The context's end cancels the generation, for as long as it runs.
func (s *Session) Submit(ctx context.Context, prompt Prompt, options *Options) (*Generation, error) {
	defer runtime.KeepAlive(s)
	return submit(ctx, &prompt, options, func(request *C.mlxrocm_request, handle **C.mlxrocm_generation, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_session_submit((*C.mlxrocm_session)(s.get()), request, handle, failure)
	})
}

// Batch runs all prompts at once and waits: their texts in order. If one fails, the others are cancelled.
func (s *Session) Batch(ctx context.Context, prompts []Prompt, options *Options) ([]string, error) {
	generations := make([]*Generation, 0, len(prompts))
	defer func() {
		for _, generation := range generations {
			generation.Close()
		}
	}()
	for _, prompt := range prompts {
		generation, err := s.Submit(ctx, prompt, options)
		if err != nil {
			return nil, err
		}
		generations = append(generations, generation)
	}
	texts := make([]string, len(prompts))
	for i, generation := range generations {
		var err error
		if texts[i], err = generation.Text(); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
