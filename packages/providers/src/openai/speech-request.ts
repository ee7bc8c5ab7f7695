import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import { isObject, objectOf, textIn } from '../json-object.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'

/** The body of a request to `/audio/speech`. */
export function speechBody(
  request: SpeechRequest,
  { model, voice }: { readonly model: string; readonly voice: string },
): string {
  const { text, speed } = request
  return JSON.stringify({
    model,
    input: text,
    voice: request.voice ?? voice,
    response_format: 'pcm',
    ...(speed !== undefined && speed !== 1 && { speed }),
  })
}

/** Whether an answer of this content type may be raw linear audio; some services ignore the requested format. */
export function mayBeLinear(contentType: string | undefined): boolean {
  return !/wav|mpeg|mp3|ogg|opus|flac|aac|json|html|text|xml/i.test(contentType ?? '')
}

/** The error for an answer with an error status. The service's text is left out, because it may contain the key. */
export function speechFailure(status: number, body: string): ProviderFailure {
  const answer = objectOf(body)
  const error = answer !== null && isObject(answer.error) ? answer.error : (answer ?? {})
  const code = textIn(error, 'code') || textIn(error, 'type')
  const because = `(HTTP ${status}${/^[A-Za-z0-9_.-]{1,64}$/.test(code) ? `, ${code}` : ''})`
  const failed = (ownCode: ProviderErrorCode, message: string, retryable: boolean) =>
    new ProviderError(ownCode, `${message} ${because}.`, { retryable })

  if (/quota|billing|credit/i.test(code) || status === 402)
    return failed('voice_refused', "The account's quota at the voice's service is used up", false)
  if (status === 401 || status === 403) return failed('voice_refused', "The voice's service refused the key", false)
  if (status === 429 || status === 503) return failed('voice_busy', "The voice's service is busy", true)
  if (status === 502 || status === 504) return failed('voice_unreachable', "The voice's service is not reachable", true)
  if ((status === 400 || status === 422) && isAboutVoice(error))
    return failed('voice_unknown', 'There is no such voice', false)
  return failed('voice_failed', "The voice's service answered with an error", status === 408 || status >= 500)
}

function isAboutVoice(error: Readonly<Record<string, unknown>>): boolean {
  return (
    textIn(error, 'param') === 'voice' || /\bvoice\b|'alloy'/i.test(textIn(error, 'message') || textIn(error, 'detail'))
  )
}
