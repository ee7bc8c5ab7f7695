import type { Logger } from 'pino'
import type { PersonLink, Platform } from '../context.ts'
import { errorFacts } from '../error-facts.ts'

/** An e-mail of plain text. */
interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends one e-mail; rejects if the server did not take it. */
export type SendMail = (mail: Mail) => Promise<void>

const RETRY_AFTER_MS = [1000, 10_000, 60_000]
/** E-mails that are being sent; further ones are logged as failed. */
const MAX_UNSENT = 500

interface LinkDeliveryOptions {
  /** Null: there is no e-mail server, and links are written to the log. */
  readonly sendMail: SendMail | null
  readonly log: Logger
  readonly wait?: (ms: number) => Promise<void>
}

/** Delivers links by e-mail, three more times if the server refuses; without a server it writes them to the log. */
export function linkDelivery({ sendMail, log, wait = waitFor }: LinkDeliveryOptions): Platform['links'] {
  if (sendMail === null)
    return {
      areMailed: false,
      deliver: ({ kind, email, url, expires_at }) =>
        log.warn({ email, url, expires_at }, `SMTP_URL is not set: this is the link of the ${kind}`),
    }
  let unsent = 0
  const send = async (link: PersonLink) => {
    for (const delay of [...RETRY_AFTER_MS, null]) {
      try {
        return await sendMail(mailOf(link))
      } catch (error) {
        if (delay === null) throw error
        await wait(delay)
      }
    }
  }
  return {
    areMailed: true,
    deliver(link) {
      const about = { kind: link.kind, email: link.email }
      if (unsent >= MAX_UNSENT) return void log.error(about, 'a link was not sent: too many e-mails wait')
      unsent += 1
      send(link)
        .catch(error =>
          log.error({ ...about, err: errorFacts(error) }, 'a link was not sent: the server refuses e-mail'),
        )
        .finally(() => {
          unsent -= 1
        })
    },
  }
}

function waitFor(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref())
}

function mailOf({ kind, email, organisation, url, expires_at }: PersonLink): Mail {
  const until = new Date(expires_at).toUTCString()
  const name = JSON.stringify(organisation)
  return kind === 'invitation'
    ? {
        to: email,
        subject: `Invitation to ${organisation} on Parley`,
        text: `You are invited to ${name} on Parley.\n\nOpen this link to accept:\n${url}\n\nIt works once, until ${until}.\n`,
      }
    : {
        to: email,
        subject: `Sign in to ${organisation} on Parley`,
        text: `Open this link to sign in to ${name} on Parley:\n${url}\n\nIt works once, until ${until}. If you did not ask for it, ignore this e-mail.\n`,
      }
}
