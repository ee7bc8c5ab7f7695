import { WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { realTimeV2, speechmaticsFailure, speechmaticsRealTime, startRecognition } from './real-time-v2.ts'

function transcript(message: 'AddTranscript' | 'AddPartialTranscript', text: string): object {
  const results = text.split(' ').map((content, i) => ({
    type: /^\p{P}$/u.test(content) ? 'punctuation' : 'word',
    start_time: i / 10,
    end_time: i / 10 + 0.09,
    alternatives: [{ content, confidence: 0.9 }],
  }))
  return { message, metadata: {}, results }
}

function read(...messages: readonly object[]) {
  const reader = realTimeV2.openReader()
  return messages.map(message => reader(JSON.stringify(message))).at(-1)!
}

describe('reading messages of Speechmatics', () => {
  it('final words are joined with the partial words after them', () => {
    const events = read(transcript('AddTranscript', 'one two ,'), transcript('AddPartialTranscript', 'three four'))
    expect(events).toMatchObject([
      { passage: 0, final: false, words: [{ text: 'one' }, { text: 'two,' }, { text: 'three' }, { text: 'four' }] },
    ])
    expect(read(transcript('AddTranscript', 'one'))).toMatchObject([
      { words: [{ startMs: 0, endMs: 90, confidence: 0.9 }] },
    ])
  })

  it('the end of an utterance makes its words final, and later words begin another', () => {
    const end = { message: 'EndOfUtterance', metadata: {} }
    expect(read(transcript('AddTranscript', 'one'), end)).toMatchObject([
      { final: true, stopped: true, words: [{ text: 'one' }] },
    ])
    expect(read(transcript('AddTranscript', 'one'), end, transcript('AddTranscript', 'two'))).toMatchObject([
      { passage: 1, words: [{ text: 'two' }] },
    ])
  })

  it('malformed messages yield no events, and errors are classified', () => {
    for (const message of [{}, { message: 'AddTranscript' }, { message: 'AddTranscript', results: [null, {}] }])
      expect(read(message)).toEqual([])
    expect(read({ message: 'Error', type: 'quota_exceeded', reason: 'Concurrent Quota Exceeded' })).toEqual([
      { type: 'failed', kind: 'busy', reason: 'quota_exceeded: Concurrent Quota Exceeded' },
    ])
    expect(['not_authorised', 'invalid_model', 'job_error'].map(speechmaticsFailure)).toEqual([
      'refused',
      'refused',
      'failed',
    ])
  })
})

it('the first message to Speechmatics describes the audio, the language, the model and the expected words', () => {
  const options = { language: 'en-GB', format: WIDEBAND, keywords: ['Parley'], endpointingMs: 5000 } as const
  expect(startRecognition('enhanced', options)).toEqual({
    message: 'StartRecognition',
    audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
    transcription_config: {
      language: 'en',
      operating_point: 'enhanced',
      enable_partials: true,
      max_delay: 1,
      max_delay_mode: 'flexible',
      conversation_config: { end_of_utterance_silence_trigger: 0.9 },
      additional_vocab: [{ content: 'Parley' }],
    },
  })
  expect(startRecognition('standard', { language: 'en', mode: 'accurate', vocabulary: 'medical' })).toMatchObject({
    transcription_config: { operating_point: 'standard', max_delay: 2, domain: 'medical' },
  })
})

it('a stream of Speechmatics in English and Spanish listens for both', () => {
  const options = { language: 'en', otherLanguages: ['es'], vocabulary: 'medical' } as const
  expect(startRecognition('enhanced', options)).toMatchObject({
    transcription_config: { language: 'es', domain: 'bilingual-en' },
  })
  const word = { type: 'word', alternatives: [{ content: 'hola', language: 'es' }] }
  const end = { message: 'EndOfUtterance' }
  expect(read({ message: 'AddTranscript', results: [word] }, end)).toMatchObject([{ final: true, language: 'es' }])
})

it('the last message to Speechmatics counts the messages of audio', () => {
  const wire = speechmaticsRealTime().wire!({ language: 'en' }, { id: '', openedAt: '' })
  for (let i = 0; i < 3; i++) wire.encode(new Uint8Array(320))
  wire.encode(realTimeV2.finalizeMessage!)
  expect(wire.encode(realTimeV2.closeMessage)).toBe('{"message":"EndOfStream","last_seq_no":3}')
})
