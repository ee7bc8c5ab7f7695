import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { type CursorBinding, cutPage, decodeCursor, type KeysetColumn, type Page } from '../keyset.ts'
import type { Queries } from '../protocol.ts'
import type { RunContact } from '../schema-runs.ts'
import { shownUsd } from './budget.ts'

export interface UsageFilter {
  readonly group_by: 'agent' | 'run' | 'day'
  /** Bounds of `created_at`, ISO: `from` is inclusive, `to` exclusive. */
  readonly from: string
  readonly to: string
  readonly agent_id?: string | undefined
  /** `test`: test runs, metered and not billed. */
  readonly purpose: 'billable' | 'test'
  /** Only runs with one of these contacts. */
  readonly contact?: readonly RunContact[] | undefined
  readonly cursor: string | null
  readonly limit: number
}

export interface UsageRow {
  /** An agent's id, a run's, or a day (`YYYY-MM-DD`, UTC). */
  readonly key: string
  readonly runs: number
  readonly connected_ms: number
  /** Null: nothing was measured. */
  readonly llm_input_tokens: number | null
  readonly llm_output_tokens: number | null
  readonly stt_ms: number | null
  readonly tts_characters: number | null
  /** USD, truncated to 12 digits; null: no run of the group has a price. */
  readonly amount: string | null
  /** `partial`: a run of the group is live, has no price, or lost the process that measured its usage. */
  readonly completeness: 'complete' | 'partial' | 'unpriced'
}

interface UsagePage extends Page<UsageRow> {
  /** `partial`: a run of the window is so. */
  readonly completeness: 'complete' | 'partial'
}

const KEYS = {
  agent: sql`r.agent_id collate "C"`,
  run: sql`r.run_id::text collate "C"`,
  day: sql`to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD') collate "C"`,
} as const

const BY_KEY: readonly KeysetColumn<UsageRow>[] = [{ column: 'key', type: 'text', direction: 'asc' }]

const COUNTS = ['runs', 'connected_ms', 'llm_input_tokens', 'llm_output_tokens', 'stt_ms', 'tts_characters'] as const

/** Whether the usage or the price of a run is not known completely. */
const INCOMPLETE = sql.raw(
  "(r.ended_at is null or r.cost_usd is null or coalesce(r.outcome ->> 'detail' = 'engine_lost', false))",
)

/** Usage of the runs created in the window, by key. Throws `invalid_cursor`. */
export async function summariseUsage(db: Queries, scope: Scope, filter: UsageFilter): Promise<UsagePage> {
  const { cursor, limit, contact, ...rest } = filter
  const filters = { ...rest, contact: contact?.join() }
  const binding: CursorBinding = { operation: 'usage.summary', tenantId: scope.tenant_id, filters, sort: 'key' }
  const after = cursor === null ? null : (decodeCursor(binding, BY_KEY, cursor)[0] as string)
  const key = KEYS[filter.group_by]
  const { rows } = await sql<UsageRow>`
    select ${key} as key, count(*) as runs, coalesce(sum(r.connected_ms), 0) as connected_ms,
      sum(r.llm_input_tokens) as llm_input_tokens, sum(r.llm_output_tokens) as llm_output_tokens,
      sum(r.stt_ms) as stt_ms, sum(r.tts_characters) as tts_characters, ${shownUsd(sql`sum(r.cost_usd)`)} as amount,
      case when count(r.cost_usd) = 0 then 'unpriced'
        when bool_or(${INCOMPLETE}) then 'partial' else 'complete' end as completeness
    from parley.runs r
    where ${windowOf(scope, filter)} and (${after}::text is null or ${key} > ${after}::text collate "C")
    group by 1 order by 1 limit ${limit + 1}::integer`.execute(db)
  const shown = rows.map(
    (row): UsageRow => ({ ...row, ...Object.fromEntries(COUNTS.map(name => [name, countOf(row[name])])) }),
  )
  const { rows: open } = await sql`
    select from parley.runs r where ${windowOf(scope, filter)} and ${INCOMPLETE} limit 1`.execute(db)
  return { ...cutPage(shown, BY_KEY, binding, limit), completeness: open.length === 0 ? 'complete' : 'partial' }
}

/** int8 and numeric come as text. */
function countOf(value: unknown): number | null {
  return value === null ? null : Number(value)
}

function windowOf(scope: Scope, { from, to, agent_id, purpose, contact }: UsageFilter) {
  const agentId = agent_id ?? null
  const contacts = contact === undefined ? null : [...contact]
  return sql`r.tenant_id = ${scope.tenant_id}::uuid and r.created_at >= ${from}::timestamptz and r.created_at < ${to}::timestamptz
    and r.test = ${purpose === 'test'}::boolean and (${agentId}::text is null or r.agent_id = ${agentId}::text)
    and (${contacts}::text[] is null or r.contact = any(${contacts}::text[]))`
}
