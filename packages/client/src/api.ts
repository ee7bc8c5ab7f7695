// What of the API the client is made of. In the published package a file of the same names, derived from the contract
// when it is built, stands in its place: there neither the contract nor zod are needed.
import {
  type OperationId,
  type OperationNamed,
  operations,
  type RequestOf,
  type ResultOf,
  streams,
} from '@parley/contract'
import { deriveRoute } from './derive-route.ts'
import type { OperationRoute } from './operation-route.ts'

export type { Diagnostic, ErrorEnvelope, Issue, OperationId } from '@parley/contract'

type Keyed<Id extends OperationId> =
  RequestOf<OperationNamed<Id>> extends { readonly idempotency_key: string }
    ? { readonly idempotency_key?: string | undefined }
    : unknown

/** What an operation is asked with; an idempotency key where none is given is made. */
export type RequestTo<Id extends OperationId> = Omit<RequestOf<OperationNamed<Id>>, 'idempotency_key'> & Keyed<Id>

/** What an operation answers. */
export type ResultFrom<Id extends OperationId> = ResultOf<OperationNamed<Id>>

export const routes: readonly OperationRoute[] = operations.map(deriveRoute)

type StreamNamed<Id extends StreamId> = Extract<(typeof streams)[number], { readonly id: Id }>

/** What is followed as it happens. */
export type StreamId = (typeof streams)[number]['id']

/** What a stream is asked with. */
export type StreamRequestTo<Id extends StreamId> = RequestOf<StreamNamed<Id>>

/** What each event of a stream holds. */
export type EventFrom<Id extends StreamId> = ResultOf<StreamNamed<Id>>

export const streamRoutes: readonly OperationRoute[] = streams.map(deriveRoute)
