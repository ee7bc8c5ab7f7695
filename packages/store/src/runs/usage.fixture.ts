import type { Scope } from '@parley/contract'
import type { TestDatabase } from '../testing/index.ts'
import type { Measurement } from './protocol.ts'
import { installRateCard, type RateCard } from './rate-cards.ts'
import { summariseUsage, type UsageFilter } from './usage.ts'

export const rate = (
  meter: Measurement['meter'],
  per: number,
  price_usd: string,
  of: Partial<RateCard['rates'][number]> = {},
) => ({
  meter,
  per,
  price_usd,
  channel: null,
  provider: null,
  model_id: null,
  ...of,
})
export const CARD = {
  rate_card_id: 'card-1',
  effective_at: null,
  reserve_usd: { phone: '1', web: '1', cloud: '1' },
  rates: [
    rate('connected_ms', 3, '1'),
    rate('connected_ms', 60_000, '0.06', { channel: 'phone' }),
    rate('llm_input_tokens', 1_000_000, '3'),
    rate('llm_input_tokens', 1_000_000, '5', { provider: 'openai' }),
    rate('llm_input_tokens', 1_000_000, '7', { provider: 'openai', model_id: 'big' }),
    rate('llm_output_tokens', 3, '1'),
  ],
} as const
export const used = (
  meter: Measurement['meter'],
  quantity: number,
  provider: string | null = null,
  model_id: string | null = null,
) => ({
  meter,
  quantity,
  provider,
  model_id,
})

export const ever = {
  from: '2000-01-01T00:00:00.000Z',
  to: '2100-01-01T00:00:00.000Z',
  cursor: null,
  limit: 50,
} as const

/** Functions that install rate cards and read usage. The database is looked up at each call, because beforeAll creates it later. */
export function accountsOn(database: () => TestDatabase) {
  const install = (scope: Scope, card: Parameters<typeof installRateCard>[2] = CARD) =>
    database().database.transaction(scope, tx => installRateCard(tx, scope, card))

  const usage = (scope: Scope, filter: Partial<UsageFilter> = {}) =>
    summariseUsage(database().database.within(scope), scope, {
      ...ever,
      group_by: 'agent',
      purpose: 'billable',
      ...filter,
    })
  return { install, usage }
}
