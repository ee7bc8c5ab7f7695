import { type RunStatement, scopedRows } from '../statements.ts'
import type { PresentedSiteKey, PresentedWebCall, WebAcrossTenants } from './protocol.ts'

export function webOn(run: RunStatement): WebAcrossTenants {
  return {
    async callOf(runId, hash) {
      const { rows } = await run('web_call_of', 'select * from parley.web_call_of($1::uuid, $2)', [runId, hash])
      return scopedRows<PresentedWebCall>(rows)[0] ?? null
    },
    async siteKeyOf(hash) {
      const { rows } = await run(
        'site_key_of',
        'select site_key_id, origins, tenant_id, owner_id, environment from parley.site_key_of($1)',
        [hash],
      )
      return scopedRows<PresentedSiteKey>(rows)[0] ?? null
    },
    async isSiteOrigin(origin) {
      const { rows } = await run('is_site_origin', 'select parley.is_site_origin($1) as named', [origin])
      return (rows as { named: boolean }[])[0]!.named
    },
  }
}
