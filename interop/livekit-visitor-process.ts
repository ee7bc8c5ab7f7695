// The process of a `LiveKitVisitor`.
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node'
import type { VisitorCommand, VisitorReport } from './livekit-visitor.ts'

const RATE_HZ = 16_000
const FRAME = 320
const FRAME_MS = 20

const room = new Room()
const source = new AudioSource(RATE_HZ, 1, 100)
let speech: Int16Array = new Int16Array(0)
let isNew = false

function report(message: VisitorReport): void {
  if (process.connected) process.send?.(message)
}

/** The visitor's microphone: speech, or silence. */
async function capture(): Promise<void> {
  const startedAt = performance.now()
  for (let frames = 0; room.isConnected; frames++) {
    const samples = new Int16Array(FRAME)
    samples.set(speech.subarray(0, FRAME))
    speech = speech.subarray(FRAME)
    if (isNew) report({ type: 'speaking', at: performance.now() })
    isNew = false
    await source.captureFrame(new AudioFrame(samples, RATE_HZ, 1, FRAME))
    const wait = startedAt + (frames + 1) * FRAME_MS - performance.now()
    if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
  }
}

async function join(url: string, token: string): Promise<void> {
  room.on(RoomEvent.TrackSubscribed, async track => {
    if (track.kind !== TrackKind.KIND_AUDIO) return
    for await (const { data } of new AudioStream(track, { sampleRate: RATE_HZ, numChannels: 1, frameSizeMs: FRAME_MS }))
      report({ type: 'audio', samples: data, at: performance.now() })
  })
  room.on(RoomEvent.DataReceived, (payload, _, __, topic) => {
    if (topic === 'parley') report({ type: 'message', text: Buffer.from(payload).toString() })
  })
  room.on(RoomEvent.Disconnected, () => report({ type: 'out' }))
  try {
    await room.connect(url, token, { autoSubscribe: true, dynacast: false })
    const options = new TrackPublishOptions()
    options.source = TrackSource.SOURCE_MICROPHONE
    const track = LocalAudioTrack.createAudioTrack('microphone', source)
    await room.localParticipant!.publishTrack(track, options)
    void capture().catch(() => {})
    report({ type: 'joined' })
  } catch (error) {
    report({ type: 'refused', detail: error instanceof Error ? error.message : String(error) })
  }
}

process.on('message', (command: VisitorCommand) => {
  switch (command.type) {
    case 'join':
      return void join(command.url, command.token)
    case 'speak':
      speech = Int16Array.from([...speech, ...command.samples])
      isNew = true
      return
    case 'send':
      return void room
        .localParticipant!.publishData(Buffer.from(command.text), { reliable: true, topic: 'parley' })
        .catch(() => {})
    case 'leave':
      return void room.disconnect()
  }
})
process.on('disconnect', () => process.exit(0))
