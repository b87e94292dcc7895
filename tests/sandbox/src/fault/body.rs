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
    EventFault, Faults, ObservedEvent, connection::ConnectionFault, error_response::expired, faults::OpenGuard,
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

pub(super) fn whole(bytes: Bytes) -> FaultyBody {
    FaultyBody(stream::iter([Ok(Frame::data(bytes))]).boxed())
}

/// A streamed body without faults.
pub(super) fn through(body: Body) -> FaultyBody {
    FaultyBody(BodyStream::new(body).map(|frame| frame.or(Err(ConnectionFault::Reset))).boxed())
}

/// A watch, event by event.
pub(super) fn watch(body: Body, faults: Faults, life: u32, number: u64) -> FaultyBody {
    let watch = FaultyWatch { body, faults, life, number, ready: VecDeque::new(), expires: None, ended: false };
    let pieces = stream::unfold(watch, async |mut watch| {
        let piece = watch.next().await?;
        Some((piece.map(Frame::data), watch))
    });
    FaultyBody(pieces.boxed())
}

struct FaultyWatch {
    body: Body,
    faults: Faults,
    life: u32,
    /// The number of the call that began the watch.
    number: u64,
    ready: VecDeque<Result<Bytes, ConnectionFault>>,
    /// The time at which the watch returns 410, because an event was lost.
    expires: Option<(Instant, OpenGuard)>,
    ended: bool,
}

impl FaultyWatch {
    async fn next(&mut self) -> Option<Result<Bytes, ConnectionFault>> {
        loop {
            if !self.faults.state_of_life(self.life) {
                std::future::pending::<()>().await;
            }
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.ended {
                return None;
            }
            let wake = self.expires.as_ref().map(|(at, _)| *at);
            let frame = tokio::select! {
                biased;
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {
                    self.end(Ok(expired()));
                    continue;
                }
                frame = self.body.frame() => frame,
            };
            // A stop may have come during the wait.
            if !self.faults.state_of_life(self.life) {
                continue;
            }
            match frame {
                Some(Ok(frame)) => self.take(frame.into_data().unwrap_or_default()).await,
                // A client that continued from the last version would never receive the lost event.
                Some(Err(_)) | None if self.expires.is_some() => self.end(Ok(expired())),
                Some(Err(_)) | None => self.ended = true,
            }
        }
    }

    async fn take(&mut self, line: Bytes) {
        let Some(fault) = self.judge(&line) else {
            self.ready.push_back(Ok(line));
            return;
        };
        match fault {
            EventFault::Lose => {
                if self.expires.is_none() {
                    self.expires = Some((Instant::now() + UNTIL_EXPIRED, self.faults.hold(self.life)));
                }
            }
            EventFault::Delay { seconds } => {
                let held = self.faults.hold(self.life);
                sleep(Duration::from_secs(seconds.into())).await;
                drop(held);
                self.ready.push_back(Ok(line));
            }
            EventFault::Duplicate => self.ready.extend([Ok(line.clone()), Ok(line)]),
            EventFault::Silence if self.expires.is_some() => self.end(Ok(expired())),
            EventFault::Silence => {
                let _held = self.faults.hold(self.life);
                std::future::pending::<()>().await;
            }
            EventFault::Expire => self.end(Ok(expired())),
            EventFault::End | EventFault::Cut | EventFault::CutWithin if self.expires.is_some() => {
                self.end(Ok(expired()));
            }
            EventFault::End => self.ended = true,
            EventFault::Cut => self.end(Err(ConnectionFault::Reset)),
            EventFault::CutWithin => {
                self.ready.push_back(Ok(line.slice(..line.len() / 2)));
                self.end(Err(ConnectionFault::Reset));
            }
        }
    }

    /// The fault of an event; bookmarks and errors have none.
    fn judge(&self, line: &[u8]) -> Option<EventFault> {
        self.faults.record_event(ObservedEvent { watch: self.number, ..ObservedEvent::read(line)? })
    }

    /// Ends the watch after a last message; the client will soon reconnect.
    fn end(&mut self, last: Result<Bytes, ConnectionFault>) {
        self.ready.push_back(last);
        self.ended = true;
        self.expires = None;
        self.faults.stir();
    }
}
