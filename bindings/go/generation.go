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
	// Complete: what the text must be is complete, and nothing may follow.
	Complete = C.MLXROCM_FINISH_GRAMMAR
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
	// Tokens that were guessed, and of these the right ones: each saved a step.
	GuessedTokens, AcceptedTokens uint64
	PromptSeconds, DecodeSeconds  float64
}

// Generation is a running request.
type Generation struct {
	*object
	processor *processor
	ctx       context.Context
	ended     chan struct{}
	once      sync.Once
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
// error, one that failed its own, or that of its logits processor.
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
		GuessedTokens: uint64(event.guessed_tokens), AcceptedTokens: uint64(event.accepted_tokens),
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
			message := C.GoStringN(event.error_message, C.int(event.error_message_length))
			return Event{}, g.processor.instead(&Error{Status: Status(event.error_status), Message: message})
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

// Fd gives a file descriptor for poll, epoll and event loops: it is readable while Next has an event, and not any more
// after the last one. It is the same one each time, is not to be read, written or closed, and is closed with the
// generation, by Close or when that is collected: take it out of the event loop before.
func (g *Generation) Fd() (int, error) {
	var fd C.int32_t
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(g)
	if status := C.mlxrocm_generation_get_fd((*C.mlxrocm_generation)(g.get()), &fd, &failure); status < 0 {
		return -1, taken(status, failure)
	}
	return int(fd), nil
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
	var process *processor
	if options.LogitsProcessor != nil {
		process = &processor{function: options.LogitsProcessor}
		process.lend(request)
	}
	var handle *C.mlxrocm_generation
	var failure *C.mlxrocm_error
	if status := call(request, &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_generation_free((*C.mlxrocm_generation)(p)) }
	generation := &Generation{
		object: owned(unsafe.Pointer(handle), free), processor: process, ctx: ctx, ended: make(chan struct{}),
	}
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

// WaitAny gives one of several generations, of any sessions, that has an event, so that its Next does not wait; where
// several have, they take turns. io.EOF: all have given out their last event.
func WaitAny(ctx context.Context, generations []*Generation) (*Generation, error) {
	handles := make([]*C.mlxrocm_generation, len(generations)+1)
	for i, generation := range generations {
		if generation == nil || generation.get() == nil {
			return nil, invalid("WaitAny: generation %d is nil or was closed", i)
		}
		handles[i] = (*C.mlxrocm_generation)(generation.get())
	}
	defer runtime.KeepAlive(generations)
	// A context cannot end a wait in C.
	wait := C.int64_t(look)
	if ctx.Done() == nil {
		wait = -1
	}
	var index C.size_t
	var failure *C.mlxrocm_error
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		status := C.mlxrocm_generation_wait_any(&handles[0], C.size_t(len(generations)), wait, &index, &failure)
		switch {
		case status < 0:
			return nil, taken(status, failure)
		case status == C.MLXROCM_END:
			return nil, io.EOF
		case status == C.MLXROCM_OK:
			return generations[index], nil
		}
	}
}
