import { decimal, text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { runChannel } from '../runs/run.ts'
import { contactList } from '../runs/runs.ts'
import { agentId } from '../values/names.ts'
import { listQuery } from '../values/page.ts'
import { instant, timestamp } from '../values/time.ts'

const count = z.int().min(0)
const completeness = z.enum(['complete', 'partial'])
const groupBy = z.enum(['agent', 'run', 'day'])
const purpose = z.enum(['billable', 'test'])

const row = z
  .strictObject({
    /** The id of an agent or a run, or a day (`YYYY-MM-DD`, UTC). */
    key: text(1, 256),
    runs: count,
    connected_ms: count,
    /** Tokens of audio included. */
    llm_input_tokens: count.nullable(),
    llm_output_tokens: count.nullable(),
    stt_ms: count.nullable(),
    tts_characters: count.nullable(),
    cost: z.strictObject({
      currency: z.literal('USD'),
      amount: decimal.nullable(),
      completeness: z.enum(['complete', 'partial', 'unpriced']),
    }),
  })
  .meta({ id: 'UsageRow' })

const usageSummary = operation({
  id: 'usage.summary',
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'Read metered usage and its cost by agent, run or day; a run counts on the day of its creation',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  /** At most 366 days; `from` is inclusive, `to` is exclusive. */
  query: listQuery({
    group_by: groupBy,
    from: instant,
    to: instant,
    agent_id: agentId.optional(),
    /** `test`: test runs, which are metered but not billed. */
    purpose: purpose.default('billable'),
    /** Only runs with one of these contacts: what calls to mailboxes cost, for example. */
    contact: contactList.optional(),
  }),
  body: null,
  output: z.strictObject({
    window: z.strictObject({ from: timestamp, to: timestamp }),
    group_by: groupBy,
    purpose,
    rows: z.array(row),
    completeness,
    next_cursor: text(0, 1024).nullable(),
  }),
  statuses: [200],
  refusals: {},
})

const rate = z
  .strictObject({
    /** A meter of audio tokens without a rate has that of the other tokens. */
    meter: z.enum([
      'connected_ms',
      'llm_input_tokens',
      'llm_output_tokens',
      'llm_audio_input_tokens',
      'llm_audio_output_tokens',
      'stt_ms',
      'tts_characters',
    ]),
    per: z.int().min(1),
    price_usd: decimal,
    channel: runChannel.nullable(),
    provider: text(1, 256).nullable(),
    model_id: text(1, 256).nullable(),
  })
  .meta({ id: 'Rate' })

const reserves = z.strictObject({ phone: decimal, web: decimal, cloud: decimal })

/** A price in a rate card file. A number of more than 40 digits is refused as a mistake. */
const price = decimal.max(40)

/** A rate card as installed by staff; the most specific rate applies. */
export const rateCardFile = z.strictObject({
  rate_card_id: text(1, 160),
  currency: z.literal('USD').default('USD'),
  effective_at: instant.optional(),
  reserve_usd: z.strictObject({ phone: price, web: price, cloud: price }),
  rates: z
    .array(
      rate.extend({
        price_usd: price,
        per: z.int().min(1).max(1_000_000_000_000),
        channel: rate.shape.channel.default(null),
        provider: rate.shape.provider.default(null),
        model_id: rate.shape.model_id.default(null),
      }),
    )
    .max(10_000),
})

const rateCard = z
  .strictObject({
    configured: z.boolean(),
    rate_card_id: text(1, 160).nullable(),
    currency: z.literal('USD'),
    effective_at: timestamp.nullable(),
    reserve_usd: reserves.nullable(),
    rates: z.array(rate),
  })
  .meta({ id: 'RateCard' })

const getRateCard = operation({
  id: 'usage.rate_card',
  method: 'GET',
  path: '/api/v1/usage/rate-card',
  summary: 'Read the rate card: the prices of metered usage',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: rateCard,
  statuses: [200],
  refusals: {},
})

export const usageOperations = [usageSummary, getRateCard] as const
