import { type RunStatement, scopedRows } from '../statements.ts'
import type { PresentedWebCall, WebAcrossTenants } from './protocol.ts'

export function webOn(run: RunStatement): WebAcrossTenants {
  return {
    async callOf(runId, hash) {
      const { rows } = await run('web_call_of', 'select * from parley.web_call_of($1::uuid, $2)', [runId, hash])
      return scopedRows<PresentedWebCall>(rows)[0] ?? null
    },
  }
}
