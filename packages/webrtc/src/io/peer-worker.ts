import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { TokenBucket } from '@parley/kernel'
import nodeDataChannel from 'node-datachannel'
import { sendPacket, sendText } from '../native-send.ts'
import type { IceServer, PeerCommand, PeerOptions, PeerReport } from '../protocol.ts'
import { SsrcMapping } from '../rtp-ssrc.ts'
import { parseIceUrl } from '../turn.ts'

/** Longest message of a page that is passed on, characters. */
const MAX_MESSAGE = 4096
/** Messages and channels of a page that the engine gets; more are dropped here, so that no page keeps the engine from its calls. */
const REPORTS = { perSecond: 20, burst: 40 }
/** What a page has not read of our messages; more is dropped, so that a page that does not read costs no memory. */
const MAX_UNREAD_BYTES = 262_144
/** Messages that were sent just before the end still reach the page. */
const LAST_WORDS_MS = 300
/** Without DTX: a browser's encoder takes quiet speech for silence. */
const OUR_FMTP = 'minptime=10;useinbandfec=1'

type Connect = PeerCommand & { readonly type: 'connect' }

/** One browser: its peer connection, its data channel, and the loopback socket towards the media session of its call. */
class Peer {
  readonly #connect: Connect
  readonly #connection: InstanceType<typeof nodeDataChannel.PeerConnection>
  readonly #socket: Socket
  #channel: { sendMessage(text: string): boolean; bufferedAmount(): number; isOpen(): boolean } | null = null
  readonly #reports = new TokenBucket(REPORTS, performance.now())
  #closed = false

  constructor(connect: Connect) {
    this.#connect = connect
    this.#connection = new nodeDataChannel.PeerConnection(connect.id, configurationOf(connect.options))
    this.#socket = createSocket('udp4')
  }

  async answer(): Promise<void> {
    const { id, offer, audio, media, options } = this.#connect
    const connection = this.#connection
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('error', reject)
      this.#socket.bind(0, '127.0.0.1', () => this.#socket.connect(media.port, media.address, resolve))
    })
    const ssrc = randomInt(1, 2 ** 32)
    const ours = new nodeDataChannel.Audio(audio.mid, audio.receivesOnly === true ? 'SendOnly' : 'SendRecv')
    ours.addOpusCodec(audio.payloadType, OUR_FMTP)
    ours.addSSRC(ssrc, 'parley', 'parley', 'agent')
    const track = connection.addTrack(ours)
    const mapping = new SsrcMapping(ssrc)
    track.onMessage(packet => {
      mapping.incoming(packet)
      if (!this.#closed) this.#socket.send(packet, () => {})
    })
    // A port that is closed already answers with ICMP, which is an error of a connected socket.
    this.#socket.on('error', () => {})
    this.#socket.on('message', packet => {
      if (mapping.outgoing(packet)) sendPacket(track, packet)
    })
    connection.onDataChannel(channel => {
      this.#channel = channel
      channel.onMessage(message => {
        if (typeof message !== 'string' || message.length > MAX_MESSAGE) return
        if (this.#reports.take(performance.now())) report({ type: 'message', id, text: message })
      })
      if (this.#reports.take(performance.now())) report({ type: 'channel', id })
    })
    connection.onStateChange(state => report({ type: 'state', id, state }))
    const gathered = new Promise<void>(resolve => {
      connection.onGatheringStateChange(state => {
        if (state === 'complete') resolve()
      })
    })
    connection.setRemoteDescription(offer, 'offer')
    await gathered
    const description = connection.localDescription()
    if (description === null) throw new Error('the offer led to no answer')
    const sdp = announced(description.sdp, options.announcedAddress)
    report({ type: 'answer', id, sdp, port: this.#socket.address().port })
  }

  addCandidate(candidate: string, mid: string): void {
    this.#connection.addRemoteCandidate(candidate, mid)
  }

  send(text: string): void {
    if (this.#channel !== null) sendText(this.#channel, text, MAX_UNREAD_BYTES)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#socket.close()
    setTimeout(() => this.#connection.close(), LAST_WORDS_MS)
  }
}

function configurationOf({ bindAddress, ports, iceServers, relayOnly }: PeerOptions) {
  return {
    iceServers: iceServers.map(serverOf),
    ...(bindAddress !== null && { bindAddress }),
    ...(ports !== null && { portRangeBegin: ports.from, portRangeEnd: ports.to }),
    ...(relayOnly && { iceTransportPolicy: 'relay' as const }),
    disableAutoNegotiation: false,
  }
}

/** The library takes servers as parts of a URL, without escapes in user name and password. */
function serverOf({ url, username, credential }: IceServer) {
  const parsed = parseIceUrl(url)
  if (parsed === null) throw new Error(`"${url}" is no address of a TURN or STUN server`)
  const server = { hostname: parsed.host, port: parsed.port }
  if (username === undefined || credential === undefined) return server
  return { ...server, username, password: credential, relayType: 'TurnUdp' } as const
}

/** The answer with another address in its host candidates. */
function announced(sdp: string, address: string | null): string {
  if (address === null) return sdp
  return sdp.replace(/^(a=candidate:\S+ \d+ \S+ \d+ )\S+( \d+ typ host)/gm, `$1${address}$2`)
}

const peers = new Map<string, Peer>()

function report(message: PeerReport): void {
  if (process.connected) process.send?.(message)
}

async function connect(command: Connect): Promise<void> {
  const { id } = command
  try {
    const peer = new Peer(command)
    peers.set(id, peer)
    await peer.answer()
  } catch (error) {
    close(id)
    report({ type: 'refused', id, detail: error instanceof Error ? error.message : String(error) })
  }
}

function close(id: string): void {
  peers.get(id)?.close()
  peers.delete(id)
}

process.on('message', (command: PeerCommand) => {
  switch (command.type) {
    case 'connect':
      return void connect(command)
    case 'candidate':
      try {
        peers.get(command.id)?.addCandidate(command.candidate, command.mid)
      } catch {
        // A candidate that cannot be read is a way less, not an error of the call.
      }
      return
    case 'send':
      return peers.get(command.id)?.send(command.text)
    case 'close':
      return close(command.id)
  }
})

process.on('disconnect', () => {
  for (const id of [...peers.keys()]) close(id)
  setTimeout(() => process.exit(0), LAST_WORDS_MS + 100)
})
// The engine decides when calls end; a signal for the whole process group must not end them first.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
