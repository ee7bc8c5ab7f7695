import type { Plan, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { Channel } from '../schema.ts'

/** A number that was called, and who answers it. */
export interface AnsweredNumber {
  readonly kind: 'answered'
  readonly number_id: string
  readonly phone_number: string
  readonly agent_id: string
  /** Of the publication: the one that the assignment names, else the agent's head. */
  readonly version: number
  readonly channels: readonly Channel[]
  readonly plan: Plan
}

/** A number that was called and that nobody answers. */
interface UnansweredNumber {
  readonly kind: 'unanswered'
  readonly reason: 'no_number' | 'unassigned' | 'agent_archived' | 'not_published'
  /** Null: the trunk has no such number. */
  readonly number_id: string | null
}

interface Found {
  readonly number_id: string
  readonly phone_number: string
  readonly agent_id: string | null
  readonly is_archived: boolean | null
  readonly version: number | null
  readonly channels: Channel[] | null
  readonly plan: Plan | null
}

/** Who answers an imported number (E.164) on this trunk, as it is assigned now. */
export async function numberReached(
  db: Queries,
  scope: Scope,
  trunkId: string,
  e164: string,
): Promise<AnsweredNumber | UnansweredNumber> {
  // One statement: the head cannot move between the assignment and its publication.
  const { rows } = await sql<Found>`
    select n.number_id, n.phone_number, n.agent_id, a.archived_at is not null as is_archived, p.version, p.channels, p.plan
    from parley.numbers n
    left join parley.agents a on a.tenant_id = n.tenant_id and a.agent_id = n.agent_id
    left join parley.publications p
      on p.tenant_id = n.tenant_id and p.agent_id = n.agent_id and p.version = coalesce(n.version, a.head_version)
    where n.tenant_id = ${scope.tenant_id}::uuid and n.trunk_id = ${trunkId} and n.phone_number = ${e164}`.execute(db)
  const [found] = rows
  if (found === undefined) return { kind: 'unanswered', reason: 'no_number', number_id: null }
  const { number_id, phone_number, agent_id, is_archived, version, channels, plan } = found
  if (agent_id === null) return { kind: 'unanswered', reason: 'unassigned', number_id }
  if (is_archived === true) return { kind: 'unanswered', reason: 'agent_archived', number_id }
  if (version === null || channels === null || plan === null)
    return { kind: 'unanswered', reason: 'not_published', number_id }
  return { kind: 'answered', number_id, phone_number, agent_id, version, channels, plan }
}
