import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { z } from 'zod'
import type { ClientSettings } from '../environment.ts'

const demoFile = z.object({ api: z.string().nullable(), key: z.string().nullable() })

/** The API of `PARLEY_API` with the key of `PARLEY_KEY`; what is not set is taken from the `demo.json` of a running `npm start`. */
export async function clientOf({ home, api, key }: ClientSettings): Promise<ParleyClient> {
  const demo = api === null || key === null ? await readDemo(join(home, 'demo.json')) : null
  const baseUrl = api ?? demo?.api ?? null
  // The demo's key must be sent to the demo's API only.
  const ownKey = key ?? (api === null || api === demo?.api ? (demo?.key ?? null) : null)
  if (baseUrl === null)
    throw new Error(
      `no API to ask: set PARLEY_API, or start Parley (npm start), which writes ${join(home, 'demo.json')}`,
    )
  if (ownKey === null)
    throw new Error(`no key for ${baseUrl}: set PARLEY_KEY to an API key (parley_live_… or parley_test_…)`)
  return new ParleyClient({ baseUrl, key: ownKey })
}

async function readDemo(path: string): Promise<z.output<typeof demoFile> | null> {
  try {
    return demoFile.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return null
  }
}
