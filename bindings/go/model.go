package mlxrocm

// #include <stdlib.h>
// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Token is a token's id.
type Token = uint32

// Message is one of a chat: Role is "system", "user", "assistant" …
type Message struct{ Role, Content string }

// Model is a loaded model, immutable.
type Model struct{ *object }

// ModelOptions say how to load a model.
type ModelOptions struct {
	// Nil: the best GPU, else the CPU.
	Device *Device
	// CPU threads; 0: one for each CPU.
	Threads uint32
	// Hears how far loading is, in bytes; an error ends it, and comes out of LoadModel.
	Progress func(done, total uint64) error
}

// LoadModel loads a GGUF file or an MLX folder; nil options are the usual ones.
func LoadModel(path string, options *ModelOptions) (*Model, error) {
	if options == nil {
		options = &ModelOptions{}
	}
	// To the library no device is the best one.
	if options.Device != nil && options.Device.c() == nil {
		return nil, invalid("LoadModel: the device is closed")
	}
	var memory arena
	defer memory.release()
	name, length := memory.text(path)
	how := (*C.mlxrocm_model_options)(memory.bytes(unsafe.Sizeof(C.mlxrocm_model_options{})))
	how.struct_size = C.uint32_t(unsafe.Sizeof(*how))
	how.threads = C.uint32_t(options.Threads)
	how.device = options.Device.c()
	hears := hearing{progress: options.Progress}
	progress, data, done := hears.listen(&memory)
	defer done()
	how.progress, how.user_data = progress, data
	var handle *C.mlxrocm_model
	var failure *C.mlxrocm_error
	status := C.mlxrocm_model_load(name, length, how, &handle, &failure)
	runtime.KeepAlive(options.Device)
	if status < 0 {
		return nil, hears.instead(taken(status, failure))
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_model_free((*C.mlxrocm_model)(p)) }
	return &Model{owned(unsafe.Pointer(handle), free)}, nil
}

// ModelInfo has facts about a model.
type ModelInfo struct {
	Family, Name, Quantization           string
	Layers                               int
	Parameters, WeightBytes              uint64
	ContextLength, VocabSize, HiddenSize int
	KVBytesPerToken                      uint64
	LoadSeconds                          float64
}

// Info tells facts about the model.
func (m *Model) Info() (ModelInfo, error) {
	info := C.mlxrocm_model_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(m)
	if status := C.mlxrocm_model_get_info((*C.mlxrocm_model)(m.get()), &info, &failure); status < 0 {
		return ModelInfo{}, taken(status, failure)
	}
	return ModelInfo{
		Family: C.GoString(info.family), Name: C.GoString(info.name), Quantization: C.GoString(info.quantization),
		Layers: int(info.layers), Parameters: uint64(info.parameters), WeightBytes: uint64(info.weight_bytes),
		ContextLength: int(info.context_length), VocabSize: int(info.vocab_size), HiddenSize: int(info.hidden_size),
		KVBytesPerToken: uint64(info.kv_bytes_per_token), LoadSeconds: float64(info.load_seconds),
	}, nil
}

// Tokenizer turns text into tokens and back, immutable.
type Tokenizer struct{ *object }

// Tokenizer gives the model's.
func (m *Model) Tokenizer() (*Tokenizer, error) {
	var handle *C.mlxrocm_tokenizer
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(m)
	if status := C.mlxrocm_model_get_tokenizer((*C.mlxrocm_model)(m.get()), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	free := func(p unsafe.Pointer) { C.mlxrocm_tokenizer_free((*C.mlxrocm_tokenizer)(p)) }
	return &Tokenizer{owned(unsafe.Pointer(handle), free)}, nil
}

// Flags of Encode and Decode.
const (
	// AddSpecial adds the tokens that the model wants around a raw prompt.
	AddSpecial = 1
	// ParseSpecial reads special tokens that are spelled out: not for text of strangers.
	ParseSpecial = 2
	// SkipSpecial leaves special tokens out of a text.
	SkipSpecial = 1
)

// Encode turns text into tokens.
func (t *Tokenizer) Encode(text string, flags uint32) ([]Token, error) {
	bytes := append([]byte(text), 0)
	pointer := (*C.char)(unsafe.Pointer(&bytes[0]))
	var needed C.size_t
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(t)
	handle := (*C.mlxrocm_tokenizer)(t.get())
	status := C.mlxrocm_tokenizer_encode(handle, pointer, C.size_t(len(text)), C.uint32_t(flags), nil, 0, &needed, &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	tokens := make([]Token, int(needed)+1)
	place := (*C.uint32_t)(unsafe.Pointer(&tokens[0]))
	status = C.mlxrocm_tokenizer_encode(handle, pointer, C.size_t(len(text)), C.uint32_t(flags), place, needed, &needed, &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return tokens[:needed], nil
}

// Decode turns tokens into text.
func (t *Tokenizer) Decode(tokens []Token, flags uint32) (string, error) {
	list := append(append([]Token{}, tokens...), 0)
	defer runtime.KeepAlive(t)
	return filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_tokenizer_decode((*C.mlxrocm_tokenizer)(t.get()), (*C.uint32_t)(unsafe.Pointer(&list[0])),
			C.size_t(len(tokens)), C.uint32_t(flags), text, capacity, needed, failure)
	})
}

// NoToken stands for a token that a model does not have.
const NoToken Token = C.MLXROCM_NO_TOKEN

// TokenizerInfo has facts about a tokenizer.
type TokenizerInfo struct {
	// Tokens are 0 to VocabSize - 1.
	VocabSize uint32
	// The tokens that begin and end a text, or NoToken.
	BOS, EOS Token
}

// Info tells facts about the tokenizer.
func (t *Tokenizer) Info() (TokenizerInfo, error) {
	info := C.mlxrocm_tokenizer_info{}
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(t)
	if status := C.mlxrocm_tokenizer_get_info((*C.mlxrocm_tokenizer)(t.get()), &info, &failure); status < 0 {
		return TokenizerInfo{}, taken(status, failure)
	}
	return TokenizerInfo{uint32(info.vocab_size), Token(info.bos), Token(info.eos)}, nil
}

// FindToken gives the token of an exact spelling like "<|im_end|>", or NoToken.
func (t *Tokenizer) FindToken(spelling string) (Token, error) {
	var memory arena
	defer memory.release()
	defer runtime.KeepAlive(t)
	text, length := memory.text(spelling)
	var token C.uint32_t
	var failure *C.mlxrocm_error
	status := C.mlxrocm_tokenizer_find_token((*C.mlxrocm_tokenizer)(t.get()), text, length, &token, &failure)
	return Token(token), result(status, failure)
}

// IsSpecial says whether a token is a control token that ordinary text never contains.
func (t *Tokenizer) IsSpecial(token Token) (bool, error) {
	defer runtime.KeepAlive(t)
	var special C.uint32_t
	var failure *C.mlxrocm_error
	status := C.mlxrocm_tokenizer_is_special((*C.mlxrocm_tokenizer)(t.get()), C.uint32_t(token), &special, &failure)
	return special != 0, result(status, failure)
}

// TokenBytes gives the bytes that a token stands for; they may be a part of a character.
func (t *Tokenizer) TokenBytes(token Token) ([]byte, error) {
	defer runtime.KeepAlive(t)
	bytes, err := filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_tokenizer_token_bytes((*C.mlxrocm_tokenizer)(t.get()), C.uint32_t(token), text, capacity, needed, failure)
	})
	return []byte(bytes), err
}
