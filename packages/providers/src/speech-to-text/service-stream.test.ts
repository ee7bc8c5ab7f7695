import { NARROWBAND } from '@parley/kernel'
import { HeldUpTime } from '@parley/kernel/testing'
import { describe, expect, it } from 'vitest'
import { ProviderError, type ProviderErrorCode } from '../errors.ts'
import { encodingFor } from '../service-encoding.ts'
import type { ConnectionListener } from './service-link.ts'
import type { ServiceEvent, ServiceProtocol } from './service-protocol.ts'
import { ServiceStream } from './service-stream.ts'
import type { SpeechEvent } from './speech-to-text.ts'

const CLOCK = 8_000_000

const PROTOCOL: ServiceProtocol = {
  name: 'A service',
  minMessageMs: 20,
  padsLastMessage: false,
  maxMessageMs: 500,
  reportsReady: true,
  keepAlive: { afterMs: 4000, message: 'keep' },
  noMessageTimeoutMs: null,
  stall: { afterMs: 5000, byVoice: true },
  finalizeMessage: 'finalize',
  closeMessage: 'close',
  // The scripted service sends its events as JSON.
  openReader: () => message => [JSON.parse(message) as ServiceEvent],
}

/** A stream in virtual time with its connections; the test plays the service. */
function openStream(protocol: Partial<ServiceProtocol> = {}, tellsVoice = false) {
  const time = new HeldUpTime()
  const connections: { readonly sent: (string | number)[]; readonly listener: ConnectionListener; closed: boolean }[] =
    []
  const events: SpeechEvent[] = []
  const sent = { ms: 0 }
  const stream = new ServiceStream({
    onSent: ms => {
      sent.ms += ms
    },
    protocol: { ...PROTOCOL, ...protocol },
    tellsVoice,
    encoding: encodingFor(NARROWBAND),
    time,
    connect: listener => {
      const connection = { sent: [] as (string | number)[], listener, closed: false }
      connections.push(connection)
      return {
        send: data => connection.sent.push(typeof data === 'string' ? data : data.length),
        close: () => {
          connection.closed = true
        },
      }
    },
    onClose: () => {},
  })
  stream.onEvent(event => events.push(event))
  let position = CLOCK
  const last = () => connections.at(-1)!
  return {
    time,
    stream,
    events,
    connections,
    sent,
    deliver: (event: ServiceEvent) => last().listener.onText(JSON.stringify(event)),
    lose: (retryable = true, code: ProviderErrorCode = 'recogniser_unreachable') =>
      last().listener.onEnd(new ProviderError(code, 'gone', { retryable })),
    /** Audio in real time. */
    talk(ms: number) {
      for (let passed = 0; passed < ms; passed += 20) {
        stream.write(new Int16Array(160), position)
        position += 160
        time.advance(20)
      }
    },
    audioOf: (index: number) =>
      connections[index]!.sent.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0),
    types: () => events.map(({ type }) => type),
  }
}

/** Words at these samples of the service's stream, each 100 ms. */
function words(texts: string, starts: readonly number[], final = false, passage = 0): ServiceEvent {
  const list = texts.split(' ').filter(text => text !== '')
  return {
    type: 'words',
    passage,
    words: list.map((text, i) => ({ text, startMs: starts[i]! / 8, endMs: starts[i]! / 8 + 100 })),
    fromMs: 0,
    untilMs: null,
    final,
    forced: null,
    stopped: final,
  }
}

describe('a finalize request of a recogniser stream', () => {
  it('a finalize request of a recogniser stream is answered after 1500 ms with the words so far, and late words are not delivered twice', () => {
    const { deliver, talk, stream, time, events } = openStream()
    deliver({ type: 'ready' })
    talk(1000)
    deliver(words('one two', [100, 2000]))
    stream.finalize()
    time.advance(1499)
    expect(events.some(({ type }) => type === 'final')).toBe(false)
    time.advance(1)
    expect(events.at(-1)).toMatchObject({ type: 'final', text: 'one two', fromFinalize: true })
    deliver(words('one two three', [100, 2000, 4000], true))
    expect(events.at(-1)).toMatchObject({ type: 'final', text: 'three', fromFinalize: false })
  })

  it('a finalize request of a recogniser stream is answered by what the service sent while the thread was held up', () => {
    const { deliver, talk, stream, time, events } = openStream()
    deliver({ type: 'ready' })
    talk(1000)
    deliver(words('one two', [100, 2000]))
    stream.finalize()
    time.advance(500)
    time.holdUp(2000)
    expect(events.some(({ type }) => type === 'final')).toBe(false)
    deliver(words('one two three', [100, 2000, 4000], true))
    expect(events.at(-1)).toMatchObject({ type: 'final', text: 'one two three', fromFinalize: true })
    stream.finalize()
    time.holdUp(2000)
    time.advance(500)
    expect(events.at(-1)).toMatchObject({ type: 'final', text: '', fromFinalize: true })
  })

  it('a finalize request of a recogniser stream is answered after 700 ms in silence, when a service need not answer', () => {
    const { deliver, talk, stream, time, events } = openStream()
    deliver({ type: 'ready' })
    talk(3000)
    stream.finalize()
    time.advance(700)
    expect(events).toEqual([{ type: 'final', text: '', words: [], fromFinalize: true }])
  })

  it('a finalize request of a recogniser stream waits for late words, even when the audio seemed silent', () => {
    const { deliver, talk, stream, time, events } = openStream()
    deliver({ type: 'ready' })
    talk(3000)
    stream.finalize()
    time.advance(600)
    deliver(words('yes', [22_000]))
    time.advance(600)
    deliver(words('yes', [22_000], true))
    expect(events.at(-1)).toMatchObject({ type: 'final', text: 'yes', fromFinalize: true })
    time.advance(5000)
    expect(events.filter(({ type }) => type === 'final')).toHaveLength(1)
  })

  it('a finalize request of a recogniser stream is not answered by words that became final before the request', () => {
    const { deliver, talk, stream, events } = openStream()
    deliver({ type: 'ready' })
    talk(2000)
    stream.finalize()
    deliver({ ...words('one', [100], true), untilMs: 1000 } as ServiceEvent)
    expect(events.at(-1)).toMatchObject({ text: 'one', fromFinalize: false })
    deliver({ ...words('two', [9000], true, 1), untilMs: 2000, forced: true } as ServiceEvent)
    expect(events.at(-1)).toMatchObject({ text: 'two', fromFinalize: true })
  })

  it('a finalize request of a recogniser stream is answered without a connection', () => {
    const { talk, stream, time, events } = openStream()
    talk(100)
    stream.finalize()
    time.advance(1500)
    expect(events).toEqual([{ type: 'final', text: '', words: [], fromFinalize: true }])
  })

  it('a finalize request of a recogniser stream is answered when the stream fails for good', () => {
    const { deliver, talk, stream, types, lose, events } = openStream()
    deliver({ type: 'ready' })
    talk(500)
    deliver(words('one', [100]))
    stream.finalize()
    stream.finalize()
    lose(false, 'recogniser_refused')
    expect(types().slice(-3)).toEqual(['final', 'final', 'error'])
    expect(events.at(-3)).toMatchObject({ text: 'one', fromFinalize: true })
  })
})

describe('a connection to a recogniser service', () => {
  it('a connection to a recogniser service gets keep-alive messages only while there is no audio', () => {
    const { deliver, talk, time, connections } = openStream()
    deliver({ type: 'ready' })
    talk(10_000)
    expect(connections[0]!.sent).not.toContain('keep')
    time.advance(60_000)
    expect(connections[0]!.sent.filter(one => one === 'keep').length).toBeGreaterThanOrEqual(14)
  })

  it('a connection to a recogniser service gets short silence instead of keep-alive messages that the service lacks, without shifting word times', () => {
    const { deliver, talk, time, audioOf, sent, stream, events } = openStream({
      keepAlive: { afterMs: 500, message: null },
    })
    deliver({ type: 'ready' })
    let heard = 0
    for (let s = 0; s < 60; s += 5) {
      time.advance(5000)
      expect(audioOf(0)).toBeGreaterThan(heard)
      heard = audioOf(0)
    }
    expect(heard).toBeLessThan(60_000 * 8 * 0.02)
    expect(sent.ms).toBe(heard / 8)
    talk(1000)
    expect(audioOf(0)).toBe(heard + 8000)
    deliver(words('one', [heard + 800], true))
    expect(events.at(-1)).toMatchObject({ type: 'final', words: [{ text: 'one', startSample: CLOCK + 800 }] })
    stream.close()
  })

  it('a connection to a recogniser service is replaced when no greeting arrives within 5 s, and the next one gets all audio so far', () => {
    const { deliver, talk, audioOf, connections, types } = openStream()
    talk(5100)
    expect(types()).toEqual(['error'])
    expect(connections[0]!.closed).toBe(true)
    deliver({ type: 'ready' })
    expect(audioOf(1)).toBe(5100 * 8)
  })

  it('a connection to a recogniser service is replaced when it reports nothing during speech, but not during silence', () => {
    const { deliver, talk, types } = openStream()
    deliver({ type: 'ready' })
    talk(60_000)
    expect(types()).toEqual([])
    deliver({ type: 'speech-started', atMs: 59_875 })
    talk(4900)
    expect(types()).toEqual(['speech-started'])
    talk(200)
    expect(types()).toEqual(['speech-started', 'error'])
  })

  it('a connection to a recogniser service is not replaced for voice without words where the service may stay silent', () => {
    const { deliver, talk, types } = openStream({ stall: { afterMs: 15_000, byVoice: false } })
    deliver({ type: 'ready' })
    deliver({ type: 'speech-started', atMs: 12.5 })
    talk(60_000)
    expect(types()).toEqual(['speech-started'])
    deliver(words('one', [480_000]))
    talk(15_100)
    // The audio of the word is no longer buffered, so the word becomes final.
    expect(types()).toEqual(['speech-started', 'partial', 'final', 'error'])
  })

  it('a connection to a recogniser service is replaced when it is mute although the service normally reports silence too', () => {
    const { connections, talk, types } = openStream({ reportsReady: false, noMessageTimeoutMs: 10_000 })
    connections[0]!.listener.onOpen()
    talk(9900)
    expect(types()).toEqual([])
    talk(200)
    expect(types()).toEqual(['error'])
  })
})

describe('audio for a recogniser service', () => {
  it('audio for a recogniser service contains silence where the call has a gap, enough to end any turn', () => {
    for (const [gap, silence] of [
      [800, 800],
      [800_000, 24_000],
    ] as const) {
      const { deliver, stream, audioOf } = openStream()
      deliver({ type: 'ready' })
      stream.write(new Int16Array(160), CLOCK)
      stream.write(new Int16Array(160), CLOCK + 160 + gap)
      expect(audioOf(0)).toBe(320 + silence)
    }
  })

  it('audio for a recogniser service is sent in messages of the required size, and the remainder when no more arrives', () => {
    const { deliver, talk, time, connections } = openStream({ minMessageMs: 80 })
    deliver({ type: 'ready' })
    talk(100)
    expect(connections[0]!.sent).toEqual([640])
    time.advance(4000)
    expect(connections[0]!.sent).toEqual([640, 160, 'keep'])
  })
})

describe('audio for a recogniser service while nobody speaks', () => {
  const sentIn = (made: ReturnType<typeof openStream>, ms: number) => {
    const { sent } = made.connections[0]!
    const before = sent.length
    made.talk(ms)
    return sent.slice(before)
  }
  const opened = (protocol: Partial<ServiceProtocol> = {}) => {
    const made = openStream({ minMessageMs: 40, ...protocol }, true)
    made.deliver({ type: 'ready' })
    return made
  }

  it('audio travels in longer messages after a second of silence, and in short ones again from the first voice on', () => {
    const made = opened()
    const { stream, talk } = made
    expect(sentIn(made, 960)).toEqual(Array(24).fill(320))
    expect(sentIn(made, 720)).toEqual(Array(6).fill(960))
    talk(60)
    // What waits is sent with the audio in which voice was found.
    stream.voice('voice-start', CLOCK + 8 * 1700)
    expect(sentIn(made, 120)).toEqual([640, 320, 320])
    stream.voice('voice-end', CLOCK + 8 * 1800)
    expect(sentIn(made, 920)).toEqual(Array(23).fill(320))
    expect(sentIn(made, 240)).toEqual([960, 960])
  })

  it('no message of silence is shorter than a service takes, and a service that takes 80 ms gets none of more than 160 ms', () => {
    const made = opened({ minMessageMs: 80 })
    made.talk(1120)
    expect(sentIn(made, 480)).toEqual([1280, 1280, 1280])
  })

  it('audio does not wait for longer messages while words are open or a final result is awaited', () => {
    const made = opened()
    const { stream, deliver, talk } = made
    talk(1200)
    stream.finalize()
    expect(sentIn(made, 200)).toEqual(Array(5).fill(320))
    deliver(words('one', [8000]))
    expect(sentIn(made, 200)).toEqual(Array(5).fill(320))
    deliver(words('one', [8000], true))
    made.time.advance(2000)
    talk(120)
    expect(sentIn(made, 240)).toEqual([960, 960])
  })

  it('a stream that is not told where voice is sends short messages throughout', () => {
    const made = openStream({ minMessageMs: 40 })
    made.deliver({ type: 'ready' })
    made.talk(3000)
    expect(new Set(made.connections[0]!.sent)).toEqual(new Set([320]))
  })
})

describe('a lost connection to a recogniser service', () => {
  it('a lost connection to a recogniser service is replaced each time when losses are half a minute apart', () => {
    const { deliver, talk, lose, events, connections } = openStream()
    for (let i = 0; i < 5; i++) {
      deliver({ type: 'ready' })
      talk(31_000)
      lose()
      talk(20)
    }
    expect(connections).toHaveLength(6)
    deliver({ type: 'ready' })
    talk(100)
    lose()
    expect(connections).toHaveLength(6)
    expect(events.map(event => event.type === 'error' && event.error.retryable)).toEqual([
      ...Array<boolean>(5).fill(true),
      false,
    ])
  })

  it('a lost connection to a recogniser service is followed by one that gets the audio without words so far: at most 10 s of speech or 3 s of silence', () => {
    const speaking = openStream()
    speaking.deliver({ type: 'ready' })
    speaking.talk(20_000)
    speaking.deliver(words('one', [20 * 8000 - 2000]))
    speaking.lose()
    speaking.time.advance(0)
    speaking.deliver({ type: 'ready' })
    expect(speaking.audioOf(1)).toBe(80_000)
    const silent = openStream()
    silent.deliver({ type: 'ready' })
    silent.talk(20_000)
    silent.lose()
    silent.time.advance(0)
    silent.deliver({ type: 'ready' })
    expect(silent.audioOf(1)).toBe(24_000)
  })

  it('a lost connection to a recogniser service loses no words, even when their audio is no longer buffered', () => {
    const { deliver, talk, lose, events } = openStream()
    deliver({ type: 'ready' })
    talk(15_000)
    deliver(words('long ago and now', [1000, 3000, 60_000, 110_000]))
    lose()
    expect(events.slice(-2)).toMatchObject([{ type: 'final', text: 'long ago' }, { type: 'error' }])
  })

  it('a lost connection to a recogniser service repeats neither words nor the end of a turn when audio is sent again', () => {
    const { deliver, talk, lose, events, time } = openStream()
    deliver({ type: 'ready' })
    talk(2000)
    deliver({ ...words('one two', [1000, 3000], true), untilMs: null } as ServiceEvent)
    deliver(words('three', [9000], false, 1))
    lose()
    time.advance(0)
    deliver({ type: 'ready' })
    const before = events.length
    // The new stream begins where "two" ended, 3800 samples into the old one.
    deliver(words('two', [-700], true))
    deliver({ type: 'end-of-turn', confidence: 1, eager: false })
    expect(events).toHaveLength(before)
    deliver(words('three', [9000 - 3800], true, 1))
    expect(events.at(-1)).toMatchObject({ text: 'three', words: [{ startSample: CLOCK + 9000 }] })
  })

  it('a lost connection to a recogniser service is replaced after the Retry-After time of a busy service, and never once the stream is closed', () => {
    const { stream, time, connections, lose, types } = openStream()
    lose(true, 'recogniser_busy')
    time.advance(499)
    expect(connections).toHaveLength(1)
    time.advance(1)
    expect(connections).toHaveLength(2)
    stream.close()
    lose()
    expect(types()).toEqual(['error'])
    expect(connections).toHaveLength(2)
  })
})

describe('the sent audio that a recogniser stream reports', () => {
  it('the sent audio that a recogniser stream reports is counted when it is sent: not before the service is ready, gaps as silence, replays again', () => {
    const { deliver, talk, sent, lose, stream, time, connections, audioOf } = openStream()
    talk(1000)
    expect(sent.ms).toBe(0)
    deliver({ type: 'ready' })
    expect(sent.ms).toBe(1000)
    stream.write(new Int16Array(160), CLOCK + 8000 + 16_000)
    expect(sent.ms).toBe(1000 + 2000 + 20)
    lose()
    time.advance(1)
    deliver({ type: 'ready' })
    expect(connections).toHaveLength(2)
    stream.close()
    expect(sent.ms).toBeGreaterThan(1000 + 2000 + 20)
    expect(sent.ms).toBe((audioOf(0) + audioOf(1)) / 8)
  })

  it('the sent audio that a recogniser stream reports is zero when no connection was ever open', () => {
    const { talk, sent, stream, lose } = openStream()
    talk(500)
    lose(false)
    stream.close()
    expect(sent.ms).toBe(0)
  })
})
