//! Implements response bodies: complete ones, and watch streams with injected faults.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt as _};
use http_body::Frame;
use http_body_util::{BodyExt as _, BodyStream};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    EventFault, Faults, ObservedEvent, connection::ConnectionFault, error_response::expired_event, faults::OpenGuard,
};
use crate::Body;

/// The time from a lost event to the 410 of its watch.
const UNTIL_EXPIRED: Duration = Duration::from_secs(5);

/// The body of a response to a client with faults.
pub struct FaultyBody(BoxStream<'static, Result<Frame<Bytes>, ConnectionFault>>);

impl std::fmt::Debug for FaultyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyBody").finish_non_exhaustive()
    }
}

impl http_body::Body for FaultyBody {
    type Data = Bytes;
    type Error = ConnectionFault;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, ConnectionFault>>> {
        self.get_mut().0.as_mut().poll_next(cx)
    }
}

/// Returns a complete body.
pub(super) fn complete(bytes: Bytes) -> FaultyBody {
    FaultyBody(stream::iter([Ok(Frame::data(bytes))]).boxed())
}

/// Returns a streamed body without faults.
pub(super) fn unmodified(body: Body) -> FaultyBody {
    FaultyBody(BodyStream::new(body).map(|frame| frame.or(Err(ConnectionFault::Reset))).boxed())
}

/// Returns the body of a watch, in which every event may have a fault. `number` is the number of the call that began the watch.
pub(super) fn watch(body: Body, faults: Faults, life: u32, number: u64) -> FaultyBody {
    let watch = FaultyWatch { body, faults, life, number, pending: VecDeque::new(), expiry: None, ended: false };
    let pieces = stream::unfold(watch, async |mut watch| {
        let piece = watch.next_piece().await?;
        Some((piece.map(Frame::data), watch))
    });
    FaultyBody(pieces.boxed())
}

/// A watch with the faults of its events.
struct FaultyWatch {
    body: Body,
    faults: Faults,
    life: u32,
    /// The number of the call that began the watch.
    number: u64,
    pending: VecDeque<Result<Bytes, ConnectionFault>>,
    /// The time at which the watch returns 410, because an event was lost.
    expiry: Option<(Instant, OpenGuard)>,
    ended: bool,
}

impl FaultyWatch {
    /// Returns the next data of the watch; `None` at its end. After a lost event, the watch ends with 410 after [`UNTIL_EXPIRED`]. Never
    /// returns after the life of the client, one run of its process, has ended.
    async fn next_piece(&mut self) -> Option<Result<Bytes, ConnectionFault>> {
        loop {
            self.faults.wait_if_ended(self.life).await;
            if let Some(piece) = self.pending.pop_front() {
                return Some(piece);
            }
            if self.ended {
                return None;
            }
            let expiry_time = self.expiry.as_ref().map(|(at, _)| *at);
            let frame = tokio::select! {
                biased;
                () = sleep_until(expiry_time.unwrap_or_else(Instant::now)), if expiry_time.is_some() => {
                    self.end(Ok(expired_event()));
                    continue;
                }
                frame = self.body.frame() => frame,
            };
            // If the life has ended during the wait, the event is dropped, and `wait_if_ended` never returns.
            if !self.faults.is_running(self.life) {
                continue;
            }
            match frame {
                Some(Ok(frame)) => self.handle_event(frame.into_data().unwrap_or_default()).await,
                // The 410 makes the client list again. If it continued from the last version, it would never receive the lost event.
                Some(Err(_)) | None if self.expiry.is_some() => self.end(Ok(expired_event())),
                Some(Err(_)) | None => self.ended = true,
            }
        }
    }

    /// Records an event and queues it with its fault: it may be lost, delayed or duplicated, the watch may fall silent,
    /// or end with or without an error.
    async fn handle_event(&mut self, line: Bytes) {
        let Some(fault) = self.record_event(&line) else {
            self.pending.push_back(Ok(line));
            return;
        };
        match fault {
            EventFault::Lose => {
                if self.expiry.is_none() {
                    self.expiry = Some((Instant::now() + UNTIL_EXPIRED, self.faults.open_guard(self.life)));
                }
            }
            EventFault::Delay { seconds } => {
                let guard = self.faults.open_guard(self.life);
                sleep(Duration::from_secs(seconds.into())).await;
                drop(guard);
                self.pending.push_back(Ok(line));
            }
            EventFault::Duplicate => self.pending.extend([Ok(line.clone()), Ok(line)]),
            // After a lost event, the watch has to end with 410.
            EventFault::Silence if self.expiry.is_some() => self.end(Ok(expired_event())),
            EventFault::Silence => {
                // The client counts as busy until it gives up the watch, which drops this future.
                let _guard = self.faults.open_guard(self.life);
                std::future::pending::<()>().await;
            }
            EventFault::Expire => self.end(Ok(expired_event())),
            EventFault::End | EventFault::Cut | EventFault::CutWithin if self.expiry.is_some() => {
                self.end(Ok(expired_event()));
            }
            EventFault::End => self.ended = true,
            EventFault::Cut => self.end(Err(ConnectionFault::Reset)),
            EventFault::CutWithin => {
                self.pending.push_back(Ok(line.slice(..line.len() / 2)));
                self.end(Err(ConnectionFault::Reset));
            }
        }
    }

    /// Records an event of the watch and returns its fault; `None` if it has no fault, or if the line is a bookmark or an error.
    fn record_event(&self, line: &[u8]) -> Option<EventFault> {
        self.faults.record_event(ObservedEvent { watch: self.number, ..ObservedEvent::read(line)? })
    }

    /// Queues a last message, after which the watch ends. This counts as an action of the client, since it will soon reconnect.
    fn end(&mut self, last: Result<Bytes, ConnectionFault>) {
        self.pending.push_back(last);
        self.ended = true;
        self.expiry = None;
        self.faults.stir();
    }
}
