import { systemRandom } from '@parley/kernel'
import { createOrganisation, createStaffKey, type Queries, setEnvironment, staffScope } from '@parley/store'

const CAPACITY = 20

/** Creates an organisation whose production environment admits 20 calls at once; the id of that environment. */
export async function createWorkspace(tx: Queries, name: string): Promise<string> {
  const { tenant_id } = await createOrganisation(tx, name)
  const scope = await staffScope(tx, tenant_id)
  await setEnvironment(tx, scope, { set: 'capacity', value: CAPACITY })
  await setEnvironment(tx, scope, { set: 'admission', value: true })
  return tenant_id
}

/** Creates an admin key that may place calls. */
export async function createWorkspaceKey(tx: Queries, tenantId: string): Promise<string> {
  const scope = await staffScope(tx, tenantId)
  const named = { name: 'npm start', role: 'admin', can_dial: true } as const
  return (await createStaffKey(tx, scope, named, systemRandom)).secret
}
