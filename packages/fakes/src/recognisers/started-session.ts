import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'
import type { FakeRecogniserLog, FakeRecogniserOptions, RecogniserService } from './fake-recogniser.ts'

/** Reads the first message of a connection; null: it has refused the stream. */
type StartSession = (
  text: string,
  connection: FakeConnection,
  options: FakeRecogniserOptions,
  log: FakeRecogniserLog,
) => ConnectionHandler | null

/** A service at one path, with a bearer token, whose streams begin with a message that describes them. */
export function startedService(
  path: string,
  options: FakeRecogniserOptions,
  { refusal, start }: Pick<RecogniserService, 'refusal'> & { readonly start: StartSession },
): RecogniserService {
  return {
    admit: (url, headers) => {
      if (url.pathname !== path) return refusal(404)
      return headers.authorization === `Bearer ${options.apiKey}` ? null : refusal(401)
    },
    refusal,
    handle: (connection, log) => new StartedSession(connection, text => start(text, connection, options, log)),
  }
}

/** A connection whose first message describes its stream. */
class StartedSession implements ConnectionHandler {
  readonly #connection: FakeConnection
  readonly #start: (text: string) => ConnectionHandler | null
  #session: ConnectionHandler | null = null

  /** `start` reads the first message; null: it has refused the stream. */
  constructor(connection: FakeConnection, start: (text: string) => ConnectionHandler | null) {
    this.#connection = connection
    this.#start = start
  }

  onText(text: string): void {
    if (this.#session === null) this.#session = this.#start(text)
    else this.#session.onText(text)
  }

  onBinary(bytes: Buffer): void {
    if (this.#session === null) this.#connection.close(1003, 'audio before the first message')
    else this.#session.onBinary(bytes)
  }

  onClose(): void {
    this.#session?.onClose()
  }

  onIdle(): void {
    this.#session?.onIdle()
  }

  fail(): void {
    if (this.#session === null) this.#connection.close(1011)
    else this.#session.fail()
  }
}

/** The parameters of a stream that its first message announces, as other services have them in their query. */
export function streamParameters(
  audio: { readonly encoding: unknown; readonly sample_rate: unknown },
  language: unknown,
  terms: readonly unknown[],
): URLSearchParams {
  const query = new URLSearchParams({
    encoding: String(audio.encoding),
    sample_rate: String(audio.sample_rate),
    language: String(language),
  })
  for (const term of terms) query.append('keyterm', String(term))
  return query
}
