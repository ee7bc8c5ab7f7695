import { VirtualTime, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { readSpeechResponse } from './speech-response.ts'
import { CLOSE, FINALIZE, googleFailure, googleSpeech, speechV1 } from './speech-v1.ts'
import { type StreamingCallListener, StreamingCalls } from './streaming-calls.ts'

/** Messages in the bytes that `protobufjs` makes of Google's `cloud_speech.proto`. */
const RECORDED = {
  interim:
    '121f0a070a0568656c6c6f1d6666663f220808001080d293ad033205656e2d7573121f0a080a062074686572651d0ad7233c22070801108084af5f3205656e2d757350cb89ec8ff723',
  final:
    '12630a4e0a0c48656c6c6f2074686572652e15c3f5683f1a1c0a040800100012080800108088debe011a0548656c6c6f256666663f1a1b0a080800108088debe01120708011080c2d72f1a0674686572652e1001220808011080c6868f013205656e2d7573',
  began: '2002420808011080cab5ee01',
  error: '0a0c080b1208746f6f206c6f6e67',
  config:
    '0a390a33080310c03e1a0565732d4d5832140a065061726c65790a0ac3856e67737472c3b66d400158016a0974656c6570686f6e79780118012801',
}
const bytesOf = (hex: string) => Buffer.from(hex, 'hex')

describe('messages of Google Speech-to-Text', () => {
  it('a response is read as Google defines it', () => {
    expect(readSpeechResponse(bytesOf(RECORDED.interim))).toEqual({
      results: [
        { transcript: 'hello', isFinal: false, endMs: 900, language: 'en-us', words: [] },
        { transcript: ' there', isFinal: false, endMs: 1200, language: 'en-us', words: [] },
      ],
    })
    expect(readSpeechResponse(bytesOf(RECORDED.final))).toEqual({
      results: [
        {
          transcript: 'Hello there.',
          isFinal: true,
          endMs: 1300,
          language: 'en-us',
          words: [
            { word: 'Hello', end: 400, start: 0, confidence: expect.closeTo(0.9) },
            { word: 'there.', start: 400, end: 1100 },
          ],
        },
      ],
    })
    expect(readSpeechResponse(bytesOf(RECORDED.began))).toEqual({ speechBeganMs: 1500, results: [] })
    expect(readSpeechResponse(bytesOf(RECORDED.error))).toMatchObject({ error: { code: 11, message: 'too long' } })
    for (const malformed of ['ff', '0a05', '08ffffffffffffffffffff01', '12027b7d'])
      expect([null, { results: [] }]).toContainEqual(readSpeechResponse(bytesOf(malformed)))
  })

  it('a stream is described by the encoding, the language, the model and the expected words', () => {
    const { opening } = googleSpeech('telephony').wire!(
      { language: 'es-MX', keywords: ['Parley', 'Ångström'] },
      { id: '', openedAt: '' },
    )
    expect(Buffer.from(opening[0] as Uint8Array).toString('hex')).toBe(RECORDED.config)
    const wide = googleSpeech('latest_long').wire!({ language: 'en', format: WIDEBAND }, { id: '', openedAt: '' })
    // encoding 1 (LINEAR16), sample_rate_hertz 16000
    expect(Buffer.from(wide.opening[0] as Uint8Array).toString('hex')).toContain('080110807d')
  })
})

const word = (text: string, start: number) => ({ word: text, start, end: start + 300 })

function read(...messages: readonly object[]) {
  const reader = speechV1.openReader()
  return messages.map(message => reader(JSON.stringify(message))).at(-1)!
}

describe('reading results of Google', () => {
  it('interim results are one passage, which the final result replaces', () => {
    const interim = [
      { transcript: 'hello', isFinal: false, endMs: 900 },
      { transcript: ' there', isFinal: false, endMs: 1200 },
    ]
    const began = { callFromMs: 2000, speechBeganMs: 100 }
    expect(read(began)).toEqual([{ type: 'speech-started', atMs: 2100 }])
    expect(read(began, { callFromMs: 2000, results: interim })).toMatchObject([
      {
        passage: 0,
        final: false,
        fromMs: 2100,
        untilMs: 3200,
        words: [{ text: 'hello', startMs: null }, { text: 'there' }],
      },
    ])
    const final = { transcript: 'Hello there.', isFinal: true, endMs: 1300, language: 'en-us' }
    const words = [word('Hello', 0), word('there.', 400)]
    expect(read({ callFromMs: 2000, results: [{ ...final, words }] })).toMatchObject([
      {
        passage: 0,
        final: true,
        stopped: true,
        untilMs: 3300,
        language: 'en',
        words: [
          { text: 'Hello', startMs: 2000, endMs: 2300 },
          { text: 'there.', startMs: 2400 },
        ],
      },
    ])
    expect(read({ results: [final] }, { callFromMs: 5000, results: interim })).toMatchObject([{ passage: 1 }])
  })

  it('the end of a call answers a request for final words', () => {
    expect(read({ callEndedMs: 4000 })).toMatchObject([
      { type: 'words', final: true, forced: null, words: [], untilMs: 4000 },
    ])
  })

  it('malformed messages yield no events, and errors are classified', () => {
    for (const message of [{}, { results: 7 }, { results: [null, 3] }]) expect(read(message)).toEqual([])
    expect(speechV1.openReader()('no json')).toEqual([])
    expect(read({ error: { code: 11, message: 'Exceeded maximum allowed stream duration' } })).toEqual([
      { type: 'failed', kind: 'failed', reason: 'Exceeded maximum allowed stream duration' },
    ])
    expect([3, 5, 7, 16, 8, 13, null].map(googleFailure)).toEqual([
      'refused',
      'refused',
      'refused',
      'refused',
      'busy',
      'failed',
      'failed',
    ])
  })
})

class FakeCall {
  readonly sent: string[] = []
  readonly listener: StreamingCallListener
  isEnded = false
  isClosed = false

  constructor(listener: StreamingCallListener) {
    this.listener = listener
  }

  send(message: Uint8Array): void {
    this.sent.push(Buffer.from(message).toString())
  }
  end(): void {
    this.isEnded = true
  }
  close(): void {
    this.isClosed = true
  }
}

/** Calls whose audio has 8 bytes for each millisecond. */
function openCalls() {
  const time = new VirtualTime()
  const calls: FakeCall[] = []
  const texts: object[] = []
  const failures: string[] = []
  const streaming = new StreamingCalls(
    {
      openCall: listener => {
        calls.push(new FakeCall(listener))
        return calls.at(-1)!
      },
      wire: { opening: [Buffer.from('config')], encode: message => Buffer.from(`${message.length / 8} ms`) },
      bytesPerMs: 8,
      time,
    },
    { onText: text => texts.push(JSON.parse(text)), onFailed: reason => failures.push(reason) },
  )
  const audio = (ms: number) => streaming.send(new Uint8Array(8 * ms))
  return { time, calls, texts, streaming, audio, failures }
}

describe('the calls of one stream', () => {
  it('a request for final words ends the call, and the next audio begins another', () => {
    const { calls, texts, streaming, audio } = openCalls()
    audio(100)
    streaming.send(FINALIZE)
    expect(calls.map(({ isEnded }) => isEnded)).toEqual([true])
    audio(60)
    expect(calls.map(({ sent }) => sent)).toEqual([
      ['config', '100 ms'],
      ['config', '60 ms'],
    ])
    calls[1]!.listener.onMessage(bytesOf(RECORDED.began))
    expect(texts).toEqual([])
    calls[0]!.listener.onMessage(bytesOf(RECORDED.final))
    calls[0]!.listener.onEnd()
    expect(texts).toMatchObject([{ callFromMs: 0 }, { callEndedMs: 100 }, { callFromMs: 100, speechBeganMs: 1500 }])
  })

  it('a call is opened before the first audio, so that a refusal is noticed at once', () => {
    const { calls, streaming, audio } = openCalls()
    streaming.begin()
    expect(calls.map(({ sent }) => sent)).toEqual([['config']])
    audio(100)
    expect(calls.map(({ sent }) => sent)).toEqual([['config', '100 ms']])
  })

  it('a request for final words without audio is answered at once', () => {
    const { texts, streaming, calls } = openCalls()
    streaming.send(FINALIZE)
    expect([texts, calls]).toEqual([[{ callEndedMs: 0 }], []])
  })

  it('a call whose last results do not come within two seconds has failed', () => {
    const { time, calls, texts, failures, streaming, audio } = openCalls()
    audio(100)
    streaming.send(FINALIZE)
    time.advance(1999)
    expect(failures).toEqual([])
    time.advance(1)
    expect([failures, texts]).toEqual([['sent no last results within 2000 ms'], []])
    expect(calls[0]!.isClosed).toBe(true)
  })

  it('a call of four minutes is replaced after a final result, and one of 285 s at once', () => {
    const { calls, audio } = openCalls()
    for (let i = 0; i < 239; i++) audio(1000)
    calls[0]!.listener.onMessage(bytesOf(RECORDED.final))
    expect(calls[0]!.isEnded).toBe(false)
    audio(1000)
    calls[0]!.listener.onMessage(bytesOf(RECORDED.interim))
    expect(calls[0]!.isEnded).toBe(false)
    calls[0]!.listener.onMessage(bytesOf(RECORDED.final))
    expect(calls[0]!.isEnded).toBe(true)
    for (let i = 0; i < 285; i++) audio(1000)
    expect(calls.map(({ isEnded }) => isEnded)).toEqual([true, true])
    audio(1000)
    expect(calls).toHaveLength(3)
  })

  it('a call that the service ends by itself has failed', () => {
    const { calls, audio, failures } = openCalls()
    audio(100)
    calls[0]!.listener.onEnd()
    expect(failures).toEqual(['the service ended the call'])
  })

  it('the close message ends the call, and nothing is passed on after a stop', () => {
    const { calls, texts, streaming, audio, time } = openCalls()
    audio(100)
    streaming.send(CLOSE)
    streaming.stop()
    calls[0]!.listener.onMessage(bytesOf(RECORDED.final))
    calls[0]!.listener.onEnd()
    time.advance(5000)
    expect([calls[0]!.isEnded, texts]).toEqual([true, []])
  })
})
