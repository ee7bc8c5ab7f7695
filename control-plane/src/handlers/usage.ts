import { type budget, Refusal } from '@parley/contract'
import {
  type BudgetRow,
  type RunContact,
  readBudget,
  readRateCard,
  summariseUsage,
  type UsageRow,
  writeBudget,
} from '@parley/store'
import type { z } from 'zod'
import type { Handlers } from '../context.ts'
import { invalid } from './invalid-request.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 366

export const usageHandlers = {
  'usage.summary': async ({ query: { cursor, from, to, contact, ...filter } }, { db, scope }) => {
    const window = windowOf(from, to)
    const contacts = contact?.split(',') as RunContact[] | undefined
    const page = await summariseUsage(db, scope, { ...filter, ...window, contact: contacts, cursor: cursor ?? null })
    const { rows, next_cursor, completeness } = page
    const { group_by, purpose } = filter
    return { status: 200, body: { window, group_by, purpose, rows: rows.map(toRow), completeness, next_cursor } }
  },

  'usage.rate_card': async (_, { db, scope }) => {
    const card = await readRateCard(db, scope)
    if (card === null)
      return {
        status: 200,
        body: {
          configured: false,
          rate_card_id: null,
          currency: 'USD',
          effective_at: null,
          reserve_usd: null,
          rates: [],
        },
      }
    return { status: 200, body: { ...card, configured: true, currency: 'USD', rates: [...card.rates] } }
  },

  'budgets.get': async (_, { db, scope }) => ({
    status: 200,
    body: toBudget(await readBudget(db, scope), scope.tenant_id),
  }),

  'budgets.update': async ({ body: { cap_usd, expected_policy_id } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'operation', id: 'usage/budget' })
    const write = await writeBudget(db, scope, cap_usd, expected_policy_id)
    if (write.kind === 'not_installed')
      throw new Refusal(
        'capability_unavailable',
        'there is no rate card, so nothing has a price: platform staff can install one',
        {
          reason: 'pricing_not_installed',
        },
      )
    if (write.kind === 'stale')
      throw new Refusal('conflict', 'the budget was changed meanwhile: read it again and repeat the request', {
        reason: 'stale_revision',
        details: { current: { policy_id: write.policy_id } },
      })
    return { status: 200, body: toBudget(write.budget, scope.tenant_id) }
  },
} satisfies Partial<Handlers>

/** Both instants as ISO 8601 in UTC with milliseconds. Throws the refusal of an empty or too long window. */
function windowOf(from: string, to: string): { readonly from: string; readonly to: string } {
  const [begins, ends] = [Date.parse(from), Date.parse(to)]
  if (ends <= begins) throw invalid('/to', 'is not after from')
  if (ends - begins > MAX_DAYS * DAY_MS) throw invalid('/to', `is more than ${MAX_DAYS} days after from`)
  return { from: new Date(begins).toISOString(), to: new Date(ends).toISOString() }
}

function toRow({ amount, completeness, ...row }: UsageRow) {
  return { ...row, cost: { currency: 'USD' as const, amount, completeness } }
}

function toBudget(row: BudgetRow, tenantId: string): z.input<typeof budget> {
  const { configured, as_of } = row
  return { ...row, budget_id: configured ? `budget/${tenantId}` : null, as_of: configured ? as_of : null }
}
