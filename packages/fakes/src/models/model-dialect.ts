import type { IncomingHttpHeaders } from 'node:http'
import type { FakeChatRequest } from './chat-request.ts'
import type { FakeModelStep } from './model-step.ts'

/** An HTTP answer that is not a stream, in the vendor's shape. */
export interface FakeHttpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** One answer in the vendor's format: steps in, pieces of the stream out, or the document at the end. */
export interface FakeModelAnswer {
  readonly isFinished: boolean
  /** What the step adds to the stream; "" for steps that add nothing. */
  lines(step: FakeModelStep): string
  /** The end of the stream. */
  done(): string
  /** The answer as one document. */
  document(): string
}

/** The vendor's format of chats. */
export interface FakeChatDialect {
  /** The error inside an answer that had begun. */
  readonly errorInStream: unknown
  /** Finish reasons: after text, after a tool call. */
  readonly finish: { readonly stop: string; readonly tool: string }
  /** Reads the request from a body that has no fault. */
  readRequest(body: Readonly<Record<string, unknown>>): FakeChatRequest
}

/** What differs between the services. */
export interface FakeModelDialect {
  /** Path and query of its requests. */
  readonly path: string | RegExp
  /** The key that the request came with; null: none. */
  keyOf(headers: IncomingHttpHeaders): string | null
  /** The refusal of an invalid request; null: the request is valid. */
  faultOf(headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>, url: string): FakeHttpAnswer | null
  refusal(why: 'key' | 'busy' | 'path' | 'down', key: string | null): FakeHttpAnswer
  /** Null: the service has no chat. */
  readonly chat: FakeChatDialect | null
  /** `steps`: all that will come. */
  begin(body: Readonly<Record<string, unknown>>, steps: readonly FakeModelStep[], url: string): FakeModelAnswer
}
