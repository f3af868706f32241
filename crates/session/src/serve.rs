//! One prompt, from `start` to `finished`.

use sortie_protocol::{
    Down, Ending, PROTOCOL_VERSION, Record, Report, Secrets, SessionPlan, Start, redact::Redactor,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    select,
    sync::mpsc,
};

use crate::{
    arm,
    link::{Link, Opened},
    model::ModelClient,
    turn::Session,
};

/// The root is gone: nobody is left to report to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abandoned;

/// Speaks to a root on `input` and `output` until the report is written. `models` makes whom the session asks.
///
/// `hello` is not said here: it goes out before there is a runtime.
pub(crate) async fn serve<R, W, M>(
    input: R,
    output: W,
    models: impl FnOnce(&SessionPlan, Secrets) -> M,
) -> Result<(), Abandoned>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
    M: ModelClient,
{
    let Opened {
        link,
        mut opening,
        writer,
        reader,
    } = Link::open(input, output);
    let work = async {
        let report = match open(&mut opening, &link).await {
            Ok(Opening {
                plan,
                secrets,
                records,
                prompt,
            }) => {
                // From here on a second prompt is told that it is one.
                drop(opening);
                let keys = Redactor::new(&secrets);
                let models = models(&plan, secrets);
                Session::new(&plan, &models, link.clone(), keys, records)
                    .run(prompt)
                    .await
            }
            Err(ending) => nothing_done(ending),
        };
        arm::before_the_report().await;
        link.finish(report);
        writer.await
    };
    let written = select! {
        biased;
        written = work => written,
        () = link.gone().cancelled() => return Err(Abandoned),
    };
    reader.abort();
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "stdout cannot be written to");
            Err(Abandoned)
        }
        Err(error) => {
            tracing::error!(%error, "the writer failed");
            Err(Abandoned)
        }
    }
}

/// Everything up to the prompt.
struct Opening {
    plan: SessionPlan,
    secrets: Secrets,
    records: Vec<Record>,
    prompt: String,
}

async fn open(words: &mut mpsc::UnboundedReceiver<Down>, link: &Link) -> Result<Opening, Ending> {
    let mut start: Option<Start> = None;
    let mut records = Vec::new();
    loop {
        let word = select! {
            biased;
            () = link.cancelled().cancelled() => return Err(Ending::Cancelled),
            word = words.recv() => word,
        };
        match word {
            Some(Down::Start(given)) if given.version != PROTOCOL_VERSION => {
                return Err(refused(format!(
                    "the root speaks version {} of the wire, this child version {PROTOCOL_VERSION}; use one release of both",
                    given.version
                )));
            }
            Some(Down::Start(given)) if given.plan.candidates.is_empty() => {
                return Err(refused("the plan names no model".into()));
            }
            Some(Down::Start(given)) => start = Some(*given),
            Some(Down::Record(record)) => records.push(record),
            Some(Down::Prompt { text: prompt }) => {
                let Some(Start { plan, secrets, .. }) = start else {
                    return Err(refused(
                        "a prompt came before a `start` that can be read".into(),
                    ));
                };
                return Ok(Opening {
                    plan,
                    secrets,
                    records,
                    prompt,
                });
            }
            Some(_) => {}
            // The reader ended, and with it this process.
            None => std::future::pending::<()>().await,
        }
    }
}

fn refused(message: String) -> Ending {
    Ending::Failed {
        reason: "protocol".into(),
        message,
    }
}

fn nothing_done(ending: Ending) -> Report {
    Report {
        ending,
        text: None,
        data: None,
        sections: Vec::new(),
        last_text: None,
        warnings: Vec::new(),
    }
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
