import { type FakeModelOptions, FakeModelService } from '../models/fake-model-service.ts'
import type { FakeModelStep } from '../models/model-step.ts'
import { ChatCompletion, type FakeChatStyle } from './chat-completion.ts'
import { bearerOf, openAiError, openAiRefusal } from './openai-refusal.ts'
import { readChatRequest } from './read-chat-request.ts'

const HELLO: readonly FakeModelStep[] = [
  { do: 'say', text: 'Hello from the fake.' },
  { do: 'finish', reason: 'stop' },
  { do: 'report-usage', input: 10, output: 5 },
]

/** A service that speaks like OpenAI's `/v1/chat/completions`, with scripted faults. */
export class FakeOpenAiChat extends FakeModelService {
  static async open(options: FakeModelOptions<FakeChatStyle> = {}): Promise<FakeOpenAiChat> {
    const dialect = {
      path: '/v1/chat/completions',
      keyOf: bearerOf,
      faultOf: (_headers: unknown, body: Readonly<Record<string, unknown>>) =>
        typeof body.model === 'string' && Array.isArray(body.messages)
          ? null
          : openAiError(400, 'invalid_request_error', null, 'Missing required parameter.'),
      refusal: openAiRefusal,
      chat: {
        errorInStream: {
          message: 'The server had an error processing your request.',
          type: 'server_error',
          code: null,
        },
        finish: { stop: 'stop', tool: 'tool_calls' },
        readRequest: readChatRequest,
      },
      begin: (body: Readonly<Record<string, unknown>>) => new ChatCompletion(options.style ?? {}, String(body.model)),
    }
    return new FakeOpenAiChat(dialect, options, HELLO).listen()
  }

  /** "http://127.0.0.1:PORT/v1". */
  get baseUrl(): string {
    return `${this.origin}/v1`
  }
}
