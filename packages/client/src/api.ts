// The parts of the contract that the client uses. In the published package, a generated file with the same exports
// replaces this one, so that the package depends neither on the contract nor on zod.
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

/** The request of an operation. A missing idempotency key is generated. */
export type RequestTo<Id extends OperationId> = Omit<RequestOf<OperationNamed<Id>>, 'idempotency_key'> & Keyed<Id>

/** The response body of an operation. */
export type ResultFrom<Id extends OperationId> = ResultOf<OperationNamed<Id>>

export const routes: readonly OperationRoute[] = operations.map(deriveRoute)

type StreamNamed<Id extends StreamId> = Extract<(typeof streams)[number], { readonly id: Id }>

/** The ids of event streams. */
export type StreamId = (typeof streams)[number]['id']

/** The request of a stream. */
export type StreamRequestTo<Id extends StreamId> = RequestOf<StreamNamed<Id>>

/** The data of one event of a stream. */
export type EventFrom<Id extends StreamId> = ResultOf<StreamNamed<Id>>

export const streamRoutes: readonly OperationRoute[] = streams.map(deriveRoute)
