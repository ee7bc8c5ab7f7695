import { FakeGoogleVoice } from '@parley/fakes'
import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { encodePcmu } from '@parley/media'
import { afterAll, describe, expect, it } from 'vitest'
import { HttpVoice } from '../io/http-voice.ts'
import { MuLawDecoder } from '../text-to-speech/audio-decoder.ts'
import { textToSpeechConformance } from '../text-to-speech/testing/conformance.ts'
import { TonesSpeech } from '../text-to-speech/testing/tones-speech.ts'
import { voiceServiceConformance } from '../text-to-speech/testing/voice-service-conformance.ts'
import { AudioContentDecoder } from './audio-content-decoder.ts'
import { googleServers } from './google-api.ts'
import { googleVoice, synthesis } from './synthesis.ts'

const speech = new TonesSpeech()
const languages = await speech.languages()
const shared = await FakeGoogleVoice.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake needs seconds for its first audio. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () =>
    new HttpVoice({ ...googleVoice, languages }, { apiKey: 'key', time: runningTime, baseUrl: shared.url, budgets }),
  { maxShareAtDoubleSpeed: 0.9 },
)

voiceServiceConformance(
  {
    name: 'the voice of Google',
    open: options => FakeGoogleVoice.open(options),
    make: ({ url, maxSockets, ...options }) =>
      new HttpVoice(googleVoice, {
        baseUrl: url,
        ...(maxSockets !== undefined && { maxConnections: maxSockets }),
        ...options,
      }),
    over: 'http',
    utterancesPerConnection: 1,
    hasWordTimes: false,
    unknownVoice: { voice: 'en-US-Unknown', code: 'voice_unknown' },
  },
  speech,
)

describe('a request to Google', () => {
  it('a request to Google asks for mu-law for a telephone call, and for linear audio for a wideband call', () => {
    expect(synthesis({ text: 'Hello', language: 'en', speed: 1.25 })).toEqual({
      input: { text: 'Hello' },
      voice: { languageCode: 'en-US', name: 'en-US-Chirp3-HD-Kore' },
      audioConfig: { audioEncoding: 'MULAW', sampleRateHertz: 8000, speakingRate: 1.25 },
    })
    expect(synthesis({ text: 'Hello', language: 'en', format: WIDEBAND })).toMatchObject({
      audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: 16_000 },
    })
  })

  it('a request to Google speaks with a Chirp voice in the language of the text, and with other voices in their own', () => {
    const voiceOf = (language: string, voice?: string) =>
      (synthesis({ text: 'x', language, ...(voice !== undefined && { voice }) }) as { voice: object }).voice
    expect(voiceOf('es', 'Puck')).toEqual({ languageCode: 'es-ES', name: 'es-ES-Chirp3-HD-Puck' })
    expect(voiceOf('es-US', 'Puck')).toEqual({ languageCode: 'es-US', name: 'es-US-Chirp3-HD-Puck' })
    expect(voiceOf('es', 'en-GB-Chirp3-HD-Puck')).toEqual({ languageCode: 'es-ES', name: 'es-ES-Chirp3-HD-Puck' })
    expect(voiceOf('en', 'en-GB-Chirp3-HD-Puck')).toMatchObject({ languageCode: 'en-GB' })
    expect(voiceOf('zh')).toMatchObject({ languageCode: 'cmn-CN' })
    expect(voiceOf('es', 'en-US-Neural2-F')).toEqual({ languageCode: 'en-US', name: 'en-US-Neural2-F' })
  })

  it('a request to Google goes to the servers of the region that the base URL names', () => {
    expect(googleServers()).toEqual({
      stt: 'https://speech.googleapis.com',
      tts: 'https://texttospeech.googleapis.com',
    })
    expect(googleServers('https://eu-texttospeech.googleapis.com/')).toEqual({
      stt: 'https://eu-speech.googleapis.com',
      tts: 'https://eu-texttospeech.googleapis.com',
    })
    expect(googleServers('http://127.0.0.1:9').stt).toBe('http://127.0.0.1:9')
  })
})

describe('the answer of Google', () => {
  const samples = Int16Array.from({ length: 100 }, (_, i) => 64 * i)
  const bytes = Buffer.alloc(100)
  encodePcmu(samples, 0, 100, bytes, 0)
  const header = Buffer.from('RIFF\0\0\0\0WAVEfmt \x02\0\0\0\x07\0data\x64\0\0\0', 'latin1')
  const answer = JSON.stringify({ audioContent: Buffer.concat([header, bytes]).toString('base64'), timepoints: [] })
  const decode = (text: string, pieceLength: number) => {
    const decoder = new AudioContentDecoder(new MuLawDecoder())
    const decoded: number[] = []
    for (let at = 0; at < text.length; at += pieceLength)
      decoded.push(...decoder.decode(Buffer.from(text.slice(at, at + pieceLength))))
    return [...decoded, ...decoder.end()]
  }

  it('the answer of Google is decoded while it arrives, without the header of its WAV file', () => {
    const whole = decode(answer, answer.length)
    expect(whole).toHaveLength(100)
    expect(whole[99]! - 64 * 99).toBeLessThan(200)
    for (const length of [1, 3, 7, 50]) expect(decode(answer, length)).toEqual(whole)
    expect(new AudioContentDecoder(new MuLawDecoder()).format).toBe(NARROWBAND)
  })

  it('the answer of Google has no audio when it has another form', () => {
    for (const text of ['', '{}', '{"audioContent":7}', `{"x":"${'y'.repeat(3000)}"}`, '{"audioContent":"AAAA"}'])
      expect(decode(text, 10)).toEqual([])
    expect(decode(`{"audioContent":"${Buffer.from('x'.repeat(9000)).toString('base64')}"}`, 999)).toEqual([])
  })
})
