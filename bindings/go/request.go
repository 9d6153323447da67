package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
// extern int32_t mlxrocmGoProcess(uint32_t *, size_t, float *, size_t, void *);
// extern void mlxrocmGoProcessFree(void *);
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

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
	// What the generated text must be, one of: JSON that fits a JSON schema; what a regular expression matches, all of
	// it; what the rule start of a grammar in Lark's notation derives. See mlxrocm_request.
	JSONSchema, Regex, Grammar string
	// Called before each token is chosen with the tokens so far and the logits of the next one, which it may change. An
	// error ends the generation and comes out of it, a panic too. It is called on a thread of the session's: nothing in it
	// may wait for the session.
	LogitsProcessor func(tokens []Token, logits []float32) error
}

// Prompt is one of Text, Tokens, Messages and ChatJSON, a chat in the form of OpenAI's API: an object of messages,
// tools and further variables of the chat template.
type Prompt struct {
	Text     string
	Tokens   []Token
	Messages []Message
	ChatJSON string
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
	if o.JSONSchema != "" {
		r.json_schema, r.json_schema_length = a.text(o.JSONSchema)
	}
	if o.Regex != "" {
		r.regex, r.regex_length = a.text(o.Regex)
	}
	if o.Grammar != "" {
		r.grammar, r.grammar_length = a.text(o.Grammar)
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

// processor is a function that a request brought, and what that ended with.
type processor struct {
	function func(tokens []Token, logits []float32) error
	err      error
	panicked any
}

// lend puts it into a request, which must be submitted then: the library frees it in any case.
func (p *processor) lend(request *C.mlxrocm_request) {
	place := (*cgo.Handle)(C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0)))))
	*place = cgo.NewHandle(p)
	request.logits_processor = C.mlxrocm_logits_processor(C.mlxrocmGoProcess)
	request.user_data, request.user_data_free = unsafe.Pointer(place), C.mlxrocm_user_data_free(C.mlxrocmGoProcessFree)
}

// instead gives what the processor failed with in place of the library's error, or panics as it did.
func (p *processor) instead(err error) error {
	if p == nil {
		return err
	}
	if p.panicked != nil {
		panic(p.panicked)
	}
	if p.err != nil {
		return p.err
	}
	return err
}

//export mlxrocmGoProcess
func mlxrocmGoProcess(
	tokens *C.uint32_t, tokenCount C.size_t, logits *C.float, vocabSize C.size_t, data unsafe.Pointer,
) (stop C.int32_t) {
	p := (*cgo.Handle)(data).Value().(*processor)
	// A panic must not go through the library: Next goes on with it.
	defer func() {
		if p.panicked = recover(); p.panicked != nil {
			stop = 1
		}
	}()
	// Copies, as the library's memory is lent for this call only and the function may keep what it gets.
	seen := append([]Token{}, unsafe.Slice((*Token)(tokens), int(tokenCount))...)
	lent := unsafe.Slice((*float32)(logits), int(vocabSize))
	changed := append([]float32{}, lent...)
	if p.err = p.function(seen, changed); p.err != nil {
		return 1
	}
	copy(lent, changed[:len(lent)])
	return 0
}

//export mlxrocmGoProcessFree
func mlxrocmGoProcessFree(data unsafe.Pointer) {
	(*cgo.Handle)(data).Delete()
	C.free(data)
}
