import { type RunStatement, scopedRows } from '../statements.ts'
import { detailsInForce } from './profiles/profiles.ts'
import type { InboundTrunk, OutboundTrunk, TelephonyAcrossTenants } from './protocol.ts'

export function telephonyOn(run: RunStatement): TelephonyAcrossTenants {
  return {
    async revision() {
      const { rows } = await run('telephony_revision', 'select parley.telephony_revision() as revision', [])
      return (rows[0] as { revision: string }).revision
    },
    async inboundTrunks() {
      return inForce<InboundTrunk>(await run('inbound_trunks', 'select * from parley.inbound_trunks()', []))
    },
    async pingedTrunks() {
      return inForce<OutboundTrunk>(await run('pinged_trunks', 'select * from parley.pinged_trunks()', []))
    },
    async diallingTrunks() {
      return inForce<OutboundTrunk>(await run('dialling_trunks', 'select * from parley.dialling_trunks()', []))
    },
    async reached(candidates, onlyConfirmed) {
      if (candidates.length === 0) return []
      const { rows } = await run(
        'trunks_reached',
        'select * from parley.trunks_reached($1::uuid[], $2::text[], $3::text[], $4::boolean)',
        [
          candidates.map(({ scope }) => scope.tenant_id),
          candidates.map(({ trunk_id }) => trunk_id),
          candidates.map(({ phone_number }) => phone_number),
          onlyConfirmed,
        ],
      )
      const reached = new Set((rows as { tenant_id: string; trunk_id: string }[]).map(row => keyOf(row.tenant_id, row)))
      return candidates.filter(candidate => reached.has(keyOf(candidate.scope.tenant_id, candidate)))
    },
  }
}

/** The trunks with the settings of their profiles. */
function inForce<Trunk extends OutboundTrunk>({ rows }: { readonly rows: readonly unknown[] }): Trunk[] {
  return scopedRows<Trunk>(rows).map(trunk => ({ ...trunk, details: detailsInForce(trunk.details) }))
}

function keyOf(tenantId: string, { trunk_id }: { readonly trunk_id: string }): string {
  return `${tenantId}/${trunk_id}`
}
