/** A TURN or STUN server, as `RTCIceServer`. */
interface IceServer {
  readonly urls: string[]
  readonly username?: string | undefined
  readonly credential?: string | undefined
}

/** The address and the token of a web run: `web` in the answer of `POST /runs`. */
export interface CallAccess {
  /** `livekit`: for the client of LiveKit (npm `livekit-client`); `call` refuses it. Default direct. */
  readonly kind?: 'direct' | 'livekit'
  readonly url: string
  readonly token: string
  /** TURN and STUN servers; default: none. */
  readonly ice_servers?: readonly IceServer[]
}

/**
 * The address and the token of a new call of a site, by its key (`pk_…`). `server`: base URL of the API; default: where this module was
 * loaded from. Rejects when the call is not given; its message says why.
 */
export async function siteAccess(
  siteKey: string,
  server: string = new URL(import.meta.url).origin,
): Promise<CallAccess> {
  const url = `${server.replace(/\/+$/, '')}/web/calls`
  const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${siteKey}` } })
  const body = await response.text()
  if (response.status !== 201) throw new Error(refusalIn(body, response.status))
  return JSON.parse(body) as CallAccess
}

/** `reconnecting`: the path was lost, and the call tries to come back for 10 s. */
export type CallState = 'connecting' | 'connected' | 'reconnecting' | 'ended'

export type AgentState = 'listening' | 'thinking' | 'speaking'

export interface Utterance {
  readonly index: number
  readonly role: 'agent' | 'user'
  readonly text: string
  /** Whether the caller interrupted it. */
  readonly interrupted: boolean
}

interface CallEvents {
  readonly state: CallState
  readonly agent: AgentState
  /** Whether the user is speaking. */
  readonly user: boolean
  readonly utterance: Utterance
}

/** The engine gives a call up 10 s after its path was lost. */
const RECONNECT_MS = 10_000
/** Between two offers, if the first was not answered. */
const RETRY_MS = 1000
/** An answered offer gets this long to connect before the next one takes its place. */
const PATH_MS = 3000

/** Options of a call. */
interface CallOptions {
  /** Plays the agent; default: an element that is not in the page. */
  readonly audio?: HTMLAudioElement
  /** Of the microphone; default: mono with echo cancellation, noise suppression and gain control. */
  readonly microphone?: MediaTrackConstraints
  /** Whether media goes through a TURN server only, as where UDP is blocked; default false. */
  readonly relayOnly?: boolean
}

/**
 * Asks for the microphone and calls the agent. Resolves when the agent's side has answered. Rejects when the microphone is refused
 * (`NotAllowedError`) and when the call is not taken; its message says why. Call it in a click: browsers play audio only then.
 *
 * Only for calls of kind direct. A call of kind livekit is refused before the microphone is asked for, and its token stays unused:
 * connect with `new Room().connect(access.url, access.token)` of `livekit-client`.
 */
export async function call(access: CallAccess, options: CallOptions = {}): Promise<AgentCall> {
  if (access.kind === 'livekit')
    throw new Error(
      'this call is by LiveKit: connect with new Room().connect(url, token) of livekit-client, or create the run with web_kind "direct"',
    )
  const microphone = await navigator.mediaDevices.getUserMedia({
    audio: {
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
      channelCount: 1,
      ...options.microphone,
    },
  })
  const made = new AgentCall(access, microphone, options)
  try {
    await made.connect()
    return made
  } catch (error) {
    made.hangUp()
    throw error
  }
}

/** A call of the browser to an agent. */
export class AgentCall {
  readonly #access: CallAccess
  readonly #microphone: MediaStream
  readonly #audio: HTMLAudioElement
  readonly #relayOnly: boolean
  readonly #listeners = new Map<keyof CallEvents, Set<(value: never) => void>>()
  readonly #utterances: Utterance[] = []
  #state: CallState = 'connecting'
  #agent: AgentState | null = null
  #connection: RTCPeerConnection | null = null
  #channel: RTCDataChannel | null = null
  /** Secret for the next offers; null before the first answer. */
  #resume: string | null = null
  #reconnecting = false

  constructor(access: CallAccess, microphone: MediaStream, { audio = new Audio(), relayOnly = false }: CallOptions) {
    this.#access = access
    this.#microphone = microphone
    this.#relayOnly = relayOnly
    this.#audio = audio
    audio.autoplay = true
  }

  get state(): CallState {
    return this.#state
  }

  /** Null before the agent has connected. */
  get agent(): AgentState | null {
    return this.#agent
  }

  /** What has been said so far. */
  get transcript(): readonly Utterance[] {
    return this.#utterances
  }

  get muted(): boolean {
    return this.#microphone.getAudioTracks().every(track => !track.enabled)
  }

  /** Returns a function that removes the listener. */
  on<Name extends keyof CallEvents>(name: Name, listener: (value: CallEvents[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Muted, the agent hears silence. */
  mute(muted: boolean): void {
    for (const track of this.#microphone.getAudioTracks()) track.enabled = !muted
  }

  /** Presses keys: 0-9 * # A-D. */
  sendDigits(digits: string): void {
    this.#tell({ type: 'digits', digits })
  }

  hangUp(): void {
    if (this.#state === 'ended') return
    this.#tell({ type: 'hangup' })
    const { url, token } = this.#access
    // The data channel may be down; `keepalive` lets the request outlive the page.
    if (this.#resume !== null)
      void fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}` }, keepalive: true }).catch(
        () => {},
      )
    this.#end()
  }

  /** Makes an offer and waits for the answer. */
  async connect(): Promise<void> {
    const connection = new RTCPeerConnection({
      iceServers: [...(this.#access.ice_servers ?? [])] as RTCIceServer[],
      iceTransportPolicy: this.#relayOnly ? 'relay' : 'all',
    })
    const before = this.#connection
    this.#connection = connection
    before?.close()
    const isCurrent = () => this.#connection === connection
    for (const track of this.#microphone.getAudioTracks()) connection.addTrack(track, this.#microphone)
    connection.ontrack = ({ streams, track }) => {
      this.#audio.srcObject = streams[0] ?? new MediaStream([track])
      void this.#audio.play().catch(() => {})
    }
    connection.onconnectionstatechange = () => {
      if (!isCurrent()) return
      if (connection.connectionState === 'connected') this.#enter('connected')
      if (connection.connectionState === 'disconnected' || connection.connectionState === 'failed')
        void this.#reconnect()
    }
    const channel = connection.createDataChannel('parley')
    this.#channel = channel
    channel.onmessage = ({ data }) => {
      if (isCurrent()) this.#hear(String(data))
    }
    await connection.setLocalDescription()
    await gathered(connection)
    const response = await fetch(this.#access.url, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', authorization: `Bearer ${this.#resume ?? this.#access.token}` },
      body: withDtx(connection.localDescription?.sdp ?? ''),
    })
    const body = await response.text()
    if (response.status !== 201) throw new Error(refusalIn(body, response.status))
    this.#resume = response.headers.get('parley-resume') ?? this.#resume
    if (isCurrent()) await connection.setRemoteDescription({ type: 'answer', sdp: body })
  }

  #hear(text: string): void {
    const message = JSON.parse(text) as { type: string; state?: AgentState; speaking?: boolean } & Utterance
    switch (message.type) {
      case 'agent':
        this.#agent = message.state ?? null
        return this.#emit('agent', message.state!)
      case 'user':
        return this.#emit('user', message.speaking === true)
      case 'utterance': {
        const { index, role, text, interrupted } = message
        this.#utterances.push({ index, role, text, interrupted })
        return this.#emit('utterance', { index, role, text, interrupted })
      }
      case 'ended':
        return this.#end()
    }
  }

  /** Makes offers until one is answered and connects, or the engine has given the call up. */
  async #reconnect(): Promise<void> {
    if (this.#reconnecting || this.#state === 'ended' || this.#resume === null) return
    this.#reconnecting = true
    this.#enter('reconnecting')
    const until = Date.now() + RECONNECT_MS
    while (this.#isReconnecting && Date.now() < until) {
      const waitMs = await this.connect().then(
        () => PATH_MS,
        () => RETRY_MS,
      )
      await this.#stateChange(waitMs)
    }
    this.#reconnecting = false
    if (this.#isReconnecting) this.#end()
  }

  /** Resolves when the call has another state, or after `withinMs`. */
  #stateChange(withinMs: number): Promise<void> {
    if (!this.#isReconnecting) return Promise.resolve()
    return new Promise(resolve => {
      const settle = () => {
        stop()
        clearTimeout(timer)
        resolve()
      }
      const stop = this.on('state', settle)
      const timer = setTimeout(settle, withinMs)
    })
  }

  get #isReconnecting(): boolean {
    return this.#state === 'reconnecting'
  }

  #tell(message: object): void {
    if (this.#channel?.readyState === 'open') this.#channel.send(JSON.stringify(message))
  }

  #end(): void {
    if (this.#state === 'ended') return
    for (const track of this.#microphone.getTracks()) track.stop()
    const connection = this.#connection
    // The message of a hang-up leaves first.
    setTimeout(() => connection?.close(), 200)
    this.#audio.srcObject = null
    this.#enter('ended')
  }

  #enter(state: CallState): void {
    if (state === this.#state) return
    this.#state = state
    this.#emit('state', state)
  }

  #emit<Name extends keyof CallEvents>(name: Name, value: CallEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) (listener as (value: CallEvents[Name]) => void)(value)
  }
}

/** The offer, which asks for no packets while the agent is silent (RFC 7587 section 6.1). */
function withDtx(offer: string): string {
  return offer.replace(/^(a=fmtp:\d+ [^\r\n]*useinbandfec=1)/gm, '$1;usedtx=1')
}

/** Resolves when all candidates are known, or after a second: the engine finds the browser by its checks as well. */
export function gathered(connection: RTCPeerConnection): Promise<void> {
  return new Promise(resolve => {
    const settle = () => {
      if (connection.iceGatheringState === 'complete') resolve()
    }
    connection.addEventListener('icegatheringstatechange', settle)
    setTimeout(resolve, 1000)
    settle()
  })
}

function refusalIn(body: string, status: number): string {
  try {
    return (JSON.parse(body) as { error: { message: string } }).error.message
  } catch {
    return `the call was not taken (HTTP ${status})`
  }
}
