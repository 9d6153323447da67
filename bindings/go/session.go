package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
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

// Options say how to continue a prompt. Zero is each default: greedy, until the model stops.
type Options struct {
	MaxTokens                                            uint32
	Temperature, TopP, MinP                              float32
	TopK                                                 uint32
	RepetitionPenalty, PresencePenalty, FrequencyPenalty float32
	PenaltyWindow                                        uint32
	Seed                                                 uint64
	Stop                                                 []string
	StopTokens                                           []Token
	// What is added to tokens' logits.
	LogitBias map[Token]float32
	// n above 0: tokens tell their log-probability and the n most probable ones.
	Logprobs uint32
	// Go on past the model's own stop tokens.
	IgnoreEOS bool
}

// Prompt is one of Text, Tokens, Messages and ChatJSON, a chat in the form of OpenAI's API: an object of messages,
// tools and further variables of the chat template.
type Prompt struct {
	Text     string
	Tokens   []Token
	Messages []Message
	ChatJSON string
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

func submit(
	ctx context.Context, prompt *Prompt, options *Options,
	call func(request *C.mlxrocm_request, handle **C.mlxrocm_generation, failure **C.mlxrocm_error) C.mlxrocm_status,
) (*Generation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if options == nil {
		options = &Options{}
	}
	var memory arena
	defer memory.release()
	request := memory.request(prompt, options)
	var handle *C.mlxrocm_generation
	var failure *C.mlxrocm_error
	if status := call(request, &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_generation_free((*C.mlxrocm_generation)(p)) }
	generation := &Generation{object: owned(unsafe.Pointer(handle), free), ctx: ctx, ended: make(chan struct{})}
	if ctx.Done() != nil {
		// It holds the object alone, so that a forgotten generation is still collected.
		go watch(ctx, generation.object, generation.ended)
		runtime.SetFinalizer(generation, (*Generation).Close)
	}
	return generation, nil
}

func watch(ctx context.Context, generation *object, ended <-chan struct{}) {
	select {
	case <-ctx.Done():
		_ = cancel(generation)
	case <-ended:
	}
}

func cancel(generation *object) error {
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(generation)
	if status := C.mlxrocm_generation_cancel((*C.mlxrocm_generation)(generation.get()), &failure); status < 0 {
		return taken(status, failure)
	}
	return nil
}

// request is one without a prompt where that is nil.
func (a *arena) request(prompt *Prompt, o *Options) *C.mlxrocm_request {
	r := (*C.mlxrocm_request)(a.bytes(unsafe.Sizeof(C.mlxrocm_request{})))
	r.struct_size = C.uint32_t(unsafe.Sizeof(*r))
	r.max_tokens, r.top_k = C.uint32_t(o.MaxTokens), C.uint32_t(o.TopK)
	r.penalty_window, r.logprobs, r.seed = C.uint32_t(o.PenaltyWindow), C.uint32_t(o.Logprobs), C.uint64_t(o.Seed)
	r.temperature, r.top_p, r.min_p = C.float(o.Temperature), C.float(o.TopP), C.float(o.MinP)
	r.repetition_penalty = C.float(o.RepetitionPenalty)
	r.presence_penalty, r.frequency_penalty = C.float(o.PresencePenalty), C.float(o.FrequencyPenalty)
	if o.IgnoreEOS {
		r.flags = C.MLXROCM_REQUEST_IGNORE_EOS
	}
	if prompt != nil {
		a.prompt(r, prompt)
	}
	r.stop, r.stop_lengths = a.texts(o.Stop)
	r.stop_count = C.size_t(len(o.Stop))
	r.stop_tokens, r.stop_token_count = a.tokens(o.StopTokens), C.size_t(len(o.StopTokens))
	var tokens []Token
	values := (*C.float)(a.bytes(uintptr(len(o.LogitBias)) * 4))
	for token, bias := range o.LogitBias {
		unsafe.Slice(values, len(o.LogitBias))[len(tokens)] = C.float(bias)
		tokens = append(tokens, token)
	}
	r.bias_tokens, r.bias_values, r.bias_count = a.tokens(tokens), values, C.size_t(len(tokens))
	return r
}

func (a *arena) prompt(r *C.mlxrocm_request, prompt *Prompt) {
	if prompt.Text != "" || (len(prompt.Tokens) == 0 && len(prompt.Messages) == 0 && prompt.ChatJSON == "") {
		r.text, r.text_length = a.text(prompt.Text)
	}
	r.tokens, r.token_count = a.tokens(prompt.Tokens), C.size_t(len(prompt.Tokens))
	r.messages, r.message_count = a.messages(prompt.Messages), C.size_t(len(prompt.Messages))
	if prompt.ChatJSON != "" {
		r.chat_json, r.chat_json_length = a.text(prompt.ChatJSON)
	}
}

// Kinds of events.
const (
	// PromptEvent: PromptDone of PromptTotal tokens have been run.
	PromptEvent = C.MLXROCM_EVENT_PROMPT
	// TokenEvent: a token was chosen.
	TokenEvent = C.MLXROCM_EVENT_TOKEN
	// FinishedEvent: the end.
	FinishedEvent = C.MLXROCM_EVENT_FINISHED
)

// Reasons of an end.
const (
	StopToken    = C.MLXROCM_FINISH_STOP_TOKEN
	StopString   = C.MLXROCM_FINISH_STOP_STRING
	Length       = C.MLXROCM_FINISH_LENGTH
	Context      = C.MLXROCM_FINISH_CONTEXT
	WasCancelled = C.MLXROCM_FINISH_CANCELLED
)

// TokenLogprob is a token and its natural-log probability by the model.
type TokenLogprob struct {
	Token   Token
	Logprob float32
}

// Event is something that happened.
type Event struct {
	Kind uint32
	// Text that became complete, with tokens and at the end; may be empty.
	Text    string
	Token   Token
	Logprob float32
	Top     []TokenLogprob

	PromptDone, PromptTotal uint64

	Reason                                      uint32
	PromptTokens, CachedTokens, GeneratedTokens uint64
	PromptSeconds, DecodeSeconds                float64
}

// Generation is a running request.
type Generation struct {
	*object
	ctx   context.Context
	ended chan struct{}
	once  sync.Once
	// What an event points to lives until the next call.
	mutex sync.Mutex
}

// Close frees the generation; one that still runs is cancelled.
func (g *Generation) Close() {
	g.end()
	g.object.Close()
}

func (g *Generation) end() { g.once.Do(func() { close(g.ended) }) }

// Cancel ends the generation soon, from any goroutine; its last event still comes.
func (g *Generation) Cancel() error {
	defer runtime.KeepAlive(g)
	return cancel(g.object)
}

// Next waits for the next event; io.EOF follows the last one. A generation that its context ended gives the context's
// error, one that failed its own.
func (g *Generation) Next() (Event, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	defer runtime.KeepAlive(g)
	event := C.mlxrocm_event{}
	event.struct_size = C.uint32_t(unsafe.Sizeof(event))
	var failure *C.mlxrocm_error
	status := C.mlxrocm_generation_next((*C.mlxrocm_generation)(g.get()), -1, &event, &failure)
	if status < 0 {
		return Event{}, taken(status, failure)
	}
	if status == C.MLXROCM_END {
		return Event{}, io.EOF
	}
	made := Event{
		Kind: uint32(event.kind), Token: Token(event.token), Logprob: float32(event.logprob),
		PromptDone: uint64(event.prompt_done), PromptTotal: uint64(event.prompt_total), Reason: uint32(event.finish_reason),
		PromptTokens: uint64(event.prompt_tokens), CachedTokens: uint64(event.cached_tokens),
		GeneratedTokens: uint64(event.generated_tokens), PromptSeconds: float64(event.prompt_seconds),
		DecodeSeconds: float64(event.decode_seconds),
	}
	if made.Kind == PromptEvent {
		return made, nil
	}
	made.Text = C.GoStringN(event.text, C.int(event.text_length))
	for _, top := range unsafe.Slice(event.top, int(event.top_count)) {
		made.Top = append(made.Top, TokenLogprob{Token(top.token), float32(top.logprob)})
	}
	if made.Kind == FinishedEvent {
		g.end()
		if event.finish_reason == C.MLXROCM_FINISH_ERROR {
			return Event{}, &Error{Status: Status(event.error_status), Message: C.GoString(event.error_message)}
		}
		if made.Reason == WasCancelled && g.ctx.Err() != nil {
			return Event{}, g.ctx.Err()
		}
	}
	return made, nil
}

// WriteTo writes the text as it becomes complete, until the end. A writer that fails cancels the generation.
func (g *Generation) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		event, err := g.Next()
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		n, err := io.WriteString(w, event.Text)
		total += int64(n)
		if err != nil {
			_ = g.Cancel()
			return total, err
		}
	}
}

// Text waits for the end: all text that is still to come.
func (g *Generation) Text() (string, error) {
	var text strings.Builder
	_, err := g.WriteTo(&text)
	return text.String(), err
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
