import { z } from 'zod'
import { operation } from '../operation.ts'
import { timestamp } from '../values/time.ts'

const calls = z.int().min(0)

export const callLimit = z
  .strictObject({
    /** Null: no limit; 0: no outbound calls. */
    daily_limit: calls.nullable(),
    calls_last_24h: calls,
    remaining: calls.nullable(),
    as_of: timestamp,
  })
  .meta({ id: 'CallLimit' })

const getCallLimit = operation({
  id: 'call_limits.get',
  method: 'GET',
  path: '/api/v1/telephony/call-limit',
  summary: 'Read the daily limit of outbound calls and how many were placed in the last 24 hours',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: callLimit,
  statuses: [200],
  refusals: {},
})

const updateCallLimit = operation({
  id: 'call_limits.update',
  method: 'PUT',
  path: '/api/v1/telephony/call-limit',
  summary: 'Set the daily limit of outbound calls, or clear it with null',
  role: 'admin',
  idempotency: 'natural',
  params: null,
  query: null,
  body: z.strictObject({ daily_limit: calls.max(1_000_000).nullable() }),
  output: callLimit,
  statuses: [200],
  refusals: {},
})

export const callLimitOperations = [getCallLimit, updateCallLimit] as const
