import { objectFrom } from '../json-object.ts'
import { FakeHttpVoice, type HttpVoiceDialect } from '../voices/fake-http-voice.ts'
import type { FakeVoiceOptions } from '../voices/fake-voice.ts'
import { type WireEncoding, wireEncoding } from '../voices/wire-audio.ts'

const ENCODINGS: Readonly<Record<string, string>> = { MULAW: 'mulaw', LINEAR16: 'linear16' }

const DIALECT: HttpVoiceDialect = {
  base: '',
  path: '/v1/text:synthesize',
  listPath: '/v1/voices',
  hasKey: (headers, apiKey) => headers['x-goog-api-key'] === apiKey,
  read: body => {
    const { input, voice, audioConfig } = (objectFrom(body) ?? {}) as Readonly<Record<string, Fields | undefined>>
    const encoding = wireEncoding(ENCODINGS[String(audioConfig?.audioEncoding)], audioConfig?.sampleRateHertz)
    const { languageCode, name } = { languageCode: String(voice?.languageCode), name: String(voice?.name) }
    if (typeof input?.text !== 'string' || encoding === null) return refusal(400, '')
    if (!/^[a-z]{2,3}-[A-Z]{2}$/.test(languageCode) || !name.startsWith(`${languageCode}-`))
      return error(
        400,
        'INVALID_ARGUMENT',
        `Requested language code '${languageCode}' doesn't match the voice '${name}'.`,
      )
    if (name.endsWith('-Unknown'))
      return error(400, 'INVALID_ARGUMENT', `Voice '${name}' does not exist. Is it misspelled?`)
    const speed = Number(audioConfig?.speakingRate ?? 1)
    if (!(speed >= 0.25 && speed <= 2)) return refusal(400, '')
    return { text: input.text, speed, language: languageCode.slice(0, 2), encoding }
  },
  refusal: (status, key) =>
    // Google answers 400 to a key that it does not know.
    status === 401 ? error(400, 'INVALID_ARGUMENT', `API key not valid: ${key}.`) : refusal(status, key),
  document: (audio, encoding) => ({
    audioContent: Buffer.concat([wavHeader(audio.length, encoding), audio]).toString('base64'),
  }),
}

type Fields = Readonly<Record<string, unknown>>

function refusal(status: number, key: string) {
  return error(status, 'UNKNOWN', `HTTP ${status} ${key}`)
}

/** An error of Google's APIs (`google.rpc.Status`). */
function error(code: number, status: string, message: string) {
  return { status: code, body: { error: { code, message, status } } }
}

/** The header of a WAV file (RIFF) with an empty chunk before its samples. */
function wavHeader(length: number, { format, isLinear }: WireEncoding): Buffer {
  const header = Buffer.alloc(52)
  const bytesPerSample = isLinear ? 2 : 1
  header.write('RIFF', 0)
  header.writeUInt32LE(44 + length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(isLinear ? 1 : 7, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(format.sampleRateHz, 24)
  header.writeUInt32LE(format.sampleRateHz * bytesPerSample, 28)
  header.writeUInt16LE(bytesPerSample, 32)
  header.writeUInt16LE(8 * bytesPerSample, 34)
  header.write('fact', 36)
  header.write('data', 44)
  header.writeUInt32LE(length, 48)
  return header
}

/** Google's `/v1/text:synthesize`: text in, a WAV file in base64 out. */
export class FakeGoogleVoice extends FakeHttpVoice {
  static async open(options: FakeVoiceOptions): Promise<FakeGoogleVoice> {
    return new FakeGoogleVoice(...(await FakeHttpVoice.listen(DIALECT, options)))
  }
}
