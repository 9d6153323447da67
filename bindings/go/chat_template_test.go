package mlxrocm_test

import (
	"errors"
	"strings"
	"testing"

	"mlxrocm"
)

func TestChatTemplate(t *testing.T) {
	// Texts may hold NULs.
	source := "{{ bos_token }}\x00{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}" +
		"{% if add_generation_prompt %}me:{{ mood }}{% endif %}"
	template := mlxrocm.Must(mlxrocm.NewChatTemplate(source, "<\x00>", "</s>"))
	defer template.Close()
	if found := mlxrocm.Must(template.Source()); found != source {
		t.Errorf("%q", found)
	}
	messages := []mlxrocm.Message{{Role: "user", Content: "Hi"}, {Role: "robot", Content: ""}}
	said := "<\x00>\x00user: Hi</s>robot: </s>"
	for options, wanted := range map[*mlxrocm.RenderOptions]string{
		nil:                            said + "me:",
		{ChatJSON: `{"mood": "glad"}`}: said + "me:glad",
		{NoGenerationPrompt: true}:     said,
	} {
		if found := mlxrocm.Must(template.Render(messages, options)); found != wanted {
			t.Errorf("%+v: %q", options, found)
		}
	}
	parts := `{"messages": [{"role": "user", "content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]},
		{"role": "robot", "content": ""}]}`
	if found := mlxrocm.Must(template.Render(nil, &mlxrocm.RenderOptions{ChatJSON: parts})); found != said+"me:" {
		t.Errorf("messages in JSON: %q", found)
	}
	if _, err := template.Render(messages, &mlxrocm.RenderOptions{ChatJSON: "nonsense"}); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("nonsense: %v", err)
	}
	if _, err := mlxrocm.NewChatTemplate("{% if %}", "", ""); !errors.Is(err, mlxrocm.InvalidFile) {
		t.Errorf("a syntax error: %v", err)
	}
	template.Close()
	if _, err := template.Source(); !errors.Is(err, mlxrocm.NullArgument) || !strings.Contains(err.Error(), "was closed") {
		t.Errorf("a closed template: %v", err)
	}
}

func TestChatTemplateOfAModel(t *testing.T) {
	template := mlxrocm.Must(model.ChatTemplate())
	messages := []mlxrocm.Message{{Role: "user", Content: "What is the capital of France?"}}
	prompt := mlxrocm.Must(template.Render(messages, nil))
	if prompt != mlxrocm.Must(model.RenderChat(messages)) || !strings.HasSuffix(prompt, "France?<|im_end|>\n<|im_start|>assistant\n") {
		t.Errorf("%q", prompt)
	}
	// Its source, with the spellings of the model's tokens, says the same.
	again := mlxrocm.Must(mlxrocm.NewChatTemplate(mlxrocm.Must(template.Source()), "<|im_start|>", "<|im_end|>"))
	if found := mlxrocm.Must(again.Render(messages, nil)); found != prompt {
		t.Errorf("%q, not %q", found, prompt)
	}
}
