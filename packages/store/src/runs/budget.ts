import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** The month's spend and its cap; all null without a rate card. Amounts in USD, truncated to 12 digits. */
export interface BudgetRow {
  readonly configured: boolean
  readonly policy_id: string | null
  /** The calendar month, UTC. */
  readonly period: { readonly from: string; readonly to: string } | null
  readonly cap_usd: string | null
  readonly spent_usd: string | null
  /** Negative when spending exceeds the cap. */
  readonly remaining_usd: string | null
  readonly exceeded: boolean
  /** Billable runs without a cost yet. */
  readonly unresolved_runs: number
  readonly as_of: string
}

/** Added before truncation, so that rounding errors of periodic quotients vanish: three thirds are one. */
const whole = (amount: ReturnType<typeof sql>) => sql<string>`round(${amount}, 40)`

/** Truncates to 12 digits and drops trailing zeros; never rounds up. */
export const shownUsd = (amount: ReturnType<typeof sql>) =>
  sql<string | null>`trim_scale(trunc(${whole(amount)}, 12))::text`

export async function readBudget(db: Queries, scope: Scope): Promise<BudgetRow> {
  const spent = whole(sql`coalesce(s.spent_usd, 0)`)
  const { rows } = await sql<BudgetRow & { from: string | null; to: string | null }>`
    with now as (select parley.now_ms() as at), month as (
      select at, date_trunc('month', at, 'UTC') as starts, date_add(date_trunc('month', at, 'UTC'), interval '1 month', 'UTC') as ends
      from now
    )
    select b.policy_id is not null as configured, b.policy_id,
      case when b.policy_id is not null then month.starts end as "from",
      case when b.policy_id is not null then month.ends end as "to",
      ${shownUsd(sql`b.cap_usd`)} as cap_usd,
      case when b.policy_id is not null then ${shownUsd(spent)} end as spent_usd,
      ${shownUsd(sql`b.cap_usd - trunc(${spent}, 12)`)} as remaining_usd,
      coalesce(${spent} >= b.cap_usd, false) as exceeded,
      coalesce(c.unresolved, 0) as unresolved_runs, month.at as as_of
    from month
    left join parley.budgets b on b.tenant_id = ${scope.tenant_id}::uuid
    left join parley.spend_months s on s.tenant_id = ${scope.tenant_id}::uuid and s.month = (month.starts at time zone 'UTC')::date
    left join parley.run_counters c on c.tenant_id = ${scope.tenant_id}::uuid`.execute(db)
  const { from, to, ...row } = rows[0]!
  return { ...row, period: from === null || to === null ? null : { from, to } }
}

type BudgetWrite =
  | { readonly kind: 'written'; readonly budget: BudgetRow }
  /** Another policy is in force than the expected one. */
  | { readonly kind: 'stale'; readonly policy_id: string }
  | { readonly kind: 'not_installed' }

/** Sets the cap if `expectedPolicyId` is in force. The new policy has a new id and applies at once; live runs go on. */
export async function writeBudget(
  tx: Queries,
  scope: Scope,
  capUsd: string,
  expectedPolicyId: string,
): Promise<BudgetWrite> {
  const { numAffectedRows } = await sql`
    update parley.budgets set cap_usd = ${capUsd}::numeric, policy_id = 'policy/' || parley.uuidv7(), updated_at = parley.now_ms()
    where tenant_id = ${scope.tenant_id}::uuid and policy_id = ${expectedPolicyId}::text`.execute(tx)
  const budget = await readBudget(tx, scope)
  if (numAffectedRows === 1n) return { kind: 'written', budget }
  return budget.policy_id === null ? { kind: 'not_installed' } : { kind: 'stale', policy_id: budget.policy_id }
}
