import { randomInt } from 'node:crypto'
import { codecByName, loadOpus } from '@parley/media/testing'
import nodeDataChannel from 'node-datachannel'
import { sendPacket } from '../native-send.ts'
import { parseIceUrl } from '../turn.ts'

const FRAME = 320
const FRAME_MS = 20
const PAYLOAD_TYPE = 111
const RTP_HEADER_BYTES = 12
const FMTP = 'minptime=10;useinbandfec=1'
const DTX = 'usedtx=1'
const CANDIDATES = /^a=(?:candidate:.*|end-of-candidates)\r?\n/gm

interface BrowserIceServer {
  readonly urls: readonly string[]
  readonly username?: string | undefined
  readonly credential?: string | undefined
}

interface BrowserStandInOptions {
  /** Local address of its sockets; default 127.0.0.1. */
  readonly bindAddress?: string
  /** Its TURN and STUN servers, as in the answer that creates a web run; default none. TURN over UDP only. */
  readonly iceServers?: readonly BrowserIceServer[]
  /** Whether its media goes through a TURN server only; default false. */
  readonly relayOnly?: boolean
  /** Whether it offers to receive audio alone, as a browser that listens to a call; default false. */
  readonly receivesOnly?: boolean
  /** Whether it asks for no packets while the agent is silent, as the browser part does; default false. */
  readonly prefersDtx?: boolean
  /**
   * Whether its offer has no candidates, which follow by PATCH (RFC 8840), and it begins no checks: the engine finds it by these candidates
   * alone. Default false.
   */
  readonly trickles?: boolean
  /**
   * Whether its offer has its candidates, and it takes the answer with those of the engine: then libdatachannel may fail and it offers
   * again (`call`). Needed where media passes a TURN server, which lets nobody through whom the other side does not know. Default: with
   * TURN servers.
   */
  readonly offersCandidates?: boolean
  /** Opus packets of 20 ms that it sends over and over, from the first on; then `speak` has no effect. Default none. */
  readonly prepared?: readonly Uint8Array[]
  /** Gets the RTP packets of audio instead of `heard`. */
  readonly onPacket?: ((packet: Buffer) => void) | null
}

/** Sends one request of the signalling; replaced by tests that count or change them. */
type Fetch = typeof fetch

/** A browser on a web call, as far as the engine can tell: a WebRTC peer with Opus and a data channel, and WHIP over HTTP. */
export class BrowserStandIn {
  /** Messages of the agent's side, in order. */
  readonly messages: { readonly type: string; readonly [field: string]: unknown }[] = []
  /** Secret for offers after the first; null before the first answer. */
  resume: string | null = null
  state = 'new'
  readonly #heard: Int16Array[] = []
  readonly #decoder = codecByName('OPUS').createDecoder()
  readonly #encoder = codecByName('OPUS').createEncoder(FMTP)
  readonly #packet = Buffer.alloc(1500)
  readonly #samples = new Int16Array(1920)
  readonly #options: Required<BrowserStandInOptions>
  #speech: Int16Array = new Int16Array(0)
  #spoken = 0
  #sequence = randomInt(0x8000)
  #timestamp = randomInt(2 ** 32)
  readonly #ssrc = randomInt(1, 2 ** 32)
  #timer: NodeJS.Timeout | null = null
  #sentFrames = 0
  #startedAt = 0
  #connection: InstanceType<typeof nodeDataChannel.PeerConnection> | null = null
  #channel: ReturnType<InstanceType<typeof nodeDataChannel.PeerConnection>['createDataChannel']> | null = null

  constructor({
    bindAddress = '127.0.0.1',
    iceServers = [],
    relayOnly = false,
    receivesOnly = false,
    prefersDtx = false,
    trickles = false,
    offersCandidates = iceServers.length > 0,
    prepared = [],
    onPacket = null,
  }: BrowserStandInOptions = {}) {
    this.#options = {
      bindAddress,
      iceServers,
      relayOnly,
      receivesOnly,
      prefersDtx,
      trickles,
      offersCandidates,
      prepared,
      onPacket,
    }
  }

  /** Audio that was received, 16 kHz, packet after packet; without gaps for what was not sent. */
  get heard(): Int16Array {
    return Int16Array.from(this.#heard.flatMap(part => [...part]))
  }

  /** The two candidates that carry the media; null: not connected. */
  get path() {
    const pair = this.#connection?.getSelectedCandidatePair()
    return pair ? { local: pair.local, remote: pair.remote } : null
  }

  /**
   * Makes an offer; resolves with the status of the answer. On 201 the connection is being made. `attempts`: offers at most.
   *
   * libdatachannel takes the fingerprint of an answer after its ICE credentials. A connection that has been checked by the other side
   * meanwhile may have finished DTLS by then: it refuses a certificate that it does not know yet, and is closed (one of ten on a single
   * busy core). Neither side knows a candidate of the other before the answer is taken, therefore; with a TURN server it offers again.
   */
  async call(url: string, bearer: string, request: Fetch = fetch, attempts = 3): Promise<number> {
    await loadOpus()
    this.#connection?.close()
    const { bindAddress, iceServers, relayOnly, receivesOnly, prefersDtx } = this.#options
    const connection = new nodeDataChannel.PeerConnection('browser', {
      iceServers: iceServers.flatMap(serversOf),
      bindAddress,
      ...(relayOnly && { iceTransportPolicy: 'relay' as const }),
      // A data channel would begin the negotiation by itself, and the offer below would be the second.
      disableAutoNegotiation: true,
    })
    this.#connection = connection
    const gathered = new Promise<void>(resolve => {
      connection.onGatheringStateChange(state => {
        if (state === 'complete') resolve()
      })
    })
    const audio = new nodeDataChannel.Audio('0', receivesOnly ? 'RecvOnly' : 'SendRecv')
    audio.addOpusCodec(PAYLOAD_TYPE, prefersDtx ? `${FMTP};${DTX}` : FMTP)
    if (!receivesOnly) audio.addSSRC(this.#ssrc, 'browser', 'browser', 'microphone')
    const track = connection.addTrack(audio)
    track.onMessage(packet => this.#hear(packet))
    if (!receivesOnly) track.onOpen(() => this.#beginSending(packet => sendPacket(track, packet)))
    const channel = connection.createDataChannel('parley')
    this.#channel = channel
    channel.onMessage(text => this.messages.push(JSON.parse(String(text))))
    let wasConnected = false
    connection.onStateChange(state => {
      wasConnected ||= state === 'connected'
      if (this.#connection !== connection) return
      // As a page does, it offers again.
      if (state === 'failed' && !wasConnected && attempts > 1)
        void this.call(url, this.resume ?? bearer, request, attempts - 1).catch(() => {
          this.state = state
        })
      else this.state = state
    })
    connection.setLocalDescription('offer')
    await gathered
    const { sdp } = connection.localDescription()!
    const { trickles, offersCandidates } = this.#options
    const hidesCandidates = trickles || !offersCandidates
    const response = await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/sdp' },
      body: hidesCandidates ? sdp.replace(CANDIDATES, '') : sdp,
    })
    const body = await response.text()
    if (response.status !== 201) return response.status
    this.resume = response.headers.get('parley-resume') ?? this.resume
    try {
      connection.setRemoteDescription(hidesCandidates ? body.replace(CANDIDATES, '') : body, 'answer')
    } catch (error) {
      if (attempts === 1 || !String(error).includes('without ICE transport')) throw error
      return this.call(url, this.resume ?? bearer, request, attempts - 1)
    }
    if (!hidesCandidates) return response.status
    if (trickles) {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/trickle-ice-sdpfrag' }
      const fragment = `m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n${(sdp.match(CANDIDATES) ?? []).join('')}`
      const { status } = await request(url, { method: 'PATCH', headers, body: fragment })
      return status === 204 ? response.status : status
    }
    for (const candidate of body.match(CANDIDATES) ?? [])
      if (candidate.startsWith('a=candidate:')) connection.addRemoteCandidate(candidate.trim(), '0')
    return response.status
  }

  /** Speaks after what is being said. */
  speak(audio: Int16Array): void {
    const left = this.#speech.subarray(this.#spoken)
    this.#speech = Int16Array.from([...left, ...audio])
    this.#spoken = 0
  }

  /** Sends a message on the data channel. */
  send(message: object): void {
    this.#channel?.sendMessage(JSON.stringify(message))
  }

  /** The network is gone: nothing is sent or received any more, and the other side is not notified. */
  loseNetwork(): void {
    this.#stop()
    this.#connection?.close()
    this.#connection = null
  }

  close(): void {
    this.loseNetwork()
  }

  #hear(packet: Buffer): void {
    if (packet.length <= RTP_HEADER_BYTES || (packet[1]! & 0x7f) !== PAYLOAD_TYPE) return
    if (this.#options.onPacket !== null) return this.#options.onPacket(packet)
    const count = this.#decoder.decode(packet, RTP_HEADER_BYTES, packet.length - RTP_HEADER_BYTES, this.#samples, 0)
    if (count > 0) this.#heard.push(this.#samples.slice(0, count))
  }

  #beginSending(send: (packet: Buffer) => void): void {
    this.#stop()
    this.#startedAt = performance.now()
    this.#sentFrames = 0
    this.#timer = setInterval(() => {
      const due = Math.floor((performance.now() - this.#startedAt) / FRAME_MS)
      while (this.#sentFrames < due) {
        this.#sentFrames++
        send(this.#nextPacket())
      }
    }, FRAME_MS / 2)
  }

  #nextPacket(): Buffer {
    const packet = this.#packet
    packet[0] = 0x80
    packet[1] = PAYLOAD_TYPE
    packet.writeUInt16BE(this.#sequence, 2)
    packet.writeUInt32BE(this.#timestamp, 4)
    packet.writeUInt32BE(this.#ssrc, 8)
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#timestamp = (this.#timestamp + 960) >>> 0
    return Buffer.from(packet.subarray(0, RTP_HEADER_BYTES + this.#writeAudio()))
  }

  /** Writes the next 20 ms behind the header of the packet; returns how many bytes. */
  #writeAudio(): number {
    const { prepared } = this.#options
    if (prepared.length > 0) {
      const payload = prepared[this.#sentFrames % prepared.length]!
      this.#packet.set(payload, RTP_HEADER_BYTES)
      return payload.length
    }
    const frame = new Int16Array(FRAME)
    frame.set(this.#speech.subarray(this.#spoken, this.#spoken + FRAME))
    this.#spoken = Math.min(this.#speech.length, this.#spoken + FRAME)
    return this.#encoder.encode(frame, 0, FRAME, this.#packet, RTP_HEADER_BYTES)
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}

function serversOf({ urls, username, credential }: BrowserIceServer) {
  return urls.map(url => {
    const { host: hostname, port } = parseIceUrl(url)!
    if (username === undefined || credential === undefined) return { hostname, port }
    return { hostname, port, username, password: credential, relayType: 'TurnUdp' as const }
  })
}
