import type { IncomingHttpHeaders } from 'node:http'
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

/** What differs between the services. */
export interface FakeModelDialect {
  readonly path: string
  /** The key that the request came with; null: none. */
  keyOf(headers: IncomingHttpHeaders): string | null
  /** What the service finds wrong with a request; null: nothing. */
  faultOf(headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>): FakeHttpAnswer | null
  refusal(why: 'key' | 'busy' | 'path', key: string | null): FakeHttpAnswer
  /** `steps`: all that will come. */
  begin(body: Readonly<Record<string, unknown>>, steps: readonly FakeModelStep[]): FakeModelAnswer
}
