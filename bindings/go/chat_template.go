package mlxrocm

// #include <mlxrocm.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// ChatTemplate is a compiled chat template (Jinja, with Python's string methods), immutable.
type ChatTemplate struct{ *object }

// NewChatTemplate compiles a chat template; bos and eos are the spellings of the tokens that begin and end a text, "" of
// none.
func NewChatTemplate(source, bos, eos string) (*ChatTemplate, error) {
	var memory arena
	defer memory.release()
	text, length := memory.text(source)
	begin, beginLength := memory.text(bos)
	end, endLength := memory.text(eos)
	var handle *C.mlxrocm_chat_template
	var failure *C.mlxrocm_error
	status := C.mlxrocm_chat_template_new(text, length, begin, beginLength, end, endLength, &handle, &failure)
	if status < 0 {
		return nil, taken(status, failure)
	}
	return newChatTemplate(handle), nil
}

// ChatTemplate gives the model's.
func (m *Model) ChatTemplate() (*ChatTemplate, error) {
	var handle *C.mlxrocm_chat_template
	var failure *C.mlxrocm_error
	defer runtime.KeepAlive(m)
	if status := C.mlxrocm_model_get_chat_template((*C.mlxrocm_model)(m.get()), &handle, &failure); status < 0 {
		return nil, taken(status, failure)
	}
	return newChatTemplate(handle), nil
}

func newChatTemplate(handle *C.mlxrocm_chat_template) *ChatTemplate {
	free := func(p unsafe.Pointer) { C.mlxrocm_chat_template_free((*C.mlxrocm_chat_template)(p)) }
	return &ChatTemplate{owned(unsafe.Pointer(handle), free)}
}

func (t *ChatTemplate) c() *C.mlxrocm_chat_template { return (*C.mlxrocm_chat_template)(t.get()) }

// Source gives the template's text.
func (t *ChatTemplate) Source() (string, error) {
	defer runtime.KeepAlive(t)
	return filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_chat_template_source(t.c(), text, capacity, needed, failure)
	})
}

// RenderOptions say how to write a chat. Zero is each default.
type RenderOptions struct {
	// Do not open the assistant's turn at the end.
	NoGenerationPrompt bool
	// A JSON object of variables of the template, like {"enable_thinking": false}; without messages beside it, its own
	// "messages" and "tools" in the form of OpenAI's API.
	ChatJSON string
}

// Render writes a chat as the text of a prompt; encode it with ParseSpecial. Nil options are the usual ones.
func (t *ChatTemplate) Render(messages []Message, options *RenderOptions) (string, error) {
	if options == nil {
		options = &RenderOptions{}
	}
	var memory arena
	defer memory.release()
	list := memory.messages(messages)
	flags := C.uint32_t(C.MLXROCM_RENDER_GENERATION_PROMPT)
	if options.NoGenerationPrompt {
		flags = 0
	}
	variables, length := memory.optional(options.ChatJSON)
	defer runtime.KeepAlive(t)
	return filledText(func(text *C.char, capacity C.size_t, needed *C.size_t, failure **C.mlxrocm_error) C.mlxrocm_status {
		return C.mlxrocm_chat_template_render(t.c(), list, C.size_t(len(messages)), flags, variables, length, text, capacity,
			needed, failure)
	})
}

// RenderChat writes a chat with the model's template, as the text of a prompt that the model answers; encode it with
// ParseSpecial.
func (m *Model) RenderChat(messages []Message) (string, error) {
	template, err := m.ChatTemplate()
	if err != nil {
		return "", err
	}
	defer template.Close()
	return template.Render(messages, nil)
}

func (a *arena) messages(messages []Message) *C.mlxrocm_message {
	first := (*C.mlxrocm_message)(a.bytes(uintptr(len(messages)) * unsafe.Sizeof(C.mlxrocm_message{})))
	list := unsafe.Slice(first, len(messages))
	for i, message := range messages {
		list[i].role, list[i].role_length = a.text(message.Role)
		list[i].content, list[i].content_length = a.text(message.Content)
	}
	return first
}
