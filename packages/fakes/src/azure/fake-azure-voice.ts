import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { FakeHttpVoice, type HttpVoiceDialect } from '../voices/fake-http-voice.ts'
import type { FakeVoiceOptions } from '../voices/fake-voice.ts'
import type { WireEncoding } from '../voices/wire-audio.ts'

const ENCODINGS: Readonly<Record<string, WireEncoding>> = {
  'raw-8khz-8bit-mono-mulaw': { format: NARROWBAND, isLinear: false },
  'raw-16khz-16bit-mono-pcm': { format: WIDEBAND, isLinear: true },
}
const SSML =
  /^<speak version="1\.0" xmlns="[^"]+" xml:lang="(?<tag>[a-z]{2,3})-[A-Z]{2}"><voice name="(?<voice>[^"]+)">(?<content>.*)<\/voice><\/speak>$/s
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}

const DIALECT: HttpVoiceDialect = {
  base: '/tts',
  path: '/tts/cognitiveservices/v1',
  hasKey: (headers, apiKey) => headers['ocp-apim-subscription-key'] === apiKey,
  read: (body, headers) => {
    const named = SSML.exec(body)?.groups
    const encoding = ENCODINGS[String(headers['x-microsoft-outputformat'])]
    if (named === undefined || headers['content-type'] !== 'application/ssml+xml')
      return { status: 400, body: { error: 'SSML is not valid.' } }
    if (encoding === undefined) return { status: 400, body: { error: 'Unsupported output format.' } }
    if (named.voice === 'en-US-Unknown') return { status: 400, body: { error: `Unsupported voice ${named.voice}.` } }
    const content = named.content!
    const rate = /<prosody rate="([+-]\d+)%">/.exec(content)?.[1] ?? '0'
    const text = content.replace(/<[^>]*>/g, '').replace(/&[a-z]+;/g, entity => ENTITIES[entity] ?? entity)
    return { text, speed: 1 + Number(rate) / 100, language: named.tag!, encoding }
  },
  refusal: (status, key) => ({ status, body: { error: { code: String(status), message: `HTTP ${status} ${key}` } } }),
  document: null,
}

/** Azure's `/cognitiveservices/v1`: SSML in, audio as a stream over HTTP. */
export class FakeAzureVoice extends FakeHttpVoice {
  static async open(options: FakeVoiceOptions): Promise<FakeAzureVoice> {
    return new FakeAzureVoice(...(await FakeHttpVoice.listen(DIALECT, options)))
  }
}
