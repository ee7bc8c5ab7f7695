import type { IncomingHttpHeaders } from 'node:http'
import type { FakeAsk } from './model-ask.ts'
import type { FakeModelStep } from './model-step.ts'

/** An HTTP answer that is no stream, in the service's own shape. */
export interface FakeHttpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** One answer in the vendor's words: steps in, pieces of the stream out, or the document at the end. */
export interface FakeModelAnswer {
  readonly isFinished: boolean
  /** What the step adds to the stream; "" for steps that add nothing. */
  lines(step: FakeModelStep): string
  /** The end of the stream. */
  done(): string
  /** The answer as one document. */
  document(): string
}

/** How a service writes what chats are made of. */
export interface FakeChatDialect {
  /** The error inside an answer that had begun. */
  readonly errorInStream: unknown
  /** Why answers end: after words, after a tool. */
  readonly finish: { readonly stop: string; readonly tool: string }
  /** What a body without fault asks. */
  askOf(body: Readonly<Record<string, unknown>>): FakeAsk
}

/** What differs between the services. */
export interface FakeModelDialect {
  readonly path: string
  /** The key that the request came with; null: none. */
  keyOf(headers: IncomingHttpHeaders): string | null
  /** What the service finds wrong with a request; null: nothing. */
  faultOf(headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>): FakeHttpAnswer | null
  refusal(why: 'key' | 'busy' | 'path' | 'down', key: string | null): FakeHttpAnswer
  /** Null: it does not chat. */
  readonly chat: FakeChatDialect | null
  /** `steps`: all that will come. */
  begin(body: Readonly<Record<string, unknown>>, steps: readonly FakeModelStep[]): FakeModelAnswer
}
