import { WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { azureConversation, conversationV1, speechContext } from './conversation-v1.ts'

const place = (fromMs: number, untilMs: number) => ({ Offset: fromMs * 10_000, Duration: (untilMs - fromMs) * 10_000 })

function read(...messages: readonly [path: string, body: object][]) {
  const reader = conversationV1.openReader()
  return messages
    .map(([path, body]) =>
      reader(`X-RequestId:1\r\nContent-Type:application/json\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`),
    )
    .at(-1)!
}

function phrase(display: string, spoken: string): [string, object] {
  const Words = spoken.split(' ').map((Word, i) => ({ Word, ...place(200 * i, 200 * i + 150) }))
  const best = { Display: display, Lexical: spoken, Words }
  return ['speech.phrase', { RecognitionStatus: 'Success', ...place(0, 1000), NBest: [best] }]
}

describe('reading messages of Azure Speech', () => {
  it('a hypothesis has words without times, and its phrase those that were written', () => {
    expect(read(['speech.hypothesis', { Text: 'hello there', ...place(100, 900) }])).toMatchObject([
      {
        type: 'words',
        passage: 0,
        final: false,
        fromMs: 100,
        untilMs: 900,
        words: [{ text: 'hello' }, { text: 'there' }],
      },
    ])
    expect(read(phrase('Hello, there.', 'hello there'))).toMatchObject([
      {
        final: true,
        stopped: true,
        words: [
          { text: 'Hello,', startMs: 0, endMs: 150 },
          { text: 'there.', startMs: 200 },
        ],
      },
    ])
  })

  it('words that are written in another number than spoken share the time of the phrase', () => {
    expect(read(phrase('21.', 'twenty one'))).toMatchObject([{ words: [{ text: '21.', startMs: 0, endMs: 350 }] }])
  })

  it('a phrase without words ends the speech, and silence is reported', () => {
    expect(read(['speech.phrase', { RecognitionStatus: 'NoMatch', ...place(0, 500) }])).toMatchObject([
      { type: 'words', words: [], final: true, stopped: true },
    ])
    expect(read(['speech.phrase', { RecognitionStatus: 'InitialSilenceTimeout', ...place(0, 5000) }])).toEqual([
      { type: 'silence', untilMs: 5000 },
    ])
    expect(read(phrase('One.', 'one'), ['speech.hypothesis', { Text: 'two', ...place(2000, 2100) }])).toMatchObject([
      { passage: 1 },
    ])
  })

  it('malformed messages yield no events, and the early end of a turn is a failure', () => {
    const reader = conversationV1.openReader()
    for (const text of ['', 'no header', 'Path:speech.phrase', 'Path:speech.phrase\r\n\r\n[]', 'Path:x\r\n\r\n{'])
      expect(reader(text)).toEqual([])
    expect(read(['turn.end', {}])).toMatchObject([{ type: 'failed', kind: 'failed' }])
    expect(read(['speech.phrase', { RecognitionStatus: 'Error' }])).toMatchObject([{ type: 'failed' }])
  })
})

describe('writing messages to Azure Speech', () => {
  const connection = { id: '0123456789abcdef0123456789abcdef', openedAt: '2026-11-23T12:00:00.000Z' }

  it('a stream is described by two messages and the header of a WAV file', () => {
    const { opening, encode } = azureConversation('wss://host').wire!({ language: 'en', format: WIDEBAND }, connection)
    expect(opening.slice(0, 2).map(message => String(message).split('\r\n')[0])).toEqual([
      'Path: speech.config',
      'Path: speech.context',
    ])
    const header = Buffer.from(opening[2] as Uint8Array)
    const wave = header.subarray(2 + header.readUInt16BE(0))
    expect(header.toString('latin1', 2)).toMatch(/^Path: audio\r\nX-RequestId: 0123456789abcdef/)
    expect([wave.length, wave.readUInt16LE(20), wave.readUInt32LE(24), wave.readUInt16LE(34)]).toEqual([
      44, 1, 16_000, 16,
    ])
    const sent = Buffer.from(encode(Uint8Array.of(1, 2, 3)) as Uint8Array)
    expect([...sent.subarray(2 + sent.readUInt16BE(0))]).toEqual([1, 2, 3])
    const end = Buffer.from(encode(conversationV1.closeMessage) as Uint8Array)
    expect(end.length).toBe(2 + end.readUInt16BE(0))
  })

  it('the context has the silence that ends a phrase, and the expected words', () => {
    expect(speechContext({ language: 'en', mode: 'accurate', keywords: ['Parley'] })).toMatchObject({
      phraseDetection: { conversation: { segmentation: { segmentationSilenceTimeoutMs: 800 } } },
      dgi: { groups: [{ items: [{ text: 'Parley' }] }] },
    })
    expect(speechContext({ language: 'en', endpointingMs: 9000 })).toMatchObject({
      phraseDetection: { conversation: { segmentation: { segmentationSilenceTimeoutMs: 5000 } } },
    })
    expect(azureConversation('wss://host').path({ language: 'es' })).toContain('language=es-ES&format=detailed')
  })
})
