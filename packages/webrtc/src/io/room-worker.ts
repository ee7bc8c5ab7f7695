import { createSocket, type Socket } from 'node:dgram'
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  DisconnectReason,
  LocalAudioTrack,
  type RemoteParticipant,
  type RemoteTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node'
import { TokenBucket } from '@parley/kernel'
import { L16Packets, SAMPLE_RATE_HZ, samplesOf } from '../livekit/l16-rtp.ts'
import { DATA_TOPIC, type RoomCommand, VISITOR } from '../livekit/room-protocol.ts'
import { VisitorPresence } from '../livekit/visitor-presence.ts'
import type { PeerReport } from '../protocol.ts'

/** Longest message of a page that is passed on, bytes. */
const MAX_MESSAGE = 4096
/** Messages of a page that the engine gets; more are dropped here, so that no page keeps the engine from its calls. */
const REPORTS = { perSecond: 20, burst: 40 }
/** Audio of the agent that waits in the library: what arrives late is not lost, and an interruption is heard at once. */
const QUEUE_MS = 100
/** Frames of the agent that the library has not taken yet; more are dropped. */
const MAX_WAITING_FRAMES = 10
const FRAME_MS = 20
/** A visitor without the agent's track is spoken to after this long. */
const SUBSCRIBE_MS = 3000
/** Messages that were sent just before the end still reach the page. */
const LAST_WORDS_MS = 300

type Connect = RoomCommand & { readonly type: 'connect' }

/** One room: the agent's participant in it, and the loopback socket towards the media session of the call. */
class AgentRoom {
  readonly #connect: Connect
  readonly #room = new Room()
  readonly #socket: Socket = createSocket('udp4')
  readonly #source = new AudioSource(SAMPLE_RATE_HZ, 1, QUEUE_MS)
  readonly #packets = new L16Packets()
  readonly #reports = new TokenBucket(REPORTS, performance.now())
  readonly #presence: VisitorPresence
  #waitingFrames = 0
  /** The visitor's track that is heard; another one takes its place. */
  #heard: string | null = null
  #closed = false

  constructor(connect: Connect) {
    this.#connect = connect
    const { id } = connect
    this.#presence = new VisitorPresence(state => {
      if (this.#closed) return
      report({ type: 'state', id, state })
      if (state === 'connected') report({ type: 'channel', id })
    })
  }

  async join(): Promise<void> {
    const { id, url, token, media } = this.#connect
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('error', reject)
      this.#socket.bind(0, '127.0.0.1', () => this.#socket.connect(media.port, media.address, resolve))
    })
    // A port that is closed already answers with ICMP, which is an error of a connected socket.
    this.#socket.on('error', () => {})
    this.#socket.on('message', packet => this.#play(packet))
    this.#listen()
    await this.#room.connect(url, token, { autoSubscribe: true, dynacast: false })
    if (this.#closed) return this.#leave()
    const track = LocalAudioTrack.createAudioTrack('agent', this.#source)
    const options = new TrackPublishOptions()
    options.source = TrackSource.SOURCE_MICROPHONE
    await this.#room.localParticipant?.publishTrack(track, options)
    report({ type: 'answer', id, sdp: '', port: this.#socket.address().port })
    for (const participant of this.#room.remoteParticipants.values()) this.#onJoined(participant)
  }

  send(text: string): void {
    if (!this.#room.isConnected) return
    const options = { reliable: true, topic: DATA_TOPIC, destination_identities: [VISITOR] }
    // A message to a visitor who has just left reaches nobody.
    void this.#room.localParticipant?.publishData(Buffer.from(text), options).catch(() => {})
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#socket.close()
    setTimeout(() => void this.#leave(), LAST_WORDS_MS)
  }

  async #leave(): Promise<void> {
    await this.#room.disconnect().catch(() => {})
    await this.#source.close().catch(() => {})
  }

  #listen(): void {
    const room = this.#room
    const presence = this.#presence
    room.on(RoomEvent.ParticipantConnected, participant => this.#onJoined(participant))
    room.on(RoomEvent.ParticipantDisconnected, ({ identity, disconnectReason }) => {
      if (identity !== VISITOR) return
      const isByChoice =
        disconnectReason === DisconnectReason.CLIENT_INITIATED ||
        disconnectReason === DisconnectReason.PARTICIPANT_REMOVED
      presence.gone(isByChoice)
    })
    room.on(RoomEvent.LocalTrackSubscribed, () => presence.heard())
    room.on(RoomEvent.TrackSubscribed, (track, _, participant) => {
      if (participant.identity === VISITOR && track.kind === TrackKind.KIND_AUDIO) void this.#hear(track)
    })
    room.on(RoomEvent.Reconnecting, () => presence.reconnecting())
    room.on(RoomEvent.Reconnected, () => presence.reconnected())
    room.on(RoomEvent.Disconnected, () => presence.closed())
    room.on(RoomEvent.DataReceived, (payload, participant, _, topic) => {
      if (participant?.identity === VISITOR && topic === DATA_TOPIC && payload.length <= MAX_MESSAGE)
        this.#onMessage(Buffer.from(payload).toString())
    })
    room.on(RoomEvent.DtmfReceived, (_, digits, participant) => {
      if (participant.identity === VISITOR) this.#onMessage(JSON.stringify({ type: 'digits', digits }))
    })
  }

  #onJoined({ identity }: RemoteParticipant): void {
    if (identity !== VISITOR) return
    this.#presence.joined()
    setTimeout(() => this.#presence.heard(), SUBSCRIBE_MS)
  }

  #onMessage(text: string): void {
    if (!this.#closed && this.#reports.take(performance.now())) report({ type: 'message', id: this.#connect.id, text })
  }

  /** Sends the audio of a track to the media session, until it ends or another takes its place. */
  async #hear(track: RemoteTrack): Promise<void> {
    const sid = track.sid ?? ''
    this.#heard = sid
    const stream = new AudioStream(track, { sampleRate: SAMPLE_RATE_HZ, numChannels: 1, frameSizeMs: FRAME_MS })
    try {
      for await (const { data } of stream) {
        if (this.#closed || this.#heard !== sid) break
        this.#socket.send(this.#packets.packet(data, performance.now()), () => {})
      }
    } catch {
      // A track that ends in the middle of a frame has no more audio.
    }
  }

  #play(packet: Buffer): void {
    const samples = samplesOf(packet)
    if (samples === null || this.#closed || this.#waitingFrames >= MAX_WAITING_FRAMES) return
    this.#waitingFrames++
    void this.#source
      .captureFrame(new AudioFrame(samples, SAMPLE_RATE_HZ, 1, samples.length))
      .catch(() => {})
      .finally(() => {
        this.#waitingFrames--
      })
  }
}

const rooms = new Map<string, AgentRoom>()

function report(message: PeerReport): void {
  if (process.connected) process.send?.(message)
}

async function connect(command: Connect): Promise<void> {
  const { id } = command
  try {
    const room = new AgentRoom(command)
    rooms.set(id, room)
    await room.join()
  } catch (error) {
    close(id)
    report({ type: 'refused', id, detail: error instanceof Error ? error.message : String(error) })
  }
}

function close(id: string): void {
  rooms.get(id)?.close()
  rooms.delete(id)
}

process.on('message', (command: RoomCommand) => {
  switch (command.type) {
    case 'connect':
      return void connect(command)
    case 'send':
      return rooms.get(command.id)?.send(command.text)
    case 'close':
      return close(command.id)
  }
})

process.on('disconnect', () => {
  for (const id of [...rooms.keys()]) close(id)
  setTimeout(() => process.exit(0), LAST_WORDS_MS + 700)
})
// The engine decides when calls end; a signal for the whole process group must not end them first.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
