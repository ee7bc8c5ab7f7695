import type { Scope, SuiteSource } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** A run of callers that becomes a case of a test run. */
export interface RecordedRun {
  readonly run_id: string
  /** What the caller said and pressed, in order. */
  readonly caller: readonly ({ readonly says: string } | { readonly presses: string })[]
  /** The nodes that it visited, in order. */
  readonly nodes: readonly string[]
  readonly dynamic_variables: Readonly<Record<string, string>>
}

/** The runs that a suite's source picks now, newest first; runs without a transcript are left out. */
export async function recordedRuns(
  db: Queries,
  scope: Scope,
  source: SuiteSource,
  agentId: string | null,
): Promise<RecordedRun[]> {
  const picked = source.kind === 'runs' ? pickedByIds(source.run_ids) : pickedBy(source, agentId)
  const { rows } = await sql<RecordedRun>`
    with candidates as (
      select r.run_id, r.created_at, r.disposition, r.dynamic_variables, (
          select count(*) from jsonb_array_elements(t.utterances) u where u ->> 'role' = 'user'
        ) as turns
      from parley.runs r join parley.run_transcripts t using (tenant_id, run_id)
      where r.tenant_id = ${scope.tenant_id}::uuid and r.ended_at is not null and t.final and t.state <> 'expired' and ${picked.where}
    ), counted as (
      select *, row_number() over (partition by disposition order by created_at desc, run_id) as of_disposition
      from candidates where turns >= ${picked.minTurns}::integer
    )
    select c.run_id, c.dynamic_variables, (
      select coalesce(jsonb_agg(case e.kind
        when 'digits' then jsonb_build_object('presses', e.fields ->> 'digits')
        else jsonb_build_object('says', e.fields ->> 'text') end order by e.seq), '[]')
      from parley.run_events e
      where e.tenant_id = ${scope.tenant_id}::uuid and e.run_id = c.run_id and (
        (e.kind = 'utterance' and e.fields ->> 'role' = 'user') or (e.kind = 'digits' and e.fields ->> 'direction' = 'in'))
    ) as caller, (
      select coalesce(jsonb_agg(e.fields ->> 'node_id' order by e.seq), '[]') from parley.run_events e
      where e.tenant_id = ${scope.tenant_id}::uuid and e.run_id = c.run_id and e.kind = 'node'
    ) as nodes
    from counted c
    order by case when ${picked.isStratified}::boolean then of_disposition else 0 end, c.created_at desc, c.run_id
    limit ${picked.limit}::integer`.execute(db)
  return rows
}

function pickedByIds(runIds: readonly string[]) {
  return { where: sql`r.run_id = any(${[...runIds]}::uuid[])`, minTurns: 1, isStratified: false, limit: runIds.length }
}

function pickedBy(source: Extract<SuiteSource, { kind: 'selector' }>, agentId: string | null) {
  const { window_days, versions, contact, dispositions, min_caller_turns, sample, limit } = source
  // Runs off the phone have no contact; their callers are people.
  const contacts = contact.includes('human') ? [...contact, 'not_applicable'] : [...contact]
  const where = sql`r.agent_id = ${agentId} and not r.test and r.created_at >= now() - ${window_days}::integer * interval '1 day'
    and (cardinality(${[...versions]}::integer[]) = 0 or r.version = any(${[...versions]}::integer[]))
    and r.contact = any(${contacts}::text[])
    and (cardinality(${[...dispositions]}::text[]) = 0 or r.disposition = any(${[...dispositions]}::text[]))`
  return { where, minTurns: min_caller_turns, isStratified: sample === 'stratified_by_disposition', limit }
}
