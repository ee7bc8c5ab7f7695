import { readWebOffer } from '@parley/contract'
import { type Ms, RecentMap, type Time } from '@parley/kernel'
import { addressOnThisMachine } from '@parley/leg'
import type { MediaPlane, MediaSession } from '@parley/media'
import { type Bus, type Database, settleListener, takeListenerOffers } from '@parley/store'
import { type BrowserPeer, type PeerProcess, WebRtcError } from '@parley/webrtc'
import type { Call } from '../call.ts'

interface CallListenersOptions {
  readonly database: Database
  readonly bus: Pick<Bus, 'subscribe'>
  readonly peers: Pick<PeerProcess, 'connect'>
  readonly media: Pick<MediaPlane, 'open'>
  /** The live calls of this engine. */
  readonly calls: () => Iterable<Call>
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/** A listener costs an encoder and two ports. */
const MAX_PER_CALL = 4
const MAX_LISTENERS = 24
/** A browser that does not connect, or whose path was lost for this long, listens no more. */
const CONNECT_MS: Ms = 20_000
/** An offer waits this long for the call of a run that is being set up. */
const EARLY_MS: Ms = 15_000
const MAX_EARLY = 1000

/**
 * Lets browsers hear live calls of this engine: what both sides say, mixed, and nothing of theirs. A listener has a media session and a
 * peer connection of its own, which end with the call, and whose end does not touch it.
 */
export class CallListeners {
  readonly #options: CallListenersOptions
  /** Number of listeners of each call. */
  readonly #counts = new Map<Call, number>()
  readonly #open = new Set<() => Promise<void>>()
  /** Runs with an offer whose call was not live on this engine, with the time of the offer: it may be being set up. */
  readonly #early = new RecentMap<string, Ms>(MAX_EARLY)
  readonly #unsubscribe: () => void

  constructor(options: CallListenersOptions) {
    this.#options = options
    this.#unsubscribe = options.bus.subscribe('listeners', runId => void this.#changed(runId))
  }

  /** Number of listeners now. */
  get size(): number {
    return this.#open.size
  }

  /** A call of this engine began: offers for it that came before are answered. */
  began({ run }: Call): void {
    const offeredAt = run === undefined ? undefined : this.#early.get(run.runId)
    if (run === undefined || offeredAt === undefined) return
    this.#early.delete(run.runId)
    if (this.#options.time.now() - offeredAt < EARLY_MS) void this.#changed(run.runId)
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    await Promise.all([...this.#open].map(end => end()))
  }

  /** Answers the offers for a call of this engine. Never rejects. */
  async #changed(runId: string): Promise<void> {
    const { database, onProblem } = this.#options
    for (const call of this.#options.calls()) {
      if (call.run?.runId !== runId) continue
      const { scope } = call.run
      try {
        const offers = await database.transaction(scope, tx => takeListenerOffers(tx, scope, runId))
        for (const { listener_id, offer } of offers) {
          const outcome = await this.#answer(call, `${runId}-${listener_id}`, offer)
          await database.transaction(scope, tx => settleListener(tx, scope, { listener_id, run_id: runId }, outcome))
        }
      } catch (error) {
        onProblem(`listeners of run ${runId}`, error)
      }
      return
    }
    this.#early.set(runId, this.#options.time.now())
  }

  async #answer(call: Call, label: string, offer: string): Promise<{ answer: string } | { refusal: string }> {
    const audio = readWebOffer(offer)
    if (typeof audio === 'string') return { refusal: `the offer ${audio}` }
    const count = this.#counts.get(call) ?? 0
    if (count >= MAX_PER_CALL || this.#open.size >= MAX_LISTENERS)
      return { refusal: 'too many listen already: try again when one has left' }
    this.#counts.set(call, count + 1)
    let media: MediaSession | null = null
    try {
      const { leg } = call
      media = await this.#options.media.open({
        label: `listener-${label}`,
        format: leg.format,
        // Consent of ICE (RFC 7675) says whether the browser is there: it sends no audio.
        silentRemoteAfterMs: 0,
      })
      const peer = await this.#options.peers.connect({
        sdp: offer,
        audio: { ...audio, receivesOnly: true },
        media: addressOnThisMachine(media),
      })
      if (leg.state === 'ending' || leg.state === 'ended') {
        peer.close()
        throw new WebRtcError('offer_refused', 'the call is over')
      }
      this.#begin(call, media, peer, audio)
      return { answer: peer.answer }
    } catch (error) {
      this.#left(call)
      await media?.close()
      if (!WebRtcError.is(error)) throw error
      return { refusal: error.message }
    }
  }

  #begin(
    call: Call,
    media: MediaSession,
    peer: BrowserPeer,
    { payloadType, fmtp }: { readonly payloadType: number; readonly fmtp: string | null },
  ): void {
    const { time } = this.#options
    media.apply({
      remote: { address: '127.0.0.1', port: peer.port },
      exactSource: true,
      rtcpMux: true,
      direction: 'sendonly',
      codec: 'OPUS',
      payloadType,
      codecFmtp: fmtp,
      ptimeMs: 20,
      dtmfPayloadType: null,
      srtp: null,
    })
    const stop = call.leg.playTo(media)
    const end = async (): Promise<void> => {
      if (!this.#open.delete(end)) return
      timer.cancel()
      removeListener()
      stop()
      peer.close()
      this.#left(call)
      await media.close().catch(error => this.#options.onProblem('a listener', error))
    }
    const limit = () => time.at(time.now() + CONNECT_MS, () => void end())
    let timer = limit()
    this.#open.add(end)
    const removeListener = call.leg.onEvent(({ type }) => {
      if (type === 'ended') void end()
    })
    peer.onEvent(({ type }) => {
      timer.cancel()
      if (type === 'gone') void end()
      else if (type === 'disconnected') timer = limit()
    })
  }

  #left(call: Call): void {
    const left = (this.#counts.get(call) ?? 1) - 1
    if (left > 0) this.#counts.set(call, left)
    else this.#counts.delete(call)
  }
}
