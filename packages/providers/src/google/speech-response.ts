import type { Ms } from '@parley/kernel'
import {
  bytesFields,
  durationField,
  floatField,
  messageField,
  numberField,
  protobufFields,
  textField,
} from './protobuf.ts'

/** `SPEECH_ACTIVITY_BEGIN`. */
const ACTIVITY_BEGIN = 2

/** A `StreamingRecognizeResponse` of `google.cloud.speech.v1`. Times count from the beginning of its call. */
interface SpeechResponse {
  readonly error?: { readonly code: number; readonly message: string }
  /** Speech begins here. */
  readonly speechBeganMs?: Ms
  readonly results: readonly SpeechResult[]
}

interface SpeechResult {
  readonly transcript: string
  readonly isFinal: boolean
  readonly endMs: Ms
  /** BCP 47; "": the service does not say. */
  readonly language: string
  /** Only of final results; `start` and `end` in ms. */
  readonly words: readonly SpeechWord[]
}

interface SpeechWord {
  readonly word: string
  readonly start?: Ms
  readonly end?: Ms
  readonly confidence?: number
}

/** Null: the bytes are no message. */
export function readSpeechResponse(bytes: Uint8Array): SpeechResponse | null {
  const fields = protobufFields(bytes)
  if (fields === null) return null
  const error = messageField(fields, 1)
  const eventMs = durationField(fields, 8)
  return {
    ...(error.length > 0 && { error: { code: numberField(error, 1), message: textField(error, 2) } }),
    ...(numberField(fields, 4) === ACTIVITY_BEGIN && { speechBeganMs: eventMs ?? 0 }),
    results: bytesFields(fields, 2).flatMap(result => resultIn(result) ?? []),
  }
}

function resultIn(bytes: Uint8Array): SpeechResult | null {
  const fields = protobufFields(bytes)
  if (fields === null) return null
  const best = protobufFields(bytesFields(fields, 1)[0] ?? new Uint8Array(0)) ?? []
  return {
    transcript: textField(best, 1),
    isFinal: numberField(fields, 2) === 1,
    endMs: durationField(fields, 4) ?? 0,
    language: textField(fields, 6),
    words: bytesFields(best, 3).flatMap(word => wordIn(word) ?? []),
  }
}

function wordIn(bytes: Uint8Array): SpeechWord | null {
  const fields = protobufFields(bytes)
  if (fields === null) return null
  const [start, end, confidence] = [durationField(fields, 1), durationField(fields, 2), floatField(fields, 4)]
  return {
    word: textField(fields, 3),
    ...(start !== null && { start }),
    ...(end !== null && { end }),
    // The service sends 0 when it has none.
    ...(confidence !== null && confidence > 0 && { confidence }),
  }
}
