import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { Samples } from '@parley/kernel'
import type { FakeWord } from '../protocol.ts'

/** What a `StreamingRecognizeRequest` of `google.cloud.speech.v1` has: the configuration or audio. */
interface StreamingRequest {
  readonly config?: StreamingConfig
  readonly audio?: Buffer
}

/** The fields of a `StreamingRecognitionConfig` that the fake reads. */
export interface StreamingConfig {
  readonly encoding: 'mulaw' | 'linear16' | 'other'
  readonly sampleRateHz: number
  /** BCP 47 with a region. */
  readonly languageCode: string
  readonly model: string
  readonly phrases: readonly string[]
  readonly interim: boolean
  readonly wordTimes: boolean
}

/** Null: the bytes are no such message. */
export function readStreamingRequest(bytes: Uint8Array): StreamingRequest | null {
  let request: StreamingRequest | null = null
  try {
    eachField(bytes, (number, reader) => {
      if (number === 1) request = { config: configIn(reader.bytes()) }
      else if (number === 2) request = { audio: Buffer.from(reader.bytes()) }
      else return false
      return true
    })
  } catch {
    return null
  }
  return request
}

function configIn(streaming: Uint8Array): StreamingConfig {
  const found = { encoding: 0, sampleRateHz: 0, languageCode: '', model: '', interim: false, wordTimes: false }
  const phrases: string[] = []
  eachField(streaming, (number, reader) => {
    if (number === 3) found.interim = reader.bool()
    else if (number === 1)
      eachField(reader.bytes(), (field, inner) => {
        if (field === 1) found.encoding = inner.int32()
        else if (field === 2) found.sampleRateHz = inner.int32()
        else if (field === 3) found.languageCode = inner.string()
        else if (field === 8) found.wordTimes = inner.bool()
        else if (field === 13) found.model = inner.string()
        else if (field === 6)
          eachField(inner.bytes(), (one, context) => {
            if (one === 1) phrases.push(context.string())
            return one === 1
          })
        else return false
        return true
      })
    else return false
    return true
  })
  return { ...found, phrases, encoding: found.encoding === 3 ? 'mulaw' : found.encoding === 1 ? 'linear16' : 'other' }
}

/** `read` returns whether it has read the field. */
function eachField(bytes: Uint8Array, read: (number: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (!read(number, reader)) reader.skip(wireType, number)
  }
}

interface StreamingResponse {
  /** Where speech began; null: the response has no such event. */
  readonly beganAt: Samples | null
  readonly result: {
    readonly transcript: string
    readonly isFinal: boolean
    readonly endAt: Samples
    /** With times. */
    readonly words: readonly FakeWord[]
  } | null
}

/** A `StreamingRecognizeResponse`. */
export function streamingResponse({ beganAt, result }: StreamingResponse): Uint8Array {
  const writer = new BinaryWriter()
  if (result !== null) {
    writer.tag(2, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).string(result.transcript)
    writer.tag(2, WireType.Bit32).float(0.9)
    for (const { text, startSample, endSample } of result.words) {
      writer.tag(3, WireType.LengthDelimited).fork()
      duration(writer, 1, startSample)
      duration(writer, 2, endSample)
      writer.tag(3, WireType.LengthDelimited).string(text).join()
    }
    writer.join()
    writer.tag(2, WireType.Varint).bool(result.isFinal)
    duration(writer, 4, result.endAt)
    writer.tag(6, WireType.LengthDelimited).string('en-us').join()
  }
  if (beganAt !== null) {
    writer.tag(4, WireType.Varint).int32(2)
    duration(writer, 8, beganAt)
  }
  return writer.finish()
}

/** A `google.protobuf.Duration`. */
function duration(writer: BinaryWriter, number: number, at: Samples): void {
  writer.tag(number, WireType.LengthDelimited).fork()
  writer.tag(1, WireType.Varint).int64(Math.floor(at / 8000))
  writer
    .tag(2, WireType.Varint)
    .int32((at % 8000) * 125_000)
    .join()
}
