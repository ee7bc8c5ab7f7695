import { X509Certificate } from 'node:crypto'
import type { Ms, Time, Timer, UnixMs } from '@parley/kernel'
import { errorText } from './socket-error.ts'
import type { TlsIdentity } from './socket-transport-options.ts'

interface CertificateWatchOptions {
  readonly time: Time
  /** The identity in use. */
  readonly current: TlsIdentity
  /** Reads the files anew; may reject. */
  readonly load: () => Promise<TlsIdentity>
  /** Takes a new identity into use, as `SocketTransport.replaceCertificate` does; may throw, and nothing has changed then. */
  readonly apply: (identity: TlsIdentity) => void
  readonly onApplied?: (endsAt: UnixMs) => void
  /** Called once for each unusable state of the files; the current identity stays in use. */
  readonly onProblem?: (detail: string) => void
  /** Default 5 s. */
  readonly everyMs?: Ms
  /** Wall clock; default the system's. */
  readonly wallClock?: () => UnixMs
}

/**
 * Certificate, key and roots read anew every few seconds: notifications are lost where files are symbolic links that
 * are swapped, as in mounted secrets. What was read has to be the same twice before it counts, so that files that are
 * just being written are not taken for new ones, and a pair that does not fit is never applied.
 */
export class CertificateWatch {
  readonly #options: CertificateWatchOptions
  #applied: string
  #lastSeen: string
  #judged: string | undefined
  #timer: Timer | undefined
  #stopped = false

  constructor(options: CertificateWatchOptions) {
    this.#options = options
    this.#applied = fingerprint(options.current)
    this.#lastSeen = this.#applied
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  #schedule(): void {
    const { time, everyMs = 5_000 } = this.#options
    this.#timer = time.at(time.now() + everyMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    const read = await this.#read()
    if (this.#stopped) return
    const settled = read.seen === this.#lastSeen
    this.#lastSeen = read.seen
    if (read.seen === this.#applied) this.#judged = undefined
    else if (settled && read.seen !== this.#judged) {
      this.#judged = read.seen
      this.#judge(read)
    }
    this.#schedule()
  }

  async #read(): Promise<{ readonly seen: string; readonly identity?: TlsIdentity; readonly problem?: string }> {
    try {
      const identity = await this.#options.load()
      return { seen: fingerprint(identity), identity }
    } catch (error) {
      const problem = errorText(error)
      return { seen: `unreadable: ${problem}`, problem }
    }
  }

  #judge(read: { readonly seen: string; readonly identity?: TlsIdentity; readonly problem?: string }): void {
    const { apply, onApplied, onProblem, wallClock = Date.now } = this.#options
    if (read.identity === undefined) {
      onProblem?.(read.problem ?? 'unreadable')
      return
    }
    try {
      const endsAt = new X509Certificate(read.identity.cert).validToDate.getTime()
      if (endsAt <= wallClock()) throw new Error(`the new certificate expired on ${new Date(endsAt).toISOString()}`)
      apply(read.identity)
      this.#applied = read.seen
      onApplied?.(endsAt)
    } catch (error) {
      onProblem?.(errorText(error))
    }
  }
}

function fingerprint(identity: TlsIdentity): string {
  return JSON.stringify([
    identity.cert,
    identity.key,
    identity.ca,
    identity.systemRoots,
    [...(identity.caByName ?? [])],
  ])
}
