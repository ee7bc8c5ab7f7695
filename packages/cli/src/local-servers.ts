import { LOCAL_SERVERS, type VendorAccess } from '@parley/providers'

const TIMEOUT_MS = 2000

/** A line for each local server that the settings name: what it is used for, and whether anything answers there. */
export async function localServerLines(vendors: Readonly<Record<string, VendorAccess>>): Promise<string[]> {
  const lines = LOCAL_SERVERS.map(async ({ vendor, variable, what }) => {
    const { baseUrl = null, models = [] } = vendors[vendor] ?? {}
    if (baseUrl === null) return []
    const name = `${what.padEnd(15)}${vendor}/${models[0]} at ${baseUrl}`
    return [(await answers(baseUrl)) ? name : `${name}: no server answers there; start it, or unset ${variable}`]
  })
  return (await Promise.all(lines)).flat()
}

/** Any answer will do: local servers differ in their paths. */
async function answers(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
