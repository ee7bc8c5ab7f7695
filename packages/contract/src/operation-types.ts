import type { z } from 'zod'
import type { Operation } from './operation.ts'

type Parsed<Part> = Part extends z.ZodType ? z.output<Part> : null

/** Input of a handler: the parsed request with defaults filled in; parts that the operation does not have are null. */
export interface InputOf<O extends Operation> {
  readonly params: Parsed<O['params']>
  readonly query: Parsed<O['query']>
  readonly body: Parsed<O['body']>
}

/** Result of a handler. */
export interface AnswerOf<O extends Operation> {
  readonly status: O['statuses'][number]
  readonly body: z.input<O['output']>
}

/** Executes one operation. `Context` identifies the caller. */
export type Handler<O extends Operation, Context> = (input: InputOf<O>, context: Context) => Promise<AnswerOf<O>>

type Sent<Name extends string, Part> = Part extends z.ZodType
  ? Record<string, never> extends z.input<Part>
    ? { readonly [N in Name]?: z.input<Part> }
    : { readonly [N in Name]: z.input<Part> }
  : unknown

/** The request of a client, or of a model that calls the operation's tool. */
export type RequestOf<O extends Operation> = Sent<'params', O['params']> &
  Sent<'query', O['query']> &
  Sent<'body', O['body']> &
  (O['idempotency'] extends 'required_header' ? { readonly idempotency_key: string } : unknown)

/** The response body as a client reads it. */
export type ResultOf<O extends Operation> = z.output<O['output']>
