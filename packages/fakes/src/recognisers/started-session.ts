import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'

/** A connection whose first message describes its stream. */
export class StartedSession implements ConnectionHandler {
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
