import { ParleyApiError, ParleyClient } from '@parley/client'
import { asStaff, listOrganisations } from '@parley/store'
import { readDemoFile, writeDemoFile } from './demo-file.ts'
import { createWorkspace, createWorkspaceKey } from './new-workspace.ts'

const NAME = 'Demo'

export interface DemoWorkspace {
  readonly client: ParleyClient
  readonly key: string
}

/**
 * The workspace "Demo" and an admin key for it. Both are created, as staff create them, if the database has no organisation
 * yet. Null if the database has organisations but no Demo: nothing is added to a platform in use.
 */
export async function demoWorkspace(home: string, ownerUrl: string, api: string): Promise<DemoWorkspace | null> {
  const known = await readDemoFile(home)
  if (known?.key != null && (await isAdmin(clientOf(api, known.key))))
    return { client: clientOf(api, known.key), key: known.key }
  const key = await asStaff(ownerUrl, async tx => {
    const organisations = await listOrganisations(tx)
    const demo = organisations.find(({ name }) => name === NAME)
    if (demo === undefined && organisations.length > 0) return null
    const production = demo?.environments.find(({ environment }) => environment === 'production')
    return createWorkspaceKey(tx, production?.tenant_id ?? (await createWorkspace(tx, NAME)))
  })
  if (key === null) return null
  const empty = { api, console: null, sip: null, agent_id: null, number: null, phone: null }
  await writeDemoFile(home, { ...empty, ...known, key })
  return { client: clientOf(api, key), key }
}

function clientOf(baseUrl: string, key: string): ParleyClient {
  return new ParleyClient({ baseUrl, key })
}

/** Whether the key may still do what seeding needs. */
async function isAdmin(client: ParleyClient): Promise<boolean> {
  try {
    await client.keys.list({ query: { limit: 1 } })
    return true
  } catch (error) {
    if (error instanceof ParleyApiError && (error.status === 401 || error.status === 403)) return false
    throw error
  }
}
