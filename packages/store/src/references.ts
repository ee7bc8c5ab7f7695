import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { ALERT_SIGNING_SECRET } from './alerts/protocol.ts'
import type { Queries } from './protocol.ts'

/** A resource that pins a secret; `id` is that of the trunk, the agent (its head), the draft or the alert rule. */
export interface SecretReference {
  readonly kind: 'trunk' | 'agent' | 'draft' | 'alert'
  readonly id: string
}

/** Where drafts and plans pin secrets as `{id, version}`, as SQL/JSON paths. Other objects of this form are not pins. */
export const SECRET_PINS = [
  '$.providers.stt.credential',
  '$.providers.llm.credential',
  '$.providers.tts.credential',
  '$.notification.secret',
  '$.analysis.model.credential',
  '$.actions[*].auth.secret',
  '$.settings.sms.secret',
  '$.flow.mcps[*].auth.secret',
  '$.flow.nodes[*].model_choice.credential',
  '$.flow.components[*].nodes[*].model_choice.credential',
] as const

/** The most references that a refused deletion names. */
const MOST_NAMED = 200

const PINS_IT = SECRET_PINS.map(path => `exists(${path} ? (@.id == $id && @.version == $versions[*]))`).join(' || ')

/**
 * The resources that pin one of these versions of a secret: trunks, heads of agents that are not archived, open drafts, alert rules; at most 200,
 * in that order. Lock the secret's row before a deletion, so that no trunk pins it meanwhile.
 */
export async function secretReferences(
  db: Queries,
  scope: Scope,
  secretId: string,
  versions: readonly string[],
): Promise<SecretReference[]> {
  const tenant = scope.tenant_id
  const pin = JSON.stringify({ id: secretId, versions })
  const pinnedBy = (document: string) =>
    sql`coalesce(jsonb_path_match(${sql.ref(document)}, ${sql.lit(PINS_IT)}::jsonpath, ${pin}::jsonb, true), false)`
  const { rows } = await sql<SecretReference>`
    select kind, id from (
      select 1 as place, 'trunk' as kind, trunk_id collate "C" as id from parley.trunks
      where tenant_id = ${tenant} and auth_secret_id = ${secretId} and auth_secret_version = any(${versions})
      union all
      select 2, 'agent', agent_id collate "C" from parley.agents a
      join parley.publications p using (tenant_id, agent_id)
      where tenant_id = ${tenant} and a.archived_at is null and p.version = a.head_version and ${pinnedBy('p.plan')}
      union all
      select 3, 'draft', draft_id::text collate "C" from parley.drafts d
      where tenant_id = ${tenant} and ${pinnedBy('d.content')}
      union all
      select 4, 'alert', alert_id::text collate "C" from parley.alert_rules
      where tenant_id = ${tenant} and ${secretId} = ${ALERT_SIGNING_SECRET} and destination_kind = 'webhook'
        and deleted_at is null and secret_version::text = any(${versions})
    ) as pins order by place, id limit ${sql.lit(MOST_NAMED)}`.execute(db)
  return rows
}
