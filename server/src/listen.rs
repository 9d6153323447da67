//! Connections: accepted, limited in number and time, ended in order.

use crate::app::{App, router};
use crate::say;
use crate::stalled::Stalled;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

/// Connections that are open at once; more wait to be accepted.
const MOST_CONNECTIONS: usize = 1024;

/// Bytes that a connection keeps: of headers, and of answers that the client has not taken.
const BUFFER: usize = 64 << 10;

/// Serves until SIGTERM or SIGINT, then lets answers end for `grace`, or until the second signal.
pub async fn serve(app: Arc<App>, listener: TcpListener, grace: Duration) -> std::io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut signalled = pin!(async {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    });
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let service = TowerToHyperService::new(router(app.clone()));
    loop {
        let accept = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accept => accepted,
            () = &mut signalled => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Of the connection, or no file descriptor is left: others will be closed.
                say(format_args!("a connection: {error}"));
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Tokens are small, and should not wait for each other.
        let _ = stream.set_nodelay(true);
        let io = TokioIo::new(Stalled::new(stream, app.client_timeout));
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(app.client_timeout).max_buf_size(BUFFER);
        let connection = graceful.watch(server.serve_connection(io, service.clone()));
        let app = app.clone();
        tokio::spawn(async move {
            let _counted = app.metrics.connections.count();
            // What a client does wrong is no matter of the server's log.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    app.stopping.store(true, Relaxed);
    say(format_args!("stopping: answers may take {} more seconds", grace.as_secs()));
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(grace) => say("answers are cut off"),
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
