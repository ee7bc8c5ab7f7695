import {
  type AudioFormat,
  BufferedEmitter,
  type Ms,
  type Samples,
  type Time,
  type Timer,
  WIDEBAND,
} from '@parley/kernel'
import type {
  MediaEvent,
  MediaPlane,
  MediaSession,
  MediaSessionOptions,
  MediaStatistics,
  RecordingSplit,
  VoiceDetection,
  VoiceEdge,
} from '@parley/media'
import { LegError } from './errors.ts'
import { isDigits } from './info-digits.ts'
import type { CallLeg, LegEnd, LegEvent, LegState, LegTransport } from './leg.ts'
import { readPageMessage } from './page-message.ts'

/** Longest time until there is an answer, and from it until ICE and DTLS are up. */
const CONNECT_MS: Ms = 20_000
/** A page whose path was lost may come back for this long. */
const RECONNECT_MS: Ms = 10_000
/** A packet of a browser may come so late; the process of a room has a jitter buffer of its own. */
const HOLD_MS: Ms = 120
/** Duration of a digit that a page sends: it has none. */
const DIGIT_MS: Ms = 100
/** Messages of a page, at most this many in each second; more are dropped. */
const MESSAGES_PER_S = 20

type WebPeerEvent =
  | { readonly type: 'connected' }
  /** The path is lost; it may come back by itself. */
  | { readonly type: 'disconnected' }
  /** The page opened its data channel. */
  | { readonly type: 'channel' }
  | { readonly type: 'message'; readonly text: string }
  /** The user left the room of the call. */
  | { readonly type: 'left' }
  /** The connection is over; the last event. */
  | { readonly type: 'gone'; readonly detail: string }

/** The peer connection of a leg. */
interface WebPeer {
  /** The loopback port with which the media session exchanges RTP in clear. */
  readonly port: number
  onEvent(listener: (event: WebPeerEvent) => void): void
  /** Sends to the page; dropped while it has no data channel. */
  send(text: string): void
  close(): void
}

/** The audio of a peer connection. */
interface WebAudio {
  /** L16: from the process that has the room of the call, which decodes for itself. */
  readonly codec: 'OPUS' | 'L16'
  readonly payloadType: number
  readonly fmtp: string | null
}

interface WebLegContext {
  readonly media: MediaPlane
  readonly time: Time
}

interface WebLegOptions {
  /** Name in logs and of the call; unique. */
  readonly label: string
  readonly recording?: MediaSessionOptions['recording']
  /** The call is in a room, and its visitor may take this long to join it; default: the browser has made its offer already. */
  readonly visitorMs?: Ms
}

/** Where other processes of this machine send RTP of a media session. */
export function addressOnThisMachine({ local }: Pick<MediaSession, 'local'>): MediaSession['local'] {
  return { address: local.address === '0.0.0.0' ? '127.0.0.1' : local.address, port: local.port }
}

/** Opens the media of a leg to a browser; `connect` gives it a peer connection. */
export async function openWebLeg(context: WebLegContext, options: WebLegOptions): Promise<WebLeg> {
  const media = await context.media.open({
    label: options.label,
    format: WIDEBAND,
    // Consent of ICE (RFC 7675) says whether the page is there, also when it is silent or muted.
    silentRemoteAfterMs: 0,
    // Wireless networks hold packets back for longer than telephone networks do.
    ...(options.visitorMs === undefined && { holdMs: HOLD_MS }),
    ...(options.recording && { recording: options.recording }),
  })
  return new WebLeg(media, options, context.time)
}

/**
 * One call leg to a browser over WebRTC. The peer connection, with ICE and DTLS-SRTP, is in a process of its own; its RTP reaches
 * the media session in clear over the loopback interface. A lost path does not end the leg at once: the page may bring
 * another peer connection with `connect`, and the media session goes on.
 */
export class WebLeg implements CallLeg {
  readonly direction = 'inbound'
  readonly callId: string
  readonly held = false
  readonly peerHost = null
  readonly sentCredentials = false
  readonly #media: MediaSession
  readonly #time: Time
  readonly #isRoom: boolean
  readonly #events = new BufferedEmitter<LegEvent>({
    onListenerError: error => this.#end({ by: 'local', cause: 'internal', detail: String(error) }),
  })
  #state: LegState = 'offered'
  #peer: WebPeer | null = null
  #answered = false
  #timer: Timer | null = null
  /** Messages of the page in the current second. */
  #messages = 0
  #messagesSince: Ms = 0
  /** What a page that has no data channel yet gets when it opens one. */
  #greeting: string | null = null

  constructor(media: MediaSession, { label, visitorMs }: WebLegOptions, time: Time) {
    this.callId = label
    this.#media = media
    this.#time = time
    this.#isRoom = visitorMs !== undefined
    media.onEvent(event => this.#onMedia(event))
    if (visitorMs !== undefined) this.#limit(visitorMs, 'the visitor did not join the room', 'not-joined')
    // An offer that cannot be read or answered leaves no leg that waits for ever.
    else this.#limit(CONNECT_MS, 'the browser did not connect')
  }

  get state(): LegState {
    return this.#state
  }

  get format(): AudioFormat {
    return this.#media.format
  }

  get transport(): LegTransport | null {
    return this.#answered ? { signalling: 'https', media: 'dtls-srtp' } : null
  }

  /** Where the peer connection sends the browser's RTP. */
  get mediaAddress(): { readonly address: string; readonly port: number } {
    return addressOnThisMachine(this.#media)
  }

  /** Takes the peer connection of an answered offer: the first, or another in place of one whose path was lost. */
  connect(peer: WebPeer, { codec, payloadType, fmtp }: WebAudio): void {
    if (this.#isOver) return peer.close()
    const before = this.#peer
    this.#peer = peer
    before?.close()
    this.#media.apply({
      remote: { address: '127.0.0.1', port: peer.port },
      exactSource: true,
      rtcpMux: true,
      direction: 'sendrecv',
      codec,
      payloadType,
      codecFmtp: fmtp,
      ptimeMs: 20,
      dtmfPayloadType: null,
      srtp: null,
    })
    // The visitor of a room comes when it wants to, within the time from the start.
    if (!this.#isRoom || this.#answered) this.#limit(CONNECT_MS, 'the browser did not connect')
    peer.onEvent(event => {
      if (this.#peer === peer) this.#onPeer(event)
    })
  }

  /** Sends a message to the page. `greets`: a page that connects later, or again, gets the last such message first. */
  sendToPage(message: object, { greets = false } = {}): void {
    const text = JSON.stringify(message)
    if (greets) this.#greeting = text
    this.#peer?.send(text)
  }

  /** The user hung up. */
  hungUp(): void {
    this.#end({ by: 'remote', cause: 'bye', detail: '' })
  }

  /** There is no way to the user: the room of the call cannot be created or joined. */
  lost(detail: string): void {
    this.#end({ by: 'remote', cause: this.#lostCause, detail })
  }

  onEvent(listener: (event: LegEvent) => void): () => void {
    return this.#events.listen(listener)
  }

  hangUp(): void {
    this.#end({ by: 'local', cause: 'bye', detail: '' })
  }

  play(audio: Int16Array): Samples {
    return this.#media.play(audio)
  }

  flush(): Samples {
    return this.#media.flush()
  }

  played(): Samples {
    return this.#media.played()
  }

  /** A browser has no use for digits: they are shown to the page. */
  sendDigits(digits: string): void {
    if (!isDigits(digits))
      throw new LegError('invalid_digits', `"${digits}" contains characters that are not DTMF digits: use 0-9 * # A-D`)
    this.sendToPage({ type: 'digits', digits })
    this.#events.emit({ type: 'digits-sent', digits })
  }

  readHeard(into: Int16Array): Samples {
    return this.#media.readHeard(into)
  }

  splitRecording(next: NonNullable<MediaSessionOptions['recording']> | null): Promise<RecordingSplit> {
    return this.#media.splitRecording(next)
  }

  setBackground(loop: Int16Array | null, gain: number): void {
    this.#media.setBackground(loop, gain)
  }

  playTo(listener: MediaSession): () => void {
    return this.#media.playTo(listener)
  }

  detectVoice(options: VoiceDetection): void {
    this.#media.detectVoice(options)
  }

  nextVoiceEdge(): VoiceEdge | null {
    return this.#media.nextVoiceEdge()
  }

  heardPosition(): Samples {
    return this.#media.heardPosition()
  }

  describe(): string {
    return this.#media.describe()
  }

  statistics(): Promise<MediaStatistics> {
    return this.#media.statistics()
  }

  /** A browser cannot be transferred: "transfer-result" says so. */
  transfer(): void {
    const receipt = { referStatus: null, finalSipStatus: null, disconnectReason: null }
    this.#events.emit({ type: 'transfer-result', taken: false, receipt })
  }

  get #isOver(): boolean {
    return this.#state === 'ending' || this.#state === 'ended'
  }

  #onPeer(event: WebPeerEvent): void {
    if (this.#isOver) return
    switch (event.type) {
      case 'connected':
        this.#timer?.cancel()
        if (this.#answered) return
        this.#answered = true
        this.#state = 'active'
        return this.#events.emit({ type: 'answered' })
      case 'disconnected':
        return this.#limit(RECONNECT_MS, 'the path to the browser was lost')
      case 'left':
        return this.hungUp()
      case 'gone':
        // Only a page that makes its own offers can bring another connection.
        return this.#isRoom ? this.lost(event.detail) : this.#limit(RECONNECT_MS, event.detail)
      case 'channel':
        if (this.#greeting !== null) this.#peer?.send(this.#greeting)
        return
      case 'message':
        return this.#onMessage(event.text)
    }
  }

  #onMessage(text: string): void {
    const now = this.#time.now()
    if (now - this.#messagesSince >= 1000) {
      this.#messagesSince = now
      this.#messages = 0
    }
    if (++this.#messages > MESSAGES_PER_S) return
    const message = readPageMessage(text)
    if (message === null) return
    if (message.type === 'hangup') return this.hungUp()
    for (const digit of message.digits)
      this.#events.emit({ type: 'digit', digit, atSample: this.heardPosition(), durationMs: DIGIT_MS, source: 'info' })
  }

  #onMedia(event: MediaEvent): void {
    if (this.#isOver) return
    switch (event.type) {
      case 'failed':
        return this.#end({ by: 'local', cause: 'media-lost', detail: event.detail })
      case 'silent-remote':
      case 'remote-back':
        return
      default:
        return this.#events.emit(event)
    }
  }

  get #lostCause(): LegEnd['cause'] {
    return this.#answered ? 'media-lost' : 'timeout'
  }

  /** Ends the leg after this long, unless the page connects before. */
  #limit(ms: Ms, detail: string, cause = this.#lostCause): void {
    this.#timer?.cancel()
    this.#timer = this.#time.at(this.#time.now() + ms, () => this.#end({ by: 'remote', cause, detail }))
  }

  #end(end: Pick<LegEnd, 'by' | 'cause' | 'detail'>): void {
    if (this.#isOver) return
    this.#state = 'ending'
    this.#timer?.cancel()
    this.#media.flush()
    this.sendToPage({ type: 'ended' })
    void this.#close(end)
  }

  async #close(end: Pick<LegEnd, 'by' | 'cause' | 'detail'>): Promise<void> {
    let failure: Pick<LegEnd, 'cause' | 'detail'> | null = null
    const media = await this.#media.close().catch((error: unknown) => {
      failure = { cause: 'recording-unavailable', detail: error instanceof Error ? error.message : String(error) }
      return null
    })
    this.#peer?.close()
    this.#state = 'ended'
    this.#events.emit({
      type: 'ended',
      end: {
        direction: 'inbound',
        answered: this.#answered,
        sipStatus: null,
        reason: '',
        inviteSent: false,
        confirmed: true,
        retryAfterS: undefined,
        media,
        ...end,
        ...(failure ?? {}),
      },
    })
  }
}
