import { readWebCandidates, readWebOffer } from '@parley/contract'
import type { WebLeg } from '@parley/leg'
import type { OwnedRun } from '@parley/runs'
import { type Bus, type Database, readWebCall, settleWebOffer, type WebCallRow } from '@parley/store'
import { type BrowserPeer, type PeerProcess, WebRtcError } from '@parley/webrtc'

interface LiveWebCallOptions {
  /** The run by whose id the browser has the call. */
  readonly run: OwnedRun
  readonly leg: WebLeg
  readonly peers: Pick<PeerProcess, 'connect'>
  readonly database: Database
  readonly bus: Pick<Bus, 'publish'>
  readonly onProblem: (what: string, error: unknown) => void
}

/** Carries between the browser of a web call and its leg: offers, answers, candidates, and the user's hang-up. */
export class LiveWebCall {
  readonly #options: LiveWebCallOptions
  #peer: BrowserPeer | null = null
  /** The run that has the call now. */
  #owner: OwnedRun
  #attempt = 0
  /** Fragments of candidates that the peer connection has. */
  #fragments = 0
  #reading: Promise<void> = Promise.resolve()

  constructor(options: LiveWebCallOptions) {
    this.#options = options
    this.#owner = options.run
  }

  /** Another run continues the call. */
  continuedBy(run: OwnedRun): void {
    this.#owner = run
  }

  /** Reads what the browser has sent and acts on it, one reading after another. Never rejects. */
  changed(): Promise<void> {
    this.#reading = this.#reading
      .then(() => this.#read())
      .catch(error => this.#options.onProblem(`web call ${this.#options.run.runId}`, error))
    return this.#reading
  }

  async #read(): Promise<void> {
    const { run, leg, database } = this.#options
    if (leg.state === 'ending' || leg.state === 'ended') return
    const row = await readWebCall(database.within(run.scope), run.scope, run.runId)
    if (row === null) return
    if (row.hung_up) return leg.hungUp()
    if (row.attempt > this.#attempt && row.offer !== null) await this.#answer(row.attempt, row.offer)
    this.#addCandidates(row)
  }

  async #answer(attempt: number, sdp: string): Promise<void> {
    const { leg, peers } = this.#options
    this.#attempt = attempt
    this.#fragments = 0
    const audio = readWebOffer(sdp)
    if (typeof audio === 'string') return this.#settle({ refusal: `the offer ${audio}` })
    try {
      const peer = await peers.connect({ sdp, audio, media: leg.mediaAddress })
      this.#peer = peer
      leg.connect(peer, { codec: 'OPUS', ...audio })
      await this.#settle({ answer: peer.answer })
    } catch (error) {
      if (!WebRtcError.is(error)) throw error
      await this.#settle({ refusal: error.message })
    }
  }

  async #settle(outcome: { readonly answer?: string; readonly refusal?: string }): Promise<void> {
    const { run, database, bus, leg } = this.#options
    const attempt = this.#attempt
    const stored = await database.transaction(run.scope, tx =>
      settleWebOffer(tx, run.scope, run.runId, this.#owner.owned, attempt, outcome),
    )
    if (stored) bus.publish('runs', run.runId)
    // A first offer that leads to nothing leaves nothing to wait for.
    if (outcome.refusal !== undefined && attempt === 1) leg.hangUp()
  }

  #addCandidates({ candidates, attempt }: WebCallRow): void {
    if (attempt !== this.#attempt) return
    for (const fragment of candidates.slice(this.#fragments))
      for (const { candidate, mid } of readWebCandidates(fragment)) this.#peer?.addCandidate(candidate, mid)
    this.#fragments = candidates.length
  }
}
