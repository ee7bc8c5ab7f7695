import type { IncomingHttpHeaders } from 'node:http'
import { type FakeModelOptions, FakeModelService } from '../models/fake-model-service.ts'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'
import type { FakeModelStep } from '../models/model-step.ts'
import { contentFault } from './content-check.ts'
import { ContentStream, type FakeContentStyle } from './content-stream.ts'
import { readContentRequest } from './read-content-request.ts'

const HELLO: readonly FakeModelStep[] = [
  { do: 'say', text: 'Hello from the fake.' },
  { do: 'finish', reason: 'STOP' },
]
const PATH = /^\/v1beta\/models\/([^/:]+):streamGenerateContent\?alt=sse$/

/** Google's `/v1beta/models/MODEL:streamGenerateContent`, as strict about requests as the service, with scripted faults. */
export class FakeGemini extends FakeModelService {
  static async open(options: FakeModelOptions<FakeContentStyle> = {}): Promise<FakeGemini> {
    const modelIn = (url: string) => decodeURIComponent(PATH.exec(url)?.[1] ?? '')
    const dialect = {
      path: PATH,
      keyOf: (headers: IncomingHttpHeaders) => [headers['x-goog-api-key'] ?? null].flat()[0] ?? null,
      faultOf: (_headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>, url: string) => {
        const fault = contentFault(modelIn(url), body)
        return fault === null ? null : googleError(400, 'INVALID_ARGUMENT', fault)
      },
      refusal,
      chat: {
        errorInStream: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
        finish: { stop: 'STOP', tool: 'STOP' },
        readRequest: readContentRequest,
      },
      begin: (_body: Readonly<Record<string, unknown>>, steps: readonly FakeModelStep[], url: string) =>
        new ContentStream(options.style ?? {}, modelIn(url), steps),
    }
    return new FakeGemini(dialect, options, HELLO).listen()
  }

  /** "http://127.0.0.1:PORT/v1beta". */
  get baseUrl(): string {
    return `${this.origin}/v1beta`
  }
}

function refusal(why: 'key' | 'busy' | 'path' | 'down', key: string | null): FakeHttpAnswer {
  switch (why) {
    // Google answers 400 to a key that it does not know.
    case 'key':
      return googleError(400, 'INVALID_ARGUMENT', `API key not valid: ${key ?? 'none'}.`, [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
      ])
    case 'busy':
      return googleError(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.074824224s' },
      ])
    case 'path':
      return googleError(404, 'NOT_FOUND', 'models/x is not found for API version v1beta.')
    case 'down':
      return googleError(500, 'INTERNAL', 'An internal error has occurred.')
  }
}

/** An error of Google's APIs (`google.rpc.Status`). */
function googleError(code: number, status: string, message: string, details: readonly object[] = []): FakeHttpAnswer {
  return { status: code, body: { error: { code, message, status, ...(details.length > 0 && { details }) } } }
}
