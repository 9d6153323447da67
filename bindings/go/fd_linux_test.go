package mlxrocm_test

import (
	"errors"
	"io"
	"syscall"
	"testing"

	"mlxrocm"
)

func TestFd(t *testing.T) {
	// The first token waits until it is let go.
	reached, proceed := make(chan struct{}), make(chan struct{})
	first := true
	options := mlxrocm.Options{MaxTokens: 4, LogitsProcessor: func([]mlxrocm.Token, []float32) error {
		if first {
			first = false
			close(reached)
			<-proceed
		}
		return nil
	}}
	generation := mlxrocm.Must(session.Submit(here, text("Water boils at"), &options))
	defer generation.Close()
	fd := mlxrocm.Must(generation.Fd())
	if again := mlxrocm.Must(generation.Fd()); again != fd {
		t.Errorf("descriptor %d, then %d", fd, again)
	}
	epoll := mlxrocm.Must(syscall.EpollCreate1(syscall.EPOLL_CLOEXEC))
	defer syscall.Close(epoll)
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN}); err != nil {
		t.Fatal(err)
	}
	readable := func(milliseconds int) bool {
		for {
			ready, err := syscall.EpollWait(epoll, make([]syscall.EpollEvent, 1), milliseconds)
			if err != syscall.EINTR {
				return mlxrocm.Must(ready, err) == 1
			}
		}
	}
	<-reached
	for readable(100) { // events of the prompt
		mlxrocm.Must(generation.Next())
	}
	close(proceed)
	for {
		if !readable(60_000) {
			t.Fatal("it did not become readable")
		}
		if event := mlxrocm.Must(generation.Next()); event.Kind == mlxrocm.FinishedEvent {
			break
		}
	}
	if readable(0) {
		t.Error("it is readable after the end")
	}
	if _, err := generation.Next(); err != io.EOF {
		t.Error(err)
	}
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_DEL, fd, nil); err != nil {
		t.Error(err)
	}
	generation.Close()
	if _, err := generation.Fd(); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("of a closed generation: %v", err)
	}
}
