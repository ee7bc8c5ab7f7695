import type { IncomingHttpHeaders } from 'node:http'
import { type FakeModelOptions, FakeModelService } from '../models/fake-model-service.ts'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'
import type { FakeModelStep } from '../models/model-step.ts'
import { type FakeMessagesStyle, MessageStream } from './message-stream.ts'
import { messagesFault } from './messages-check.ts'
import { readMessagesRequest } from './read-messages-request.ts'

const HELLO: readonly FakeModelStep[] = [
  { do: 'say', text: 'Hello from the fake.' },
  { do: 'finish', reason: 'end_turn' },
]

/** Anthropic's `/v1/messages`, as strict about requests as the service, with scripted faults. */
export class FakeAnthropic extends FakeModelService {
  static async open(options: FakeModelOptions<FakeMessagesStyle> = {}): Promise<FakeAnthropic> {
    const dialect = {
      path: '/v1/messages',
      keyOf: (headers: IncomingHttpHeaders) => [headers['x-api-key'] ?? null].flat()[0] ?? null,
      faultOf: (headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>) => {
        if (headers['anthropic-version'] !== '2023-06-01') return invalid('anthropic-version: header is required')
        const fault = messagesFault(body)
        return fault === null ? null : invalid(fault)
      },
      refusal,
      chat: {
        errorInStream: { type: 'overloaded_error', message: 'Overloaded' },
        finish: { stop: 'end_turn', tool: 'tool_use' },
        readRequest: readMessagesRequest,
      },
      begin: (body: Readonly<Record<string, unknown>>, steps: readonly FakeModelStep[]) =>
        new MessageStream(options.style ?? {}, String(body.model), steps),
    }
    return new FakeAnthropic(dialect, options, HELLO).listen()
  }
}

function refusal(why: 'key' | 'busy' | 'path' | 'down', key: string | null): FakeHttpAnswer {
  switch (why) {
    case 'key':
      return anthropicError(401, 'authentication_error', `invalid x-api-key: ${key ?? 'none'}`)
    case 'busy':
      return anthropicError(429, 'rate_limit_error', 'Number of requests has exceeded your rate limit.')
    case 'path':
      return anthropicError(404, 'not_found_error', 'Not found')
    case 'down':
      return anthropicError(500, 'api_error', 'Internal server error')
  }
}

function invalid(message: string): FakeHttpAnswer {
  return anthropicError(400, 'invalid_request_error', message)
}

function anthropicError(status: number, type: string, message: string): FakeHttpAnswer {
  return { status, body: { type: 'error', error: { type, message }, request_id: 'req_fake' } }
}
