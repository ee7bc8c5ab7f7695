import type { z } from 'zod'
import type { Operation } from './operation.ts'

type Parsed<Part> = Part extends z.ZodType ? z.output<Part> : null

/** What a handler gets: everything parsed, every default filled in, null where the operation takes nothing. */
export interface InputOf<O extends Operation> {
  readonly params: Parsed<O['params']>
  readonly query: Parsed<O['query']>
  readonly body: Parsed<O['body']>
}

/** What a handler gives back. */
export interface AnswerOf<O extends Operation> {
  readonly status: O['statuses'][number]
  readonly body: z.input<O['output']>
}

/** Does the work of one operation for whoever `Context` says it is done. */
export type Handler<O extends Operation, Context> = (input: InputOf<O>, context: Context) => Promise<AnswerOf<O>>

type Sent<Name extends string, Part> = Part extends z.ZodType
  ? Record<string, never> extends z.input<Part>
    ? { readonly [N in Name]?: z.input<Part> }
    : { readonly [N in Name]: z.input<Part> }
  : unknown

/** What a client, or a model by the tool of the operation, sends. */
export type RequestOf<O extends Operation> = Sent<'params', O['params']> &
  Sent<'query', O['query']> &
  Sent<'body', O['body']> &
  (O['idempotency'] extends 'required_header' ? { readonly idempotency_key: string } : unknown)

/** What a client gets. */
export type ResultOf<O extends Operation> = z.output<O['output']>
